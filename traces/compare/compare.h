/* compare.h - how one simulated run compares with a measured run of the same trace. Definitions:
 * gridtide-model(7), ERROR. */
#ifndef GRIDTIDE_TRACES_COMPARE_COMPARE_H
#define GRIDTIDE_TRACES_COMPARE_COMPARE_H

#include "traces/store/store.h"

/* Over the GPU operations (kernels, copies, memsets) that have a time in both runs, each run's times taken from
 * the first start among them. Percentiles are by nearest rank: the value at place ceil(p / 100 * n) of the n
 * sorted ones. Absent values are NAN; without a measured run the simulated makespan is over all operations. */
struct gt_spread {
    double median, p95, max;
};
struct gt_comparison {
    uint64_t kernels, copies, memsets; /* operations of the trace */
    uint64_t matched, unmatched;       /* with / without a time in both runs */
    double makespan_measured_us, makespan_simulated_us, makespan_error_pct;
    struct gt_spread start_error_us, start_error_pct;
    double busy_simulated_pct; /* share of the simulated makespan in which one ran */
};

/* Compute it from the runs' operations; measured_run 0: there is none. Returns 0 or -1. Others ask
 * gt_verdict_of() (repetitions.h), which computes once and then reads what the store keeps. */
int gt_compare(struct gt_store *store, int64_t simulated_run, int64_t measured_run, struct gt_comparison *comparison,
               struct gt_error *error);

#endif
