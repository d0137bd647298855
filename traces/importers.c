/* importers.c - the formats that can be read, and which one a file is in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "traces/importers.h"

#include "traces/io/input.h"
#include "traces/jsonl/trace.h"
#include "traces/kineto/kineto.h"
#include "traces/ncu/ncu.h"
#include "traces/nsys/nsys.h"

enum { HEAD_BYTES = 256 * 1024 };

/* Gridtide's own: to check a trace, or to rewrite it in the usual form. */
static const struct gt_importer gt_importer_gridtide = {
    .name = "gridtide",
    .help = "a Gridtide trace: JSON Lines",
    .sniff = gt_trace_sniff,
    .read = gt_trace_read,
};

const struct gt_importer *const gt_importers[] = {
    &gt_importer_kineto,
    &gt_importer_nsys,
    &gt_importer_ncu,
    &gt_importer_gridtide,
    NULL,
};

/* "kineto, nsys, gridtide" */
static void list_names(char *text, size_t bytes)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; gt_importers[i] != NULL && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", i > 0 ? ", " : "",
                                   gt_importers[i]->name);
}

/* The file's first bytes; their number, or -1. */
static ssize_t read_head(const char *path, unsigned char *head, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    size_t length = 0;
    ssize_t got = 1;

    if (input == NULL)
        return -1;
    while (length < HEAD_BYTES && got > 0) {
        got = gt_input_read(input, head + length, HEAD_BYTES - length, error);
        length += got > 0 ? (size_t)got : 0;
    }
    gt_input_close(input);
    /* What can be read of a broken file may still tell; its reader will say what is wrong. */
    return got < 0 && length == 0 ? -1 : (ssize_t)length;
}

static const struct gt_importer *sniff_folder(const char *path, const char *names, struct gt_error *error)
{
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        if (gt_importers[i]->sniff_folder != NULL && gt_importers[i]->sniff_folder(path) > 0)
            return gt_importers[i];
    gt_error_set(error, "%s: a folder, and in no format that is known; formats are %s", path, names);
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

static const struct gt_importer *sniff(const char *path, struct gt_error *error)
{
    const struct gt_importer *best = NULL;
    unsigned char *head;
    struct stat info;
    char names[128];
    ssize_t length;
    int surest = 0;

    list_names(names, sizeof names);
    if (strcmp(path, "-") == 0) {
        gt_error_set(error, "standard input: its format must be named: %s", names);
        return NULL;
    }
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return sniff_folder(path, names, error);
    head = gt_realloc(NULL, HEAD_BYTES, 1);
    length = read_head(path, head, error);
    for (size_t i = 0; gt_importers[i] != NULL && length >= 0; i++) {
        int sure = gt_importers[i]->sniff(head, (size_t)length);

        if (sure > surest) {
            surest = sure;
            best = gt_importers[i];
        }
    }
    free(head);
    if (best == NULL && length > 0)
        best = find_by_ending(path);
    if (best == NULL && length >= 0)
        gt_error_set(error, "%s: %s; formats are %s", path,
                     length == 0 ? "the file is empty" : "in no format that is known", names);
    return best;
}

const struct gt_importer *gt_importer_find(const char *name, const char *path, struct gt_error *error)
{
    char names[128];

    if (name == NULL)
        return sniff(path, error);
    for (size_t i = 0; gt_importers[i] != NULL; i++)
        if (strcmp(gt_importers[i]->name, name) == 0)
            return gt_importers[i];
    list_names(names, sizeof names);
    gt_error_set(error, "there is no format '%s'; formats are %s", name, names);
    return NULL;
}
