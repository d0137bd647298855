/* task_costs.h - what tasks take that say no time: option --task-costs, a table, and the programs of their kinds. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_TASK_COSTS_H
#define GRIDTIDE_SIM_CMD_INPUT_TASK_COSTS_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* Tasks of `workload`, called `name` in messages, that say no time take it from the table at `path` (NULL: there is none),
 * then from the programs of their kinds, run on `device`; what came of it is said unless `quiet`.  -1 where the table
 * cannot be read or has no kind of any task, or a program cannot be run. */
int gt_price_tasks(const char *path, struct gt_workload *workload, const struct gt_device *device, const char *name,
                   bool quiet, struct gt_error *error);

#endif
