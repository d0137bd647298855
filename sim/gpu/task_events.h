/* task_events.h - when a GPU's task graphs go on, and how much of its memory they have. */
#ifndef GRIDTIDE_SIM_GPU_TASK_EVENTS_H
#define GRIDTIDE_SIM_GPU_TASK_EVENTS_H

#include "sim/machine/machine.h"

/* An event for what is due next in the GPU's task graphs, unless one that is as early is there. */
void gt_task_events_schedule(struct gt_machine *m, gt_gpu_index gpu);

/* Tasks that say bytes instead of a time have this part of DRAM from now on; nothing where there are no task graphs. */
void gt_task_events_set_memory_part(struct gt_machine *m, gt_gpu_index gpu, double part);

#endif
