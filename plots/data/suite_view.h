/* suite_view.h - all traces of a store that were simulated and measured, and their errors. */
#ifndef GRIDTIDE_PLOTS_DATA_SUITE_VIEW_H
#define GRIDTIDE_PLOTS_DATA_SUITE_VIEW_H

#include "traces/compare/verdict.h"

struct gt_suite_row {
    int64_t run, trace_id; /* the trace's newest simulated run */
    char *name;            /* the trace's */
    struct gt_verdict verdict;
};

struct gt_suite_view {
    struct gt_suite_row *rows; /* worst makespan error first */
    uint32_t count;
    struct gt_suite sums;
};

/* A suite has two traces or more with a makespan in both; with fewer the count is 0.  Returns 0 or -1; free
 * in either case. */
int gt_suite_view_load(struct gt_suite_view *suite, struct gt_store *store, struct gt_error *error);
void gt_suite_view_free(struct gt_suite_view *suite);

#endif
