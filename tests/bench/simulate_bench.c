/* How fast the simulator alone is: workloads made in memory, no file, no store.
 * Prints one line a case: operations, blocks, seconds, rates, bytes of memory an operation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/simulate.h"

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Launches in turn on `streams` streams from one thread, a synchronisation of the device after each `every` of them.
 * Kernels of 5 us; those with clusters (0: none) of blocks of 5 us. */
struct load {
    const char *name;
    uint32_t operations, streams, every;
    uint32_t blocks, threads, cluster;
    bool as_blocks, one_by_one;
};

static struct gt_workload *make_workload(const struct load *load)
{
    struct gt_workload *w = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .runs = GT_NONE, .arguments = GT_NONE,
        .name = gt_name(w, "k", 1), .grid = { load->blocks, 1, 1 }, .block = { load->threads, 1, 1 },
        .cluster = { load->cluster, 1, 1 },
        .registers_per_thread = 32, .cost = load->cluster > 0 ? GT_COST_FIXED : GT_COST_NONE,
        .block_min_ps = 5000000, .block_max_ps = 5000000, .duration_ps = load->cluster > 0 ? GT_TIME_NONE : 5000000,
    };
    /* clang-format on */
    uint32_t number = gt_workload_kernel(w, &kernel);

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < load->streams; i++) {
        uint32_t stream = gt_workload_add_stream(w);

        w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
        w->streams[stream].id = i + 1;
    }
    for (uint32_t i = 0; i < load->operations; i++) {
        uint32_t call = gt_workload_add_call(w), op = gt_workload_add_op(w);

        w->calls[call].kind = GT_CALL_LAUNCH;
        w->calls[call].stream = w->ops[op].stream = i % load->streams;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].kernel = number;
        if ((i + 1) % load->every == 0) {
            call = gt_workload_add_call(w);
            w->calls[call].kind = GT_CALL_DEVICE_SYNC;
        }
    }
    return w;
}

/* Who wants to know of each has waves simulated one by one. */
static int ignore(void *user, const struct gt_block_record *record, struct gt_error *error)
{
    (void)user;
    (void)record;
    (void)error;
    return 0;
}

/* Clusters need GPCs; blocks that start and leave one by one, as on an H200, make their waves differ. */
static void make_device(struct gt_device *device, const struct load *load)
{
    static const char *const clusters[][2] = {
        { "chip.compute_major", "9" },         { "chip.gpc_sms", "8,16,16,16,16,16,18,18,2,2,2,2" },
        { "scheduling.dispatch_ns", "0.098" }, { "scheduling.refill_ns", "224" },
        { "scheduling.retire_ns", "71.6" },
    };
    struct gt_error error;

    gt_device_init(device);
    gt_device_set(device, "chip.sms", "132", &error);
    for (size_t i = 0; load->cluster > 0 && i < sizeof clusters / sizeof clusters[0]; i++)
        gt_device_set(device, clusters[i][0], clusters[i][1], &error);
}

static void bench(const struct load *load)
{
    struct gt_workload *w = make_workload(load);
    struct gt_device device;
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .blocks = load->one_by_one ? ignore : NULL };
    struct gt_summary summary;
    struct gt_error error;
    struct rusage usage;
    double start_s, seconds;

    make_device(&device, load);
    options.blocks = load->as_blocks;
    start_s = now_s();
    if (gt_simulate(w, &device, &options, &probe, &summary, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    seconds = now_s() - start_s;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-36s %9u operations %11llu blocks %7.3f s %8.2f M operations/s %8.2f M blocks/s  peak %ld KiB\n",
           load->name, load->operations, (unsigned long long)summary.blocks, seconds,
           load->operations / seconds / 1e6, (double)summary.blocks / seconds / 1e6, usage.ru_maxrss);
    gt_workload_free(w);
}

/* clang-format off */
static const struct load loads[] = {
    { "bars, 4 streams, 10^4", 10000, 4, 10000, 1000, 256, 0, false, true },
    { "bars, 4 streams, 10^5", 100000, 4, 100000, 1000, 256, 0, false, true },
    { "bars, 4 streams, 10^6", 1000000, 4, 1000000, 1000, 256, 0, false, true },
    { "bars, 4 streams, 10^7", 10000000, 4, 10000000, 1000, 256, 0, false, true },
    { "bars, 64 streams", 1000000, 64, 1000000, 1000, 256, 0, false, true },
    { "bars, a sync each, 16,000 streams", 16000, 16000, 1, 1000, 256, 0, false, true },
    { "bars, a sync each, 32,000 streams", 32000, 32000, 1, 1000, 256, 0, false, true },
    { "bars, a sync each, 64,000 streams", 64000, 64000, 1, 1000, 256, 0, false, true },
    { "blocks, 1 stream, 10 waves", 10000, 1, 10000, 10000, 256, 0, true, true },
    { "blocks, 4 streams, 1 wave", 10000, 4, 10000, 1000, 256, 0, true, true },
    { "blocks, 4 streams, 1 block", 300000, 4, 300000, 1, 256, 0, true, true },
    { "blocks, one grid of 10^8", 1, 1, 1, 100000000, 256, 0, true, true },
    { "blocks, one grid, alike waves", 1, 1, 1, INT32_MAX, 256, 0, true, false },
    { "blocks, clusters of 2", 1, 1, 1, 10000000, 256, 2, true, true },
    { "blocks, clusters of 2, alike waves", 1, 1, 1, 100000000, 256, 2, true, false },
    { "blocks, clusters of 5, waves differ", 1, 1, 1, 10000000, 32, 5, true, false },
    { "blocks, clusters of 8, waves differ", 1, 1, 1, 10000000, 1024, 8, true, false },
    { "blocks, clusters of 16, alike waves", 1, 1, 1, 100000000, 256, 16, true, false },
};
/* clang-format on */

/* All, or those whose names begin with the argument. */
int main(int count, char **arguments)
{
    const char *only = count > 1 ? arguments[1] : "";

    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        if (strncmp(loads[i].name, only, strlen(only)) == 0)
            bench(&loads[i]);
    return 0;
}
