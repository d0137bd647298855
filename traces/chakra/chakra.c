/* chakra.c - the importer: one rank's execution trace as a workload. */
#include "traces/chakra/chakra.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/workload/collective.h"
#include "traces/chakra/et_build.h"
#include "traces/import/warnings.h"
#include "traces/io/data_path.h"
#include "traces/io/device_file.h"

static int sniff_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int sure = 0;

    while (folder != NULL && sure == 0 && (entry = readdir(folder)) != NULL)
        sure = gt_ends(entry->d_name, strlen(entry->d_name), GT_CHAKRA_ENDING) ? 50 : 0;
    if (folder != NULL)
        closedir(folder);
    return sure;
}

/* PREFIX.RANK.et; GT_NONE: the name has no such number. */
static uint32_t rank_of_name(const char *path)
{
    size_t length = strlen(path), at;
    uint64_t rank = 0;

    if (!gt_ends(path, length, GT_CHAKRA_ENDING))
        return GT_NONE;
    length -= strlen(GT_CHAKRA_ENDING);
    for (at = length; at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9'; at--)
        ;
    if (at == 0 || at == length || length - at > 6 || path[at - 1] != '.')
        return GT_NONE;
    for (; at < length; at++)
        rank = 10 * rank + (uint64_t)(path[at] - '0');
    return (uint32_t)rank;
}

/* The device that the file names, where there is such a file; else an H200, whose name the trace has where times are its. */
static int load_device(const struct gt_et_file *file, struct gt_device *device, char **name, struct gt_error *error)
{
    struct gt_error unknown;

    if (file->device != NULL && strchr(file->device, '/') == NULL &&
        gt_device_load(file->device, device, &unknown) == 0) {
        *name = gt_strdup(file->device);
        return 0;
    }
    return gt_device_load(GT_DEVICE_FALLBACK, device, error);
}

static void warn(const struct gt_et_build *b)
{
    gt_import_warn(b->w, "node-times-estimated", b->times->estimated);
    gt_import_warn(b->w, "node-times-missing", b->times->empty);
    gt_import_warn(b->w, "node-streams-unknown", b->streams_assumed);
    gt_import_warn(b->w, "launch-shapes-unknown", b->shapes_assumed);
    gt_import_warn(b->w, "node-parents-missing", b->file->lost_parents);
}

/* Threads and streams of all that the file has, in the workload that has its names. */
static int build(struct gt_et_build *b, const char *path, struct gt_error *error)
{
    const struct gt_et_file *file = b->file;
    uint32_t *order = gt_et_order(file, b->times, error);
    int status = 0;

    if (order == NULL)
        return gt_error_prefix(error, "%.300s: ", path);
    if (gt_et_is_recorded(file))
        status = gt_et_build_recorded(b, error);
    else
        gt_et_build_stated(b, order);
    free(order);
    if (status != 0)
        return gt_error_prefix(error, "%.300s: ", path);
    if (b->w->gpu_count == 0)
        gt_workload_add_gpu(b->w);
    warn(b);
    if (gt_workload_check(b->w, error) != 0)
        return gt_error_prefix(error, "%.300s: ", path);
    return 0;
}

/* Each group's collectives in their order. */
static int number(struct gt_et_build *b, const char *path, struct gt_error *error)
{
    uint64_t *counts = gt_calloc(gt_name_count(b->w) + 1ull, sizeof *counts);
    uint32_t groups = 0;

    for (uint32_t i = 0; i < b->notes.count; i++) {
        groups += counts[b->notes.notes[i].group] == 0;
        b->notes.notes[i].sequence = counts[b->notes.notes[i].group]++;
    }
    free(counts);
    if (groups <= GT_MOST_GROUPS)
        return 0;
    return gt_error_set(error, "%.300s: %" PRIu32 " process groups (pg_name); %d are possible", path, groups,
                        GT_MOST_GROUPS);
}

/* Without the others' files collectives stay kernels of the time that they state. */
static void give_notes(struct gt_et_build *b, const char *path, struct gt_collective_notes *asked)
{
    struct gt_collective_notes *notes = &b->notes;

    notes->rank = b->file->rank != GT_NONE ? b->file->rank : rank_of_name(path);
    if (asked != NULL) {
        *asked = *notes;
        *notes = (struct gt_collective_notes){ .count = 0 };
        return;
    }
    for (uint32_t i = 0; i < notes->count; i++)
        if (b->w->ops[notes->notes[i].op].duration_ps == GT_TIME_NONE)
            b->w->ops[notes->notes[i].op].duration_ps = notes->notes[i].alone_ps;
}

static int make(struct gt_et_file *file, const char *path, const struct gt_import_options *options,
                struct gt_error *error)
{
    struct gt_workload *w = file->workload;
    struct gt_device device;
    struct gt_et_times times;
    struct gt_et_build b = { .w = w, .file = file, .device = &device, .times = &times, .process = 1 };
    int status;

    if (file->name != NULL) {
        free(w->name);
        w->name = gt_strdup(file->name);
    }
    if (load_device(file, &device, &w->device, error) != 0)
        return gt_error_prefix(error, "%.300s: ", path);
    times = gt_et_times_find(file, &device);
    if (w->device == NULL && times.estimated > 0)
        w->device = gt_strdup(GT_DEVICE_FALLBACK);
    status = build(&b, path, error);
    if (status == 0)
        status = number(&b, path, error);
    if (status == 0)
        give_notes(&b, path, options != NULL ? options->collectives : NULL);
    gt_collective_notes_free(&b.notes);
    gt_et_build_free(&b);
    gt_et_times_free(&times);
    return status;
}

static struct gt_workload *read_chakra(const char *path, const struct gt_import_options *options,
                                       struct gt_error *error)
{
    struct gt_et_file file = { .workload = gt_workload_new() };
    struct gt_workload *w = file.workload;
    int status;

    w->source = gt_strdup("chakra");
    w->path = gt_strdup(path);
    w->name = gt_path_stem(path);
    status = gt_et_file_read(&file, path, options, error);
    if (status == 0)
        status = make(&file, path, options, error);
    gt_et_file_free(&file);
    if (status == 0)
        return w;
    gt_workload_free(w);
    return NULL;
}

static const char *const endings[] = { GT_CHAKRA_ENDING, NULL };

const struct gt_importer gt_importer_chakra = {
    .name = "chakra",
    .help = "execution traces of MLCommons Chakra: .et files, one a rank, or their folder",
    .sniff = gt_et_file_sniff,
    .sniff_folder = sniff_folder,
    .endings = endings,
    .files_in_folder = GT_CHAKRA_ENDING,
    .read = read_chakra,
};
