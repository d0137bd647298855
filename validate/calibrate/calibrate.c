/* calibrate.c - the table of groups, and one calibration from beginning to end. */
#include "validate/calibrate/calibrate.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "validate/calibrate/groups.h"
#include "validate/calibrate/process.h"

enum { PROCESSES = 7 };

/* The first is always measured: what the others find is of no use without it. */
const struct gt_calibration_group gt_calibration_groups[] = {
    { "limits", "properties of the device; always measured", gt_calibrate_limits, false },
    { "connections", "streams with their own connection (hardware queue)", gt_calibrate_connections, true },
    { "sharing", "processes that share the GPU: time slices, MPS percentages, green contexts", gt_calibrate_sharing,
      true },
    { "clock", "SM clock under load, resolution of the global timer", gt_calibrate_clock, false },
    { "structure", "placement order and GPCs", gt_calibrate_structure, false },
    { "dispatch", "block placement, refilling of slots, blocks leaving an SM", gt_calibrate_dispatch, false },
    { "policies", "choice of the next block and its SM; priorities", gt_calibrate_policies, false },
    { "queues", "concurrent grids, pending launches", gt_calibrate_queues, false },
    { "calls", "CPU time of calls", gt_calibrate_calls, false },
    { "launches", "CPU time of launches, also from several threads at the same time", gt_calibrate_launches, false },
    { "gaps", "launch gaps between kernels: within a stream, through events", gt_calibrate_gaps, false },
    { "graphs", "graph launches, gaps between nodes", gt_calibrate_graphs, false },
    { "children", "device-side launches", gt_calibrate_children, false },
    { "between", "gaps between kernels and copies, and between engines", gt_calibrate_between, false },
    { "copies", "latency, bandwidth and start of copies and memsets", gt_calibrate_copies, false },
    { "pageable", "copies of pageable memory: inline, through staging buffers", gt_calibrate_pageable, false },
    { "link", "host link in both directions, copy engines, copies within the device", gt_calibrate_link, false },
    { "links", "between two GPUs: gaps, both directions, copies without peer access", gt_calibrate_links, false },
    { "collectives", "NCCL collectives on all GPUs: times by kind, protocol and size", gt_calibrate_collectives,
      false },
    { "turns", "queues of a copy engine, gaps between copies", gt_calibrate_turns, false },
    { "latency", "latency between host and GPU, both ways", gt_calibrate_latency, false },
    { "grid-sync", "grid sync, cooperative and programmatic launches, polling", gt_calibrate_grid_sync, false },
    { "pipes", "pipes of an SM: issue intervals and latencies", gt_calibrate_pipes, false },
    { "waits", "barriers, fences, branches, special registers, the clock", gt_calibrate_waits, false },
    { "code", "code and constants that are in no cache", gt_calibrate_code, false },
    { "memory", "latency of L1, L2 and DRAM", gt_calibrate_memory, false },
    { "rates", "bandwidth of L2 and DRAM, atomics", gt_calibrate_rates, false },
    { "hopper", "bulk copies and warpgroup matrix instructions", gt_calibrate_hopper, false },
    { "families", "kernels that move bytes, matrix products (cuBLAS)", gt_calibrate_families, false },
    { "tasks", "blocks that run task graphs: queue, counters, stealing", gt_calibrate_tasks, false },
};
const size_t gt_calibration_group_count = sizeof(gt_calibration_groups) / sizeof(gt_calibration_groups[0]);

/* The driver's own version; CUDA tells only which runtime it supports. */
static void driver_version(char *text, size_t bytes)
{
    int (*init)(void), (*version)(char *, unsigned), cuda = 0;
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml != NULL) {
        *(void **)&init = dlsym(nvml, "nvmlInit_v2");
        *(void **)&version = dlsym(nvml, "nvmlSystemGetDriverVersion");
        bool known = init != NULL && version != NULL && init() == 0 && version(text, (unsigned)bytes) == 0;
        dlclose(nvml);
        if (known)
            return;
    }
    cudaDriverGetVersion(&cuda);
    snprintf(text, bytes, "of CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

static void describe(struct gt_calibration *calibration)
{
    char driver[32], day[16];
    time_t now = time(NULL);
    struct tm date;
    int runtime = 0;
    driver_version(driver, sizeof(driver));
    cudaRuntimeGetVersion(&runtime);
    strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&now, &date));
    snprintf(calibration->when, sizeof(calibration->when), "%s, driver %s", day, driver);
    snprintf(calibration->system, sizeof(calibration->system), "CUDA %d.%d", runtime / 1000, runtime % 1000 / 10);
}

/* The group of that name, or that had it before. */
static bool is_named(const struct gt_calibration_group *group, const char *name)
{
    return strcmp(group->name, strcmp(name, "meeting") == 0 ? "grid-sync" : name) == 0;
}

static int find_group(const char *name, struct gt_error *error)
{
    char names[512] = "";
    for (size_t i = 0; i < gt_calibration_group_count; i++) {
        if (is_named(&gt_calibration_groups[i], name))
            return 0;
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i > 0 ? ", " : "",
                 gt_calibration_groups[i].name);
    }
    return gt_error_set(error, "there is no group '%s'; groups are %s", name, names);
}

static bool wanted(const struct gt_calibration_options *options, size_t group)
{
    return options->only == NULL || group == 0 || is_named(&gt_calibration_groups[group], options->only);
}

/* What one process has to do. */
struct task {
    const struct gt_calibration_options *options;
    uint32_t process; /* from 0 */
    FILE *out;        /* to the process that asked */
};

/* The wanted groups of those that go before CUDA is used, which one process measures for all; or of
 * the others. */
static int measure_groups(struct gt_bench *bench, const struct task *task, bool before_cuda)
{
    for (size_t i = 0; i < gt_calibration_group_count; i++) {
        const struct gt_calibration_group *group = &gt_calibration_groups[i];
        if (group->before_cuda != before_cuda || !wanted(task->options, i) || (before_cuda && task->process > 0))
            continue;
        gt_calibration_send_progress(task->out, group->name, i);
        if (group->measure(bench) != 0) /* what happens before CUDA is in use says so itself */
            return before_cuda ? -1 : gt_error_prefix(bench->error, "calibrating %s: ", group->name);
    }
    return 0;
}

static int measure(struct gt_calibration *calibration, const struct task *task, struct gt_error *error)
{
    struct gt_bench bench = {
        .found = calibration, .error = error, .process = task->process, .no_tables = task->options->no_tables
    };
    gt_calibration_init(calibration);
    int status = measure_groups(&bench, task, true);
    if (status == 0)
        status = gt_bench_open(&bench);
    if (status == 0)
        status = measure_groups(&bench, task, false);
    if (status == 0)
        describe(calibration);
    gt_bench_close(&bench);
    return status;
}

_Noreturn static void measure_in_child(struct task *task, int pipe)
{
    struct gt_calibration calibration;
    struct gt_error error = { "" };
    task->out = fdopen(pipe, "w");
    int status = task->out != NULL ? measure(&calibration, task, &error) : -1;
    if (task->out != NULL)
        gt_calibration_send(task->out, &calibration, status == 0 ? NULL : &error);
    _exit(status == 0 ? 0 : 1);
}

/* One process, from its beginning to its end. */
static int measure_once(struct gt_calibration *calibration, const struct gt_calibration_options *options,
                        size_t number, struct gt_error *error)
{
    struct task task = { options, (uint32_t)number, NULL };
    int ends[2];
    if (pipe(ends) != 0)
        return gt_error_set(error, "no pipe for another process: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        measure_in_child(&task, ends[1]);
    }
    close(ends[1]);
    FILE *in = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (in == NULL) {
        close(ends[0]);
        return gt_error_set(error, "no other process: %s", strerror(errno));
    }
    int status = gt_calibration_receive(in, calibration, options, number * gt_calibration_group_count,
                                        PROCESSES * gt_calibration_group_count, error);
    fclose(in);
    waitpid(child, NULL, 0);
    return status;
}

int gt_calibrate(struct gt_calibration *calibration, const struct gt_calibration_options *options,
                 struct gt_error *error)
{
    struct gt_calibration all[PROCESSES];
    int status = options->only != NULL ? find_group(options->only, error) : 0;
    for (size_t i = 0; i < PROCESSES; i++)
        gt_calibration_init(&all[i]);
    for (size_t i = 0; status == 0 && i < PROCESSES; i++)
        status = measure_once(&all[i], options, i, error);
    gt_calibration_combine(all, PROCESSES, calibration);
    for (size_t i = 0; i < PROCESSES; i++)
        gt_calibration_free(&all[i]);
    return status;
}
