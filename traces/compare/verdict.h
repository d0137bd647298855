/* verdict.h - simulated runs held against measured ones, by the thresholds that the store has: one trace, and all. */
#ifndef GRIDTIDE_TRACES_COMPARE_VERDICT_H
#define GRIDTIDE_TRACES_COMPARE_VERDICT_H

#include "traces/compare/compare.h"
#include "traces/compare/repetitions.h"

enum { GT_METRICS_MAX = 64 };

/* One simulated run held against the median measured run of its trace. Computed where it is asked for first with
 * `keep`, and from then on read from the store (table comparison), as long as no measured run has come since. */
struct gt_verdict {
    int64_t simulated_run;
    struct gt_comparison comparison;
    struct gt_repeats repeats;
    double start_allowed_share; /* of the median start error in 1 % of the makespan or 2 us; NAN: no pair */
    double placement_excess_pct;
    double values[GT_METRICS_MAX]; /* by place in gt_metrics (metrics.h) */
    bool within;                   /* every threshold of table metric holds */
};
/* `keep`: write it into the store, which must be open for writing. */
int gt_verdict_of(struct gt_store *store, int64_t simulated_run, bool keep, struct gt_verdict *verdict,
                  struct gt_error *error);
/* The value of the metric of that name; NAN where there is none. */
double gt_verdict_value(const struct gt_verdict *verdict, const char *metric);

/* The measured run that a simulated one is held against; 0 where there is none. */
int gt_verdict_find_measured(struct gt_store *store, int64_t simulated_run, int64_t *measured_run,
                             struct gt_error *error);
/* The newest whole simulated run of a store and the measured run that it is held against; 0 where there is none. */
int gt_verdict_find_runs(struct gt_store *store, int64_t *simulated_run, int64_t *measured_run,
                         struct gt_error *error);

/* Verdicts on several traces together. */
struct gt_suite {
    uint32_t traces;                                       /* those with a makespan error */
    double error_median_pct, error_p95_pct, error_max_pct; /* of |makespan error| */
    double gpu_median_pct, gpu_p95_pct, gpu_max_pct; /* of |error of the GPU's part alone|; NAN: not simulated */
    double range_runs_pct;           /* of the measured runs of traces with a range, those within it; NAN: no range */
    double range_width_pct;          /* of those ranges, the median, as a share of the simulated makespan */
    double start_off_pct;            /* share of them whose start error is more than allowed */
    double placement_off_pct;        /* share of those with placements that exceed the threshold */
    double placement_within_pct;     /* the rest */
    double order_pairs, order_wrong; /* over all traces */
    double order_off_pct;            /* share of those with certain orders that have a wrong one */
    double mape_pct;                 /* mean |makespan error| */
    double pearson;                  /* correlation of measured and simulated makespans; NAN of fewer than two */
    bool within;                     /* every suite threshold holds (of one trace: its own) */
};
int gt_verdict_suite(struct gt_store *store, const struct gt_verdict *verdicts, uint32_t count,
                     struct gt_suite *suite, struct gt_error *error);

#endif
