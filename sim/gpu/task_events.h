/* task_events.h - when a GPU's task graphs go on, and how much of its memory they have. */
#ifndef GRIDTIDE_SIM_GPU_TASK_EVENTS_H
#define GRIDTIDE_SIM_GPU_TASK_EVENTS_H

#include "sim/machine/machine.h"

/* An event for what is due next in the GPU's task graphs, unless one that is as early is there. */
void gt_task_events_schedule(struct gt_machine *m, gt_gpu_index gpu);

/* A copy has begun or ended: tasks that say bytes instead of a time have what copies leave of DRAM. */
void gt_task_events_copies_changed(struct gt_machine *m, gt_gpu_index gpu);

#endif
