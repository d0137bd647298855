/* task_costs.h - option --task-costs: times of tasks from a table. */
#ifndef GRIDTIDE_SIM_CMD_TASK_COSTS_H
#define GRIDTIDE_SIM_CMD_TASK_COSTS_H

#include <stdbool.h>

#include "sim/workload/workload.h"

/* Tasks of `workload`, called `name` in messages, that say no time take it from the table at `path` (NULL: nothing is to
 * be done); what came of it is said unless `quiet`.  -1 where the table cannot be read, or has no kind of any task. */
int gt_price_tasks(const char *path, struct gt_workload *workload, const char *name, bool quiet,
                   struct gt_error *error);

#endif
