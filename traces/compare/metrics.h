/* metrics.h - the metrics by which a simulated run is held against measured ones. */
#ifndef GRIDTIDE_TRACES_COMPARE_METRICS_H
#define GRIDTIDE_TRACES_COMPARE_METRICS_H

#include "traces/compare/verdict.h"
#include "traces/store/comparison.h"

/* Where a metric's value comes from: `compute`, or where that is NULL a member of the verdict, which is computed
 * with the others and filled again from the store. */
struct gt_metric {
    struct gt_metric_row row;                                                        /* name, unit, threshold, help */
    size_t member;                                                                   /* offset in struct gt_verdict */
    enum gt_metric_type { GT_METRIC_REAL, GT_METRIC_COUNT, GT_METRIC_COUNT32 } type; /* of the member */
    /* Of the simulated run and of the measured one that stands for all (verdict->repeats.median_run), once all
     * members are filled. NAN: there is none. Returns 0 or -1. */
    int (*compute)(struct gt_store *store, const struct gt_verdict *verdict, double *value, struct gt_error *error);
};
extern const struct gt_metric gt_metrics[];
extern const size_t gt_metric_count; /* at most GT_METRICS_MAX */

/* Metrics of several traces together: members of struct gt_suite. */
struct gt_suite_metric {
    struct gt_metric_row row;
    size_t member;
};
extern const struct gt_suite_metric gt_suite_metrics[];
extern const size_t gt_suite_metric_count;

/* verdict.c: the makespan's error of the run that simulates the GPU alone; NAN where the store has none. */
int gt_metric_gpu_error_pct(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                            struct gt_error *error);

/* verdict.c: the range that the simulation stated for the makespan, and how many measured runs are within; NAN where it
 * stated none. */
int gt_metric_range_low_us(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                           struct gt_error *error);
int gt_metric_range_high_us(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                            struct gt_error *error);
int gt_metric_range_runs(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                         struct gt_error *error);

/* The metric of that name; NULL: there is none. */
const struct gt_metric *gt_metric_find(const char *name);
/* A member of a verdict as a number, and from one. */
double gt_metric_get(const struct gt_metric *metric, const struct gt_verdict *verdict);
void gt_metric_set(const struct gt_metric *metric, struct gt_verdict *verdict, double value);

#endif
