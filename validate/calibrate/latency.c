/* latency.c - between host and GPU: from a call's end to the kernel's start, from the kernel's
 * end to a waiting call's return or to a host function. Both clocks are tied before and after. */
#include <math.h>
#include <stdio.h>

#include "validate/calibrate/groups.h"

enum { ROUNDS = 200 };
static const double kernel_us = 30, idle_us = 30;

/* Host times of one kind of exchange, and the ties around it. */
struct exchange {
    uint64_t called_ns[ROUNDS], answered_ns[ROUNDS];
    struct gt_clock_tie before, after;
};

static void CUDART_CB note_time(void *answered_ns)
{
    *(uint64_t *)answered_ns = gt_clock_ns();
}

/* What answers. */
enum answer { STREAM_SYNCHRONIZE, DEVICE_SYNCHRONIZE, HOST_FUNCTION };

/* A kernel on an idle GPU, and an answer to it. */
static int play(struct gt_bench *bench, enum answer answer, struct exchange *exchange)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, kernel_us, 0, 0 };
    cudaStream_t stream = bench->streams[0];
    if (gt_bench_tie(bench, &exchange->before) != 0 || gt_bench_take_records(bench) != 0)
        return -1;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        gt_bench_idle_us(idle_us);
        if (gt_bench_launch(bench, &spin, i, stream) != 0)
            return -1;
        exchange->called_ns[i] = gt_clock_ns();
        if (answer == HOST_FUNCTION)
            GT_TRY(cudaLaunchHostFunc(stream, note_time, &exchange->answered_ns[i]));
        if (answer == DEVICE_SYNCHRONIZE)
            GT_TRY(cudaDeviceSynchronize());
        else
            GT_TRY(cudaStreamSynchronize(stream));
        if (answer != HOST_FUNCTION)
            exchange->answered_ns[i] = gt_clock_ns();
    }
    if (gt_bench_take_records(bench) != 0 || gt_bench_read(bench, ROUNDS) != 0)
        return -1;
    return gt_bench_tie(bench, &exchange->after);
}

/* Microseconds from each call's end to the kernel's start, and from its end to the answer. */
static void spans(const struct gt_bench *bench, const struct exchange *exchange, double *start_us, double *answer_us)
{
    for (int i = 0; i < ROUNDS; i++) {
        double start_ns = gt_clock_host_ns(&exchange->before, &exchange->after, bench->blocks[i].start_ns);
        double end_ns = gt_clock_host_ns(&exchange->before, &exchange->after, bench->blocks[i].end_ns);
        start_us[i] = (start_ns - (double)exchange->called_ns[i]) / 1000;
        answer_us[i] = ((double)exchange->answered_ns[i] - end_ns) / 1000;
    }
}

static void state(struct gt_bench *bench, const char *key, struct gt_bench_summary summary, const char *how,
                  double residual_us)
{
    gt_found(bench->found, key, fmax(0, summary.median), summary, "%s; clocks tied to %.2f us", how, residual_us);
}

int gt_calibrate_latency(struct gt_bench *bench)
{
    static struct exchange exchange;
    double start_us[ROUNDS], answer_us[ROUNDS], residual_us;
    struct gt_bench_summary returns[2];
    if (play(bench, DEVICE_SYNCHRONIZE, &exchange) != 0)
        return -1;
    spans(bench, &exchange, start_us, answer_us);
    returns[1] = gt_summarise(answer_us, ROUNDS);
    if (play(bench, STREAM_SYNCHRONIZE, &exchange) != 0)
        return -1;
    residual_us = (double)(exchange.before.residual_ns + exchange.after.residual_ns) / 2000;
    spans(bench, &exchange, start_us, answer_us);
    state(bench, "latency.launch_us", gt_summarise(start_us, ROUNDS),
          "launch call's end to the block's start, idle GPU", residual_us);
    returns[0] = gt_summarise(answer_us, ROUNDS);
    struct gt_bench_summary both = gt_bench_mean(returns, 2);
    gt_found(bench->found, "host.sync_return_us", fmax(0, both.median), both,
             "block's end to the return; mean of cudaStreamSynchronize %.2f, cudaDeviceSynchronize %.2f; "
             "clocks tied to %.2f us",
             returns[0].median, returns[1].median, residual_us);
    if (play(bench, HOST_FUNCTION, &exchange) != 0)
        return -1;
    residual_us = (double)(exchange.before.residual_ns + exchange.after.residual_ns) / 2000;
    spans(bench, &exchange, start_us, answer_us);
    state(bench, "latency.host_function_us", gt_summarise(answer_us, ROUNDS),
          "block's end to the first line of a host function behind it", residual_us);
    gt_found_note(bench->found, "host and GPU clocks: tied to within %.2f us; the GPU's gained %.3f us a second",
                  residual_us,
                  (double)(exchange.before.offset_ns - exchange.after.offset_ns) * 1e6 /
                      (double)(exchange.after.gpu_ns - exchange.before.gpu_ns));
    return 0;
}
