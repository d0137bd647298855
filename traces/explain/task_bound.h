/* task_bound.h - what bounds a kernel whose blocks do the tasks of a graph: its work, the longest way through its tasks, or
 * why its workers are idle. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_TASK_BOUND_H
#define GRIDTIDE_TRACES_EXPLAIN_TASK_BOUND_H

#include "traces/explain/loaded_run.h"
#include "traces/stats/stats.h"

struct gt_task_bound {
    gt_time_ps about_ps;       /* of the launches' time, what the bound is about */
    char text[400];            /* where the workers' time went, and which worker and kind of task ends last */
    const char *help, *change; /* as of struct gt_finding */
};

/* Of a launch: its kernel in the run; GT_NONE: the run has no such operation. */
gt_kernel_index gt_task_bound_kernel(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *launch);

/* Of all launches of that kernel among `count`; at least one is. */
void gt_task_bound_find(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *tasks, size_t count,
                        gt_kernel_index kernel, struct gt_task_bound *bound);

#endif
