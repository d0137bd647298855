/* task_kernel.h - kernels whose blocks are workers of a task graph (sim/tasks).
 *
 * Such a block has no cost: it ends when its worker has nothing more to do.
 */
#ifndef GRIDTIDE_SIM_GPU_TASK_KERNEL_H
#define GRIDTIDE_SIM_GPU_TASK_KERNEL_H

#include "sim/machine/machine.h"

/* A grid of such a kernel is to come, whose blocks, a batch each, then become workers.  False: it cannot run, and `error` says why. */
bool gt_task_kernel_begin(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, struct gt_error *error);

/* Event: something is due in the task graphs of a GPU. */
int gt_tasks_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error);

/* The kernels whose workers wait for ever, and for what, as clauses for a message, behind what is in `text`. */
void gt_task_kernels_append_stuck(const struct gt_machine *m, char *text, size_t bytes);

#endif
