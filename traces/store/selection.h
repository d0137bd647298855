/* selection.h - a part of a run: of its time, a step, a stream, kernels by name. */
#ifndef GRIDTIDE_TRACES_STORE_SELECTION_H
#define GRIDTIDE_TRACES_STORE_SELECTION_H

#include <stdbool.h>

#include "sim/workload/workload.h"
#include "traces/store/database.h"

/* What is asked for; the parts together, each may be absent. */
struct gt_filter {
    gt_time_ps from_ps, to_ps; /* operations and calls that start from the one on and before the other, since the
                                    run's origin; 0 and GT_TIME_NONE: all */
    const char *stream;        /* the stream's name or number; NULL: all */
    const char *kernel;        /* a kernel's name, mangled or not, or a part of it; NULL: all operations */
    const char *step;          /* the step's name, the number behind its '#', or its place from 0 on; NULL: all */
};
#define GT_FILTER_ALL          \
    {                          \
        .to_ps = GT_TIME_NONE, \
    }
bool gt_filter_is_all(const struct gt_filter *filter);

/* What that comes to in one run. */
struct gt_selection {
    bool all;
    bool by_time;              /* nothing but time and steps is asked for: all that happened then is meant */
    gt_time_ps from_ps, to_ps; /* when: of a step, from its start to its end on the host or the GPU */
    uint64_t first_call, end_call;
    uint8_t *ops; /* by op_no, not 0: selected */
    uint64_t op_count;
};

/* Find a part of a run (filter NULL: all of it).  Returns 0; -1 with the reason: there is no such stream, kernel or
 * step.  gt_selection_free() in either case. */
int gt_selection_find(struct gt_selection *selection, struct gt_database *database, int64_t run_id,
                      const struct gt_filter *filter, struct gt_error *error);
void gt_selection_free(struct gt_selection *selection);

/* Are an operation, a call that starts at a time, in it? */
bool gt_selection_has_op(const struct gt_selection *selection, int64_t op);
bool gt_selection_has_call(const struct gt_selection *selection, int64_t call, gt_time_ps start_ps);

#endif
