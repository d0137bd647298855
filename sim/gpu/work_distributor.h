/* work_distributor.h - hands out the blocks of grids: arbitration.h says whose is next, placement.h which SM gets
 * it. */
#ifndef GRIDTIDE_SIM_GPU_WORK_DISTRIBUTOR_H
#define GRIDTIDE_SIM_GPU_WORK_DISTRIBUTOR_H

#include "sim/machine/machine.h"

/* A grid has blocks to hand out from now on. When all have ended, and the grid's remainder has passed,
 * gt_grid_handler() is told. */
void gt_distributor_add(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);

/* A grid that has blocks to hand out has them no more. */
void gt_distributor_remove(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);

/* The SMs go on after a stop (time_slices.h): hand out what has come meanwhile. */
void gt_distributor_resume(struct gt_machine *m, gt_gpu_index gpu);

/* All blocks of a batch, which is free already, leave their SM now. */
void gt_blocks_left(struct gt_machine *m, const struct gt_batch *batch);

/* Event: blocks of a batch end, or leave their SM. */
int gt_blocks_handler(void *machine, gt_batch_index batch, uint64_t stamp, struct gt_error *error);

#endif
