/* importers.c - the formats that can be read, and which one a file is in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "traces/importers.h"

#include "traces/accelsim/accelsim.h"
#include "traces/chakra/chakra.h"
#include "traces/io/input.h"
#include "traces/jsonl/trace.h"
#include "traces/kineto/kineto.h"
#include "traces/ncu/ncu.h"
#include "traces/nsys/nsys.h"
#include "traces/recorded/recorded.h"
#include "traces/rocpd/rocpd.h"
#include "traces/rocpd/rpd.h"
#include "traces/tasks/tasks.h"
#include "traces/xplane/xplane.h"

enum { HEAD_BYTES = 256 * 1024 };

/* Gridtide's own: to check a trace, or to rewrite it in the usual form. */
static const struct gt_importer gt_importer_gridtide = {
    .name = "gridtide",
    .help = "a Gridtide trace: JSON Lines",
    .sniff = gt_trace_sniff,
    .read = gt_trace_read,
};

/* clang-format off */
const struct gt_importer *const gt_importers[] = {
    &gt_importer_recorded,
    &gt_importer_kineto,
    &gt_importer_nsys,
    &gt_importer_rocpd,
    &gt_importer_rpd,
    &gt_importer_xplane,
    &gt_importer_ncu,
    &gt_importer_tasks,
    &gt_importer_chakra,
    &gt_importer_accelsim,
    &gt_importer_gridtide,
    NULL,
};
/* clang-format on */

/* "kineto, nsys, gridtide" */
static void list_names(char *text, size_t bytes)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; gt_importers[i] != NULL && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", i > 0 ? ", " : "", gt_importers[i]->name);
}

static const struct gt_importer *sniff_folder(const char *path, const char *names, struct gt_error *error)
{
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        if (gt_importers[i]->sniff_folder != NULL && gt_importers[i]->sniff_folder(path) > 0)
            return gt_importers[i];
    gt_error_set(error, "%s: a folder in no known format; formats are %s", path, names);
    return NULL;
}

static const struct gt_importer *find_by_ending(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; gt_importers[i] != NULL; i++) {
        const char *const *ending = gt_importers[i]->endings;

        for (; ending != NULL && *ending != NULL; ending++)
            if (length > strlen(*ending) && strcmp(path + length - strlen(*ending), *ending) == 0)
                return gt_importers[i];
    }
    return NULL;
}

static const struct gt_importer *sniff_file(struct gt_input *input, const char *path, const char *names,
                                            struct gt_error *error)
{
    const struct gt_importer *best = NULL;
    size_t bytes;
    const unsigned char *head = gt_input_head(input, HEAD_BYTES, &bytes);
    int surest = 0;

    for (size_t i = 0; gt_importers[i] != NULL; i++) {
        int sure = gt_importers[i]->sniff(head, bytes);

        if (sure > surest) {
            surest = sure;
            best = gt_importers[i];
        }
    }
    if (best == NULL && bytes == 0 && gt_input_read(input, &(char){ 0 }, 1, error) < 0)
        return NULL; /* broken from the start */
    if (best == NULL && bytes > 0)
        best = find_by_ending(path);
    if (best == NULL)
        gt_error_set(error, "%s: %s; formats are %s", strcmp(path, "-") == 0 ? "standard input" : path,
                     bytes == 0 ? "the file is empty" : "the format is unknown", names);
    return best;
}

static const struct gt_importer *named(const char *name, const char *names, struct gt_error *error)
{
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        if (strcmp(gt_importers[i]->name, name) == 0)
            return gt_importers[i];
    gt_error_set(error, "unknown format '%s'; formats are %s", name, names);
    return NULL;
}

const struct gt_importer *gt_importer_find(const char *name, const char *path, struct gt_import_options *options,
                                           struct gt_error *error)
{
    const struct gt_importer *found;
    struct stat info;
    char names[128];

    options->input = NULL;
    list_names(names, sizeof names);
    if (name != NULL) /* what cannot be opened its reader will tell */
        return named(name, names, error);
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return sniff_folder(path, names, error);
    options->input = gt_input_open(path, error);
    if (options->input == NULL)
        return NULL;
    found = sniff_file(options->input, path, names, error);
    if (found == NULL) {
        gt_input_close(options->input);
        options->input = NULL;
    }
    return found;
}
