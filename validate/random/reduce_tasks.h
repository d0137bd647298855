/* reduce_tasks.h - a task graph less some of its tasks, still a safe one. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_REDUCE_TASKS_H
#define GRIDTIDE_VALIDATE_RANDOM_REDUCE_TASKS_H

#include "sim/workload/task_graph.h"

/* Take out of `graph` each task that is not kept, by number; one stays at least.  Waits are for the signals that are left,
 * and none where none is left; what a task made that went exists from the start.  What tasks read and write goes, for
 * its writers may have gone. */
void gt_reduce_tasks(struct gt_task_graph *graph, const bool *kept);

#endif
