/* cycles.h - what the groups share that measure cycles inside an SM: kernels that read the clock
 * (kernels/calibrate_*.h) run, their numbers brought here. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_CYCLES_H
#define GRIDTIDE_VALIDATE_CALIBRATE_CYCLES_H

#include "validate/calibrate/bench.h"

/* Launch a kernel on the first stream, arguments as cudaLaunchKernel takes them, and wait for it. */
int gt_bench_run(struct gt_bench *bench, const void *kernel, uint32_t blocks, uint32_t threads, void **arguments);

/* `bytes` from the device's memory. */
int gt_bench_bring(struct gt_bench *bench, void *to, const void *from, size_t bytes);

/* Read GT_BENCH_BUFFER_BYTES that nothing else here reads: after that L2 holds little else. */
int gt_bench_flush_l2(struct gt_bench *bench);

/* What this process found for a key, a number; 0: nothing. */
double gt_bench_known(const struct gt_bench *bench, const char *key);

/* All numbers of a summary less `less`; times `factor`; `amount` over them, low and high changing places. */
static inline struct gt_bench_summary gt_summary_less(struct gt_bench_summary summary, double less)
{
    return (struct gt_bench_summary){ summary.median - less, summary.low - less, summary.high - less, summary.count };
}

static inline struct gt_bench_summary gt_summary_times(struct gt_bench_summary summary, double factor)
{
    return (struct gt_bench_summary){ summary.median * factor, summary.low * factor, summary.high * factor,
                                      summary.count };
}

static inline struct gt_bench_summary gt_summary_rate(double amount, struct gt_bench_summary summary)
{
    return (struct gt_bench_summary){ amount / summary.median, amount / summary.high, amount / summary.low,
                                      summary.count };
}

#endif
