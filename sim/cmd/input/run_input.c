#include "sim/cmd/input/run_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/cmd/input/recordings.h"
#include "sim/task_programs.h"
#include "traces/import/warnings.h"
#include "traces/io/device_file.h"
#include "traces/jsonl/trace.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"
#include "traces/tasks/costs.h"

static const char trace_format[] = "gridtide";

static void print_warning(const struct gt_warning *warning)
{
    char *kind = gt_clean_name(warning->kind), *text = gt_clean_name(warning->text);

    fprintf(stderr, "gridtide: warning: %s: %s (%" PRIu64 " times)\n", kind, text, warning->count);
    free(kind);
    free(text);
}

void gt_print_warnings(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->warning_count; i++)
        print_warning(&workload->warnings[i]);
}

static const struct gt_warning *warning_of(const struct gt_workload *workload, const char *kind)
{
    for (uint32_t i = 0; i < workload->warning_count; i++)
        if (strcmp(workload->warnings[i].kind, kind) == 0)
            return &workload->warnings[i];
    return NULL;
}

static void print_warnings_of(const struct gt_workload *workload, const char *kind)
{
    const struct gt_warning *warning = warning_of(workload, kind);

    if (warning != NULL)
        print_warning(warning);
}

struct gt_workload *gt_run_read(const char *path, bool quiet, struct gt_error *error)
{
    const struct gt_recordings recordings = { .paths = &path, .count = 1, .quiet = quiet };
    const struct gt_importer *importer;
    struct gt_workload *workload = gt_recordings_read(&recordings, &importer, error);

    if (workload == NULL || quiet)
        return workload;
    if (strcmp(importer->name, trace_format) != 0)
        gt_print_warnings(workload);
    else
        print_warnings_of(workload, GT_WARNING_MISSPELT); /* the others were told when it was imported */
    return workload;
}

struct gt_workload *gt_run_read_work(const char *path, bool quiet, struct gt_error *error)
{
    struct gt_workload *workload = gt_run_read(path, quiet, error);

    if (workload != NULL && workload->call_count == 0 && workload->range_count > 0) {
        gt_error_set(
            error,
            "%s: the trace has ranges of the host alone, no call and no operation: there is nothing to simulate; "
            "record a program that uses a GPU",
            path);
        gt_workload_free(workload);
        return NULL;
    }
    return workload;
}

static const char *file_of(const struct gt_workload *workload)
{
    return workload->path != NULL ? workload->path : "standard input";
}

/* Those whose keys begin with `part` ("": all). */
static int apply_settings(const struct gt_workload *workload, const char *part, struct gt_device *device,
                          struct gt_error *error)
{
    for (uint32_t i = 0; i < workload->setting_count; i++)
        if (strncmp(workload->settings[i].key, part, strlen(part)) == 0 &&
            gt_device_set(device, workload->settings[i].key, workload->settings[i].value, error) != 0)
            return gt_error_prefix(error, "%.300s: device settings of the trace: ", file_of(workload));
    return 0;
}

static int build_from_settings(const struct gt_workload *workload, struct gt_device *device, struct gt_error *error)
{
    gt_device_init(device);
    snprintf(device->name, sizeof device->name, "%s", workload->device != NULL ? workload->device : "as traced");
    return apply_settings(workload, "", device, error);
}

/* Settings that somebody typed are meant to hold; those that an importer noted only describe a GPU
 * of which the device file knows more, but for how the program had it scheduled. */
static bool typed(const struct gt_workload *workload)
{
    return workload->source == NULL || strcmp(workload->source, trace_format) == 0;
}

int gt_run_device(const struct gt_workload *workload, const char *name, bool quiet, struct gt_device *device,
                  struct gt_error *error)
{
    if (name != NULL)
        return gt_device_load(name, device, error);
    if (workload->device != NULL) {
        if (gt_device_load(workload->device, device, error) == 0)
            return apply_settings(workload, typed(workload) ? "" : "scheduling.", device, error);
        if (workload->setting_count == 0)
            return gt_error_prefix(error, "%.300s: the trace names device '%s' (--device selects another): ",
                                   file_of(workload), workload->device);
    }
    if (workload->setting_count > 0) {
        if (!quiet && !gt_run_gpu_modelled(workload))
            fputs("gridtide: no model of the trace's GPU: recorded durations are replayed; what depends on its "
                  "caches, links and launch costs is unknown\n",
                  stderr);
        else if (!quiet)
            fputs("gridtide: no device file for the trace's GPU: using the trace's device block and defaults for "
                  "the rest (--device selects another)\n",
                  stderr);
        return build_from_settings(workload, device, error);
    }
    if (!quiet)
        fprintf(stderr, "gridtide: the trace names no device: using %s (--device selects another)\n",
                GT_DEVICE_FALLBACK);
    return gt_device_load(GT_DEVICE_FALLBACK, device, error);
}

bool gt_run_gpu_modelled(const struct gt_workload *workload)
{
    return warning_of(workload, GT_WARNING_UNMODELLED) == NULL;
}

void gt_run_warn_of_priorities(struct gt_workload *workload, const struct gt_device *device, bool quiet)
{
    static const char kind[] = "priorities-out-of-range";
    uint64_t beyond = 0;

    for (uint32_t i = 0; i < workload->stream_count; i++)
        beyond += workload->streams[i].priority > 0 || workload->streams[i].priority < device->priority_high;
    gt_import_warn(workload, kind, beyond);
    if (!quiet)
        print_warnings_of(workload, kind);
}

const struct gt_warning *gt_run_warn_of_found(struct gt_workload *workload, const char *kind, uint64_t count,
                                              bool quiet)
{
    if (count == 0 || warning_of(workload, kind) != NULL) /* another run has told it */
        return NULL;
    gt_import_warn(workload, kind, count);
    if (!quiet)
        print_warnings_of(workload, kind);
    return warning_of(workload, kind);
}

int gt_run_traced_device(const struct gt_workload *workload, struct gt_device *device, struct gt_error *error)
{
    struct gt_error unknown;

    if (workload->device == NULL && workload->setting_count == 0)
        return 0;
    if (workload->device != NULL && workload->setting_count == 0 &&
        gt_device_load(workload->device, device, &unknown) != 0)
        return 0;
    return gt_run_device(workload, NULL, true, device, error);
}

enum { WARNINGS = 10, NAME_COLUMNS = 100 };

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

struct gt_kernel_model *gt_run_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                       const struct gt_device *profiled, bool full, struct gt_progress *progress,
                                       double *wall_us, struct gt_error *error)
{
    const struct gt_probe probe = { .user = progress, .progress = gt_progress_probe };
    double start_us = now_us();
    struct gt_kernel_model *modelled = gt_model_kernels(workload, device, profiled, full, &probe, error);

    *wall_us = now_us() - start_us;
    return modelled;
}

void gt_run_kernels_warn(const struct gt_workload *workload, const struct gt_kernel_model *modelled)
{
    uint32_t failures = 0;

    for (uint32_t i = 0; i < modelled->count; i++) {
        const struct gt_kernel_model_launch *launch = &modelled->launches[i];
        char *name;

        if (launch->failure == NULL || failures++ >= WARNINGS)
            continue;
        name = gt_short_name(gt_name_text(workload, workload->kernels[workload->ops[launch->op].kernel].name),
                             NAME_COLUMNS);
        fprintf(stderr, "gridtide: warning: no cycles for kernel '%s': %s\n", name, launch->failure);
        free(name);
    }
    if (failures > WARNINGS)
        fprintf(stderr, "gridtide: warning: no cycles for %u more kernels\n", failures - WARNINGS);
}

static void tell(const struct gt_task_cost_report *report, const char *path, const char *name)
{
    char *shown = gt_clean_name(name);

    fprintf(stderr, "gridtide: %.200s: %" PRIu64 " tasks take their time from %.200s", shown, report->priced, path);
    if (report->without > 0)
        fprintf(stderr,
                ", %" PRIu64 " have a kind that the table lacks: their bytes and operations give their "
                "time",
                report->without);
    if (report->had > 0)
        fprintf(stderr, ", %" PRIu64 " state their own time", report->had);
    fputc('\n', stderr);
    if (report->unused != NULL)
        fprintf(stderr, "gridtide: %.200s: no task has the kind %.80s of %.200s\n", shown, report->unused, path);
    free(shown);
}

/* What the recording says of its workers: bubbles are the time between the first task's start and the last one's end, on all
 * workers, that no task took. */
static void tell_recorded(const struct gt_task_slices *recorded, const struct gt_task_cost_report *report)
{
    const char *how = report->same == report->priced ? "each its own" : "drawn by kind";
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    double busy_ns = 0, all_ns;

    for (uint32_t next = 0; next < recorded->count;) {
        const struct gt_worker_time time = gt_task_slices_worker(recorded, &next);

        first_ns = time.start_ns < first_ns ? time.start_ns : first_ns;
        last_ns = time.end_ns > last_ns ? time.end_ns : last_ns;
        busy_ns += (double)time.busy_ns;
    }
    all_ns = (double)(last_ns - first_ns) * recorded->workers;
    fprintf(stderr,
            "gridtide: times are those of %" PRIu32
            " recorded tasks, %s, with the contention that they had; recorded: %" PRIu32
            " workers, %.3f us, %.1f%% of it bubbles\n",
            recorded->count, how, recorded->workers, (double)(last_ns - first_ns) / 1000,
            all_ns > 0 ? 100 * (1 - busy_ns / all_ns) : 0);
    if (report->between_ps != GT_TIME_NONE)
        fprintf(stderr, "gridtide: between two tasks of a worker pass %.3f us, as recorded\n",
                (double)report->between_ps / 1e6);
    if (recorded->clock_mhz > 0)
        fprintf(stderr,
                "gridtide: the recording is in cycles: they are taken to be of the device's %" PRIu32 " MHz\n",
                recorded->clock_mhz);
    if (recorded->open > 0)
        fprintf(stderr, "gridtide: %" PRIu64 " recorded tasks have no end: they are left out\n", recorded->open);
}

static int price_by_table(const char *path, struct gt_workload *workload, const struct gt_device *device,
                          const char *name, bool quiet, struct gt_error *error)
{
    struct gt_task_cost_report report;
    struct gt_task_costs *costs;

    costs = gt_task_costs_read(path, device->clock_mhz, error);
    if (costs == NULL)
        return gt_error_prefix(error, "--task-costs: ");
    gt_task_costs_attach(costs, workload, &report);
    if (!quiet)
        tell(&report, path, name);
    if (!quiet && gt_task_costs_recorded(costs) != NULL && report.priced > 0)
        tell_recorded(gt_task_costs_recorded(costs), &report);
    gt_task_costs_free(costs);
    if (report.priced > 0 || report.had + report.without == 0)
        return 0;
    return gt_error_set(error, "--task-costs: %.300s gives a time to none of the %" PRIu64 " tasks: %s", path,
                        report.had + report.without,
                        report.without > 0 ? "it has none of their kinds" : "they state their own times");
}

int gt_price_tasks(const char *path, struct gt_workload *workload, const struct gt_device *device, const char *name,
                   bool quiet, struct gt_error *error)
{
    char *shown;
    int kinds;

    if (path != NULL && price_by_table(path, workload, device, name, quiet, error) != 0)
        return -1;
    kinds = gt_time_task_programs(workload, device, error);
    if (kinds < 0)
        return -1;
    if (kinds > 0 && !quiet) {
        shown = gt_clean_name(name);
        fprintf(stderr,
                "gridtide: %.200s: tasks of %d kinds take the time of one block of their program, alone on its SM "
                "while all SMs run such blocks\n",
                shown, kinds);
        free(shown);
    }
    return 0;
}
