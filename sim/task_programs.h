/* task_programs.h - what a task takes whose kind has a program and says no time. */
#ifndef GRIDTIDE_SIM_TASK_PROGRAMS_H
#define GRIDTIDE_SIM_TASK_PROGRAMS_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* One block of the kind's program on `device`, alone on its SM while all SMs run such blocks: that is its workers' case
 * where the kernel has a block an SM.  Kinds get it as their time, for good.  Returns how many; -1 where the program of a
 * kind cannot be run, with its name. */
int gt_time_task_programs(struct gt_workload *workload, const struct gt_device *device, struct gt_error *error);

#endif
