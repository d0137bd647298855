/* analysis.h - what calibration makes of its samples: medians, fits, orders. No CUDA here. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_ANALYSIS_H
#define GRIDTIDE_VALIDATE_CALIBRATE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Median and quartiles; all 0 where there are no samples. */
struct gt_bench_summary {
    double median, low, high;
    size_t count;
};

/* Sorts `samples`. Quartiles lie between two samples where their rank does (R's type 7). */
struct gt_bench_summary gt_summarise(double *samples, size_t count);

/* The lower half of the samples and the upper one: means, not medians, so that both together keep the mean of
 * all; and quartiles of each. Sorts `samples`, of which there are two or more. */
void gt_summarise_halves(double *samples, size_t count, struct gt_bench_summary halves[2]);

/* A straight line y = base + slope * x. */
struct gt_line {
    double base, slope;
    double worst; /* the largest |fit - y| / max(y, 1) */
};

/* Least squares over points with y >= 0. `relative` weighs each point by 1 / max(y, 1), so that 1 % of a
 * large one counts as much as 1 % of a small one; the base is never below 0. At least two different x. */
struct gt_line gt_fit_line(const double *x, const double *y, size_t count, bool relative);

/* The GPU's clock at one moment: host_ns - gpu_ns, known to within residual_ns either way. */
struct gt_clock_tie {
    uint64_t gpu_ns;
    int64_t offset_ns, residual_ns;
};

/* The tie of one exchange: the GPU read its clock after sent_ns and before received_ns. */
struct gt_clock_tie gt_clock_tie_of(uint64_t sent_ns, uint64_t gpu_ns, uint64_t received_ns);
/* A time of the GPU's on the host's clock, the drift between two ties taken as even. */
double gt_clock_host_ns(const struct gt_clock_tie *before, const struct gt_clock_tie *after, uint64_t gpu_ns);

/* A stay on an SM, or on the GPU. */
struct gt_stay {
    uint32_t sm;
    uint64_t start_ns, end_ns;
};

/* The largest number of stays at one time; one that starts as another ends is not with it. */
size_t gt_most_at_once(const struct gt_stay *stays, size_t count);

/* From a block's end to the start of the block in its place: on each SM, the first blocks fill its
 * slots, and each later start is put to the ends in order. Sorts `stays`; writes at most `count`
 * numbers, returns how many. */
size_t gt_refill_gaps(struct gt_stay *stays, size_t count, double *gaps_ns);

/* The order in which SMs are taken, from launches of 1, 2, ... `count` blocks, `repeats` of each size,
 * each block on an SM of its own. `seen` holds the blocks' SMs, launch by launch. An SM stands the
 * further ahead in order[count] the more launches used it; `alike` is in how many launches of n blocks
 * these were just the first n. Returns 0, or -1 where a launch used an SM twice or one not below `count`. */
int gt_find_order(const uint32_t *seen, size_t repeats, size_t count, uint32_t *order, size_t *alike);

/* Which of `count` things belong together: `pairs` names two at a time. Writes the size of each set of
 * more than one, sorted by its lowest member, and returns how many; `rest` is how many were in none. */
size_t gt_find_sets(const uint32_t (*pairs)[2], size_t pair_count, size_t count, uint32_t *sizes, size_t *rest);

#endif
