/* How fast the simulator alone is: workloads made in memory, no file, no store.
 * Prints one line a case: operations, blocks, seconds, rates, bytes of memory an operation. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/simulate.h"

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Launches in turn on `streams` streams from one thread, a synchronisation of the device after each `every` of them. */
static struct gt_workload *make_workload(uint32_t operations, uint32_t streams, uint32_t blocks, uint32_t every)
{
    struct gt_workload *w = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .runs = GT_NONE, .arguments = GT_NONE,
        .name = gt_name(w, "k", 1), .grid = { blocks, 1, 1 }, .block = { 256, 1, 1 },
        .registers_per_thread = 32, .cost = GT_COST_NONE, .duration_ps = 5000000,
    };
    /* clang-format on */
    uint32_t number = gt_workload_kernel(w, &kernel);

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < streams; i++) {
        uint32_t stream = gt_workload_add_stream(w);

        w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
        w->streams[stream].id = i + 1;
    }
    for (uint32_t i = 0; i < operations; i++) {
        uint32_t call = gt_workload_add_call(w), op = gt_workload_add_op(w);

        w->calls[call].kind = GT_CALL_LAUNCH;
        w->calls[call].stream = w->ops[op].stream = i % streams;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].kernel = number;
        if ((i + 1) % every == 0) {
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

static void bench(const char *name, uint32_t operations, uint32_t streams, uint32_t blocks, bool as_blocks,
                  bool one_by_one, uint32_t every)
{
    struct gt_workload *w = make_workload(operations, streams, blocks, every);
    struct gt_device device;
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .blocks = one_by_one ? ignore : NULL };
    struct gt_summary summary;
    struct gt_error error;
    struct rusage usage;
    double start_s, seconds;

    gt_device_init(&device);
    gt_device_set(&device, "chip.sms", "132", &error);
    options.blocks = as_blocks;
    start_s = now_s();
    if (gt_simulate(w, &device, &options, &probe, &summary, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    seconds = now_s() - start_s;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-28s %9u operations %11llu blocks %7.3f s %8.2f M operations/s %8.2f M blocks/s  peak %ld KiB\n", name,
           operations, (unsigned long long)summary.blocks, seconds, operations / seconds / 1e6,
           (double)summary.blocks / seconds / 1e6, usage.ru_maxrss);
    gt_workload_free(w);
}

int main(void)
{
    for (uint32_t operations = 10000; operations <= 10000000; operations *= 10)
        bench("bars, 4 streams", operations, 4, 1000, false, true, operations);
    bench("bars, 64 streams", 1000000, 64, 1000, false, true, 1000000);
    for (uint32_t count = 16000; count <= 64000; count *= 2)
        bench("bars, a sync each, n streams", count, count, 1000, false, true, 1);
    bench("blocks, 1 stream, 10 waves", 10000, 1, 10000, true, true, 10000);
    bench("blocks, 4 streams, 1 wave", 10000, 4, 1000, true, true, 10000);
    bench("blocks, 4 streams, 1 block", 300000, 4, 1, true, true, 300000);
    bench("blocks, one grid of 10^8", 1, 1, 100000000, true, true, 1);
    bench("blocks, one grid, alike waves", 1, 1, INT32_MAX, true, false, 1);
    return 0;
}
