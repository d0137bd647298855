/* recorded.c - one trace out of the files of all processes. */
#include "traces/recorded/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/array.h"
#include "traces/io/device_file.h"
#include "traces/recorded/internal.h"

static bool has_ending(const char *name)
{
    size_t length = strlen(name), ending = strlen(GT_RECORDED_ENDING);

    return length > ending && strcmp(name + length - ending, GT_RECORDED_ENDING) == 0;
}

static int is_ours(const struct dirent *entry)
{
    return has_ending(entry->d_name);
}

static int sniff(const unsigned char *head, size_t bytes)
{
    return bytes >= 8 && memcmp(head, GT_RECORDED_MAGIC, 8) == 0 ? 100 : 0;
}

static int sniff_folder(const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_ours, NULL);

    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return count > 0 ? 100 : 0;
}

static int load(struct gt_recorded *recorded, const char *path, struct gt_input *opened, struct gt_error *error)
{
    struct gt_recorded_process *process;

    gt_array_grow(recorded->processes, recorded->process_count, recorded->process_room);
    process = &recorded->processes[recorded->process_count];
    *process = (struct gt_recorded_process){ .key = recorded->process_count };
    recorded->process_count++;
    return gt_recorded_load(process, path, opened, error);
}

static int load_folder(struct gt_recorded *recorded, const char *path, struct gt_error *error)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_ours, alphasort), status = 0;

    if (count < 0)
        return gt_error_set(error, "%s: %s", path, strerror(errno));
    recorded->folder = path;
    if (count == 0)
        status = gt_error_set(error, "%s: this folder contains no file of gridtide record (*%s)", path,
                              GT_RECORDED_ENDING);
    for (int i = 0; i < count; i++) {
        char *file = gt_format("%s/%s", path, entries[i]->d_name);

        if (status == 0)
            status = load(recorded, file, NULL, error);
        free(file);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* What was said while recording: a process that could not be recorded, records that found no room. */
static void tell_problems(struct gt_recorded *recorded, const struct gt_recorded_process *process)
{
    struct gt_workload *workload = recorded->import.workload;

    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_DROPPED); i++) {
        const struct gt_record_dropped *dropped = GT_RECORDS(process, GT_RECORDED_DROPPED)[i];

        gt_import_warn(workload, "records-dropped", dropped->count);
    }
    for (uint32_t i = 0; i < GT_RECORD_COUNT(process, GT_RECORDED_PROBLEM); i++) {
        const struct gt_record_problem *problem = GT_RECORDS(process, GT_RECORDED_PROBLEM)[i];
        size_t name = strnlen(process->header->program, sizeof process->header->program);
        char *text = gt_format("%.*s (%u): %.*s", (int)name, process->header->program, process->header->pid,
                               problem->length < 1000 ? (int)problem->length : 1000, problem->text);

        gt_import_warn_text(workload, "recorder-problems", 1, text);
        free(text);
    }
    gt_import_warn(workload, "recording-cut-off",
                   GT_RECORD_COUNT(process, GT_RECORDED_END) == 0 && GT_RECORD_COUNT(process, GT_RECORDED_CALL) > 0);
}

static void add_process(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    if (process->header == NULL)
        return;
    gt_recorded_sort_calls(process);
    gt_recorded_sort_graphs(process);
    gt_recorded_sort_overheads(process);
    gt_recorded_describe(recorded, process);
    gt_recorded_find_memory(recorded, process);
    gt_recorded_find_bodies(recorded, process);
    gt_recorded_find_loads(process);
    gt_recorded_add_calls(recorded, process);
    gt_recorded_add_ops(recorded, process);
    gt_recorded_add_ranges(recorded, process);
    tell_problems(recorded, process);
}

/* What has to know the GPU. */
static void complete_process(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    if (process->header == NULL)
        return;
    gt_recorded_add_host_nodes(recorded, process);
    gt_recorded_add_edges(recorded, process);
    gt_recorded_add_host_functions(recorded, process);
}

/* How long the driver's thread takes to pick a host function up, on the GPU that was recorded; 0: not known. */
static uint64_t pick_up_ns(const struct gt_workload *workload)
{
    struct gt_device device;
    struct gt_error error;

    if (workload->device == NULL || gt_device_load(workload->device, &device, &error) != 0)
        return 0;
    return device.host_function_ps / 1000;
}

static struct gt_workload *make(struct gt_recorded *recorded, struct gt_error *error)
{
    gt_import_begin(&recorded->import, "record");
    for (uint32_t i = 0; i < recorded->process_count; i++)
        add_process(recorded, &recorded->processes[i]);
    gt_import_warn(recorded->import.workload, "no-gpu-work", recorded->import.op_count == 0);
    gt_recorded_describe_device(recorded);
    recorded->pick_up_ns = pick_up_ns(recorded->import.workload);
    for (uint32_t i = 0; i < recorded->process_count; i++)
        complete_process(recorded, &recorded->processes[i]);
    gt_recorded_tell_cost(recorded);
    return gt_import_finish(&recorded->import, recorded->path, error);
}

static struct gt_workload *read_recorded(const char *path, const struct gt_import_options *options,
                                         struct gt_error *error)
{
    struct gt_recorded recorded = { .path = path };
    struct gt_workload *workload = NULL;
    struct stat info;
    bool folder = strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);

    if ((folder ? load_folder(&recorded, path, error) : load(&recorded, path, options->input, error)) == 0)
        workload = make(&recorded, error);
    gt_import_free(&recorded.import);
    for (uint32_t i = 0; i < recorded.process_count; i++)
        gt_recorded_unload(&recorded.processes[i]);
    free(recorded.processes);
    free(recorded.gpus);
    free(recorded.shared);
    return workload;
}

const struct gt_importer gt_importer_recorded = {
    .name = "record",
    .help = "files of gridtide record: a folder, or the file of one process",
    .sniff = sniff,
    .sniff_folder = sniff_folder,
    .read = read_recorded,
};
