/* grid.h - kernels: bars, or grids of blocks; at most so many grids are resident at once. */
#ifndef GRIDTIDE_SIM_GPU_GRID_H
#define GRIDTIDE_SIM_GPU_GRID_H

#include "sim/machine/machine.h"

/* The gt_op_rule of kernels. */
void gt_kernel_start(struct gt_machine *m, gt_command_index command);
void gt_kernel_ended(struct gt_machine *m, gt_command_index command);

/* A grid of any sort, a kernel's or one of the driver's own, becomes resident, or waits until there is a place.
 * gt_kernel_ended() tells of its end. */
void gt_grid_admit(struct gt_machine *m, gt_command_index command);

/* One that was resident, `op`'s, is so no more: the next may be. */
void gt_kernel_left(struct gt_machine *m, gt_gpu_index gpu, gt_op_index op);
/* `op`, which held them back, lets kernels that wait become resident. */
void gt_kernels_go_on(struct gt_machine *m, gt_gpu_index gpu, gt_op_index op);

/* Event: the remainder after a grid's last block has passed. */
int gt_grid_handler(void *machine, gt_grid_index grid, uint64_t stamp, struct gt_error *error);

#endif
