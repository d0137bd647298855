/* sweep_view.h - a sweep as pages draw it: every point's change, and the best of each trace. */
#ifndef GRIDTIDE_PLOTS_DATA_SWEEP_VIEW_H
#define GRIDTIDE_PLOTS_DATA_SWEEP_VIEW_H

#include "traces/store/sweep_rows.h"

struct gt_sweep_view {
    struct gt_sweep_plan plan;
    uint64_t points, done, refused;
    double *change_pct; /* by point; NAN: not done, or refused */
    double *step_us;    /* by point; NAN: not done, or refused */
    char **trust;       /* by point; NULL: not done, or refused */
    uint64_t *best;     /* by trace: its point with the least time; UINT64_MAX where it has none */
};

/* Returns 0 or -1; gt_sweep_view_free() in either case. */
int gt_sweep_view_load(struct gt_sweep_view *view, struct gt_store *store, struct gt_error *error);
void gt_sweep_view_free(struct gt_sweep_view *view);

/* What a trace is called. */
const char *gt_sweep_view_trace(const struct gt_sweep_view *view, uint32_t trace);

/* The least change of a trace with that value of a parameter and, where `other` is one, that value of it; NAN. */
double gt_sweep_view_least(const struct gt_sweep_view *view, uint32_t trace, uint32_t parameter, uint32_t value,
                           uint32_t other, uint32_t other_value);

#endif
