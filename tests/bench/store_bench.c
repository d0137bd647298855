/* How fast rows go into the store: records made in memory, no simulator.
 * Arguments: a store to write, the number of operations. One line: rows, seconds, rates. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "traces/store.h"

enum { STREAMS = 4, SMS = 132, BLOCKS_MAX = 1000000 };

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void require(int64_t result, const struct gt_error *error)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

/* Launches in turn on a few streams from one thread. */
static struct gt_workload *make_workload(uint32_t operations)
{
    struct gt_workload *w = gt_workload_new();
    struct gt_kernel kernel = {
        .name = gt_name(w, "k", 1), .grid = { SMS, 1, 1 }, .block = { 256, 1, 1 },
        .duration_ps = GT_TIME_NONE,
    };
    uint32_t number = gt_workload_kernel(w, &kernel), launch = gt_name(w, "cudaLaunchKernel", 16);

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    for (uint32_t i = 0; i < STREAMS; i++)
        gt_workload_add_stream(w);
    for (uint32_t i = 0; i < operations; i++) {
        uint32_t call = gt_workload_add_call(w), op = gt_workload_add_op(w);

        w->calls[call].kind = GT_CALL_LAUNCH;
        w->calls[call].name = launch;
        w->calls[call].stream = w->ops[op].stream = i % STREAMS;
        w->calls[call].ops = 1;
        w->ops[op].call = call;
        w->ops[op].kind = GT_OP_KERNEL;
        w->ops[op].kernel = number;
    }
    return w;
}

/* What a simulated run sends: calls and operations in order of end, each with a block on one SM. */
static void send(const struct gt_probe *probe, uint32_t operations, struct gt_error *error)
{
    for (uint32_t i = 0; i < operations; i++) {
        uint32_t op = i ^ 1; /* neighbours end in the other order; `operations` is even */
        gt_time_ps start_ps = (gt_time_ps)i * 5000000;
        struct gt_call_record call = { .call = op, .start_ps = start_ps, .end_ps = start_ps + 2000000,
                                       .cause_op = GT_NONE };
        struct gt_op_record record = { .op = op, .submit_ps = start_ps, .start_ps = start_ps + 3000000,
            .end_ps = start_ps + 9000000, .wait_ps = { 1000, 2000, 3000, 4000, 5000, 6000 },
            .cause = GT_CAUSE_CALL, .cause_index = op };
        struct gt_block_record blocks = { .op = op, .sm = i % SMS, .blocks = 1, .warps_per_block = 8,
            .start_ps = record.start_ps, .end_ps = record.end_ps };

        require(probe->blocks(probe->user, &blocks, error), error);
        require(probe->call(probe->user, &call, error), error);
        require(probe->op(probe->user, &record, error), error);
    }
}

int main(int argc, char **argv)
{
    uint32_t operations = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) & ~1u : 0;
    struct gt_workload *workload = make_workload(operations);
    struct gt_comparison comparison;
    struct gt_device device;
    struct gt_error error = { "" };
    struct gt_store *store;
    struct gt_sink *sink;
    struct rusage usage;
    int64_t trace, run;
    uint64_t rows = 2ull * operations + (operations < BLOCKS_MAX ? operations : BLOCKS_MAX);
    double began_s, defined_s, sent_s, ended_s, compared_s;

    if (operations == 0) {
        fputs("Usage: store_bench RUN.db OPERATIONS\n", stderr);
        return 2;
    }
    gt_device_init(&device);
    began_s = now_s();
    store = gt_store_create(argv[1], &error);
    require(store == NULL ? -1 : 0, &error);
    require(gt_store_device(store, &device, &error), &error);
    trace = gt_store_trace(store, workload, "bench", &error);
    require(trace, &error);
    defined_s = now_s();
    sink = gt_sink_begin(store, trace, 1, "simulated", "", 0, workload, &device, &error);
    send(gt_sink_probe(sink), operations, &error);
    sent_s = now_s();
    run = gt_sink_end(sink, &error);
    require(run, &error);
    ended_s = now_s();
    require(gt_compare(store, run, run, &comparison, &error), &error);
    compared_s = now_s();
    require(gt_store_commit(store, &error), &error);
    getrusage(RUSAGE_SELF, &usage);
    printf("%9u operations: trace %7.0f rows/s, run %7.0f rows/s (%.2f s to take, %.2f s to write), "
           "compare %.2f s, sync %.2f s, %.0f MB\n", operations, 2.0 * operations / (defined_s - began_s),
           (double)rows / (ended_s - defined_s), sent_s - defined_s, ended_s - sent_s, compared_s - ended_s,
           now_s() - compared_s, (double)usage.ru_maxrss / 1024);
    gt_workload_free(workload);
    return 0;
}
