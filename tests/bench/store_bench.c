/* How fast rows go into the store: records made in memory, no simulator.
 * Arguments: a store to write, the number of operations. One line: rows, seconds, rates. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "traces/compare/compare.h"
#include "traces/store/store.h"

enum { STREAMS = 4, SMS = 132, BLOCKS_MAX = 1000000 };

/* Both clocks: the processor's tells the same on a machine that others use too. */
struct instant {
    double wall_s, cpu_s;
};

static double read_s(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct instant now(void)
{
    return (struct instant){ read_s(CLOCK_MONOTONIC), read_s(CLOCK_PROCESS_CPUTIME_ID) };
}

static void print_rate(const char *what, double rows, struct instant from, struct instant to)
{
    printf("%s %8.0f rows/s (%8.0f by processor time), ", what, rows / (to.wall_s - from.wall_s),
           rows / (to.cpu_s - from.cpu_s));
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
    /* clang-format off */
    struct gt_kernel kernel = {
        .runs = GT_NONE, .arguments = GT_NONE,
        .name = gt_name(w, "k", 1), .grid = { SMS, 1, 1 }, .block = { 256, 1, 1 },
        .duration_ps = GT_TIME_NONE,
    };
    /* clang-format on */
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
        struct gt_call_record call = {
            .call = op, .start_ps = start_ps, .end_ps = start_ps + 2000000, .cause_op = GT_NONE
        };
        struct gt_op_record record = { .op = op,
                                       .submit_ps = start_ps,
                                       .start_ps = start_ps + 3000000,
                                       .end_ps = start_ps + 9000000,
                                       .wait_ps = { 1000, 2000, 3000, 4000, 5000, 6000 },
                                       .cause = GT_CAUSE_CALL,
                                       .cause_index = op };
        struct gt_block_record blocks = { .op = op,
                                          .sm = i % SMS,
                                          .blocks = 1,
                                          .warps_per_block = 8,
                                          .start_ps = record.start_ps,
                                          .end_ps = record.end_ps };

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
    struct gt_run_writer *writer;
    struct rusage usage;
    int64_t trace, run;
    uint64_t rows = 2ull * operations + (operations < BLOCKS_MAX ? operations : BLOCKS_MAX);
    struct instant began, defined, ended, compared;

    if (operations == 0) {
        fputs("Usage: store_bench RUN.db OPERATIONS\n", stderr);
        return 2;
    }
    gt_device_init(&device);
    began = now();
    store = gt_store_create(argv[1], &error);
    require(store == NULL ? -1 : 0, &error);
    require(gt_store_put_device(store, &device, &error), &error);
    trace = gt_store_put_trace(store, workload, "bench", &error);
    require(trace, &error);
    defined = now();
    writer = gt_run_writer_begin(store, trace, 1, "simulated", "", 0, workload);
    send(gt_run_writer_probe(writer), operations, &error);
    run = gt_run_writer_end(writer, &error);
    require(run, &error);
    ended = now();
    require(gt_compare(store, run, run, &comparison, &error), &error);
    compared = now();
    require(gt_store_commit(store, &error), &error);
    getrusage(RUSAGE_SELF, &usage);
    printf("%9u operations: ", operations);
    print_rate("trace", 2.0 * operations, began, defined);
    print_rate("run", (double)rows, defined, ended);
    print_rate("compare", operations, ended, compared);
    printf("%.0f MB\n", (double)usage.ru_maxrss / 1024);
    gt_workload_free(workload);
    return 0;
}
