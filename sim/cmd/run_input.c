#include "sim/cmd/run_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/progress.h"
#include "traces/devicefile.h"
#include "traces/input.h"
#include "traces/trace.h"

static const char fallback_device[] = "h200";

enum { HEAD_BYTES = 65536 };

/* Does the file begin as a gridtide trace? Returns 1, 0, or -1 where it cannot be read. */
static int is_gridtide_trace(const char *path, struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    unsigned char *head;
    ssize_t part = 1;
    size_t bytes = 0;
    int sure;

    if (input == NULL)
        return -1;
    head = gt_realloc(NULL, HEAD_BYTES, 1);
    while (part > 0 && bytes < HEAD_BYTES) {
        part = gt_input_read(input, head + bytes, HEAD_BYTES - bytes, error);
        bytes += part > 0 ? (size_t)part : 0;
    }
    sure = gt_trace_sniff(head, bytes);
    free(head);
    gt_input_close(input);
    return part < 0 && sure == 0 ? -1 : sure > 0;
}

static void print_warnings(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->warning_count; i++)
        fprintf(stderr, "gridtide: warning: %s (%" PRIu64 " times)\n", workload->warnings[i].text,
                workload->warnings[i].count);
}

static struct gt_workload *import(const char *path, const struct gt_import_options *options, bool quiet,
                                  struct gt_error *error)
{
    const struct gt_importer *importer = gt_importer_find(NULL, path, error);
    struct gt_workload *workload = importer != NULL ? importer->read(path, options, error) : NULL;

    if (workload != NULL && !quiet)
        print_warnings(workload);
    return workload;
}

struct gt_workload *gt_run_read(const char *path, bool quiet, struct gt_error *error)
{
    struct gt_progress progress;
    struct gt_import_options options = { .progress = gt_progress_update, .progress_user = &progress };
    struct gt_workload *workload = NULL;
    /* Standard input can be read only once, so it is taken for a gridtide trace. */
    int native = strcmp(path, "-") == 0 ? 1 : is_gridtide_trace(path, error);

    if (native < 0)
        return NULL;
    gt_progress_begin(&progress, "reading", quiet);
    workload = native ? gt_trace_read(path, &options, error) : import(path, &options, quiet, error);
    gt_progress_end(&progress);
    return workload;
}

static int build_from_settings(const struct gt_workload *workload, struct gt_device *device,
                               struct gt_error *error)
{
    gt_device_init(device);
    snprintf(device->name, sizeof device->name, "%s",
             workload->device != NULL ? workload->device : "as traced");
    for (uint32_t i = 0; i < workload->setting_count; i++)
        if (gt_device_set(device, workload->settings[i].key, workload->settings[i].value, error) != 0)
            return gt_error_prefix(error, "the trace's device settings: ");
    return 0;
}

int gt_run_device(const struct gt_workload *workload, const char *name, bool quiet,
                  struct gt_device *device, struct gt_error *error)
{
    if (name != NULL)
        return gt_device_load(name, device, error);
    if (workload->device != NULL) {
        if (gt_device_load(workload->device, device, error) == 0)
            return 0;
        if (workload->setting_count == 0)
            return gt_error_prefix(error, "the trace asks for device '%s' (--device chooses another): ",
                                   workload->device);
    }
    if (workload->setting_count > 0) {
        if (!quiet)
            fputs("gridtide: no device file for the trace's GPU: built from the trace's own device block, "
                  "the rest at defaults (--device chooses another)\n", stderr);
        return build_from_settings(workload, device, error);
    }
    if (!quiet)
        fprintf(stderr, "gridtide: the trace names no device: taking %s (--device chooses another)\n",
                fallback_device);
    return gt_device_load(fallback_device, device, error);
}

char *gt_run_base_name(const char *path)
{
    static const char *const endings[] = { ".gz", ".zst", ".jsonl", ".json", ".sqlite", ".db" };
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash != NULL ? slash + 1 : path);

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);

        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = '\0';
    }
    if (name[0] == '\0' || strcmp(path, "-") == 0) {
        free(name);
        return strdup("trace");
    }
    return name;
}
