#include "sim/serve/arrivals.h"

#include <math.h>

#include "sim/workload/block_cost.h"

const char *const gt_arrivals_names[GT_ARRIVALS_KINDS] = { "poisson", "bursty", "periodic", "closed", "file" };

/* In (0, 1). */
static double chance(const struct gt_arrivals *arrivals, struct gt_arrivals_at *at)
{
    return ((double)gt_random_bits(arrivals->seed, 0, at->drawn++) + 0.5) / 0x1p64;
}

static double exponential(const struct gt_arrivals *arrivals, struct gt_arrivals_at *at, double mean)
{
    return -log(chance(arrivals, at)) * mean;
}

/* The time from the latest arrival to the next one. */
static double gap_ps(const struct gt_arrivals *arrivals, struct gt_arrivals_at *at)
{
    double mean_ps = 1e12 / arrivals->per_s;

    if (arrivals->kind == GT_ARRIVALS_PERIODIC)
        return at->number == 0 ? 0 : mean_ps;
    if (arrivals->kind == GT_ARRIVALS_POISSON)
        return exponential(arrivals, at, mean_ps);
    if (at->burst_left > 0) {
        at->burst_left--;
        return 0;
    }
    /* Geometric from 1 on: how many more than one come with the first. */
    if (arrivals->burst > 1)
        at->burst_left = (uint64_t)(log(chance(arrivals, at)) / log1p(-1 / arrivals->burst));
    return exponential(arrivals, at, mean_ps * arrivals->burst);
}

bool gt_arrivals_next(const struct gt_arrivals *arrivals, struct gt_arrivals_at *at, gt_time_ps now_ps,
                      gt_time_ps *time_ps)
{
    if (arrivals->most > 0 && at->number == arrivals->most)
        return false;
    if (arrivals->kind == GT_ARRIVALS_CLOSED) {
        *time_ps = now_ps;
    } else if (arrivals->kind == GT_ARRIVALS_FILE) {
        if (at->number == arrivals->time_count)
            return false;
        *time_ps = arrivals->times_ps[at->number];
    } else {
        at->at_ps += gap_ps(arrivals, at);
        *time_ps = at->at_ps < (double)GT_TIME_LIMIT_PS ? (gt_time_ps)at->at_ps : GT_TIME_LIMIT_PS;
    }
    if (arrivals->kind != GT_ARRIVALS_CLOSED && *time_ps >= arrivals->until_ps)
        return false;
    at->number++;
    return true;
}
