/* comparison.h - how two runs compare, by metric: tables comparison and metric. A value that is not there is
 * NAN, in the file NULL. All return 0 or -1. */
#ifndef GRIDTIDE_TRACES_STORE_COMPARISON_H
#define GRIDTIDE_TRACES_STORE_COMPARISON_H

#include "traces/store/store.h"

/* What a metric is (table metric); `threshold` is the largest that is within, NAN: there is none. */
struct gt_metric_row {
    const char *name, *unit;
    double threshold;
    const char *help;
};
struct gt_metric_value {
    const char *name;
    double value;
};

/* Keep the values of one simulated and one measured run, in place of older ones, and what their metrics are where
 * the store does not say yet. */
int gt_store_put_comparison(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                            const struct gt_metric_row *metrics, size_t metric_count,
                            const struct gt_metric_value *values, size_t count, struct gt_error *error);

/* Fill in the values that the store has of these two runs; *found: how many. The others stay as they are. */
int gt_store_get_comparison(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                            struct gt_metric_value *values, size_t count, size_t *found, struct gt_error *error);

/* The threshold that the store has of a metric, where it says: its owner may have changed it. */
int gt_store_threshold(struct gt_store *store, const struct gt_metric_row *metric, double *threshold,
                       struct gt_error *error);

#endif
