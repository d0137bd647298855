/* recorded_costs.h - what tasks of a recording took, for others of their kinds. */
#ifndef GRIDTIDE_TRACES_TASKS_RECORDED_COSTS_H
#define GRIDTIDE_TRACES_TASKS_RECORDED_COSTS_H

#include "sim/workload/task_graph.h"
#include "traces/tasks/slices.h"

/* Times by kind.  A task's time is what it adds to its worker's: from its start, or from the end of the tasks that began before
 * it where it overlaps these, to its end.  The first task of a worker finds cold caches: its time is one of first tasks. */
struct gt_recorded_costs;

struct gt_recorded_costs *gt_recorded_costs_new(const struct gt_task_slices *slices);
void gt_recorded_costs_free(struct gt_recorded_costs *costs);

/* The time of the task that was recorded as slice number `slice`. */
gt_time_ps gt_recorded_costs_time(const struct gt_recorded_costs *costs, uint32_t slice);
/* The time of one more task of that kind, which is its worker's first or not: each recorded one in turn, in an order that is drawn
 * and always the same, so that many tasks differ as the recorded ones do.  Where none of that place was recorded, one of the
 * other; GT_TIME_NONE if there is none of the kind. */
gt_time_ps gt_recorded_costs_draw(struct gt_recorded_costs *costs, uint32_t kind, bool first);
/* The mean time from the end of a worker's tasks to the start of its next one, 0 where they overlap; GT_TIME_NONE if no worker
 * had two. */
gt_time_ps gt_recorded_costs_between(const struct gt_recorded_costs *costs);

#endif
