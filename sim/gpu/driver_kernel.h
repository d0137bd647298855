/* driver_kernel.h - copies within the device and memsets that the driver does with kernels of its own. */
#ifndef GRIDTIDE_SIM_GPU_DRIVER_KERNEL_H
#define GRIDTIDE_SIM_GPU_DRIVER_KERNEL_H

#include "sim/machine/machine.h"

/* Is this operation, a copy within the device or a memset, a kernel here?  Not where blocks are not simulated,
 * nor a memset so small that a copy engine does it (copy.engine_memset_bytes). */
bool gt_driver_kernel_runs(struct gt_machine *m, gt_command_index command);

/* The blocks of that kernel: fills `grid`, which belongs to the command.  False where the device has no room for
 * one of them: the operation needs no SM then. */
bool gt_driver_kernel_describe(const struct gt_machine *m, struct gt_grid *grid);

/* So many of its blocks start now, at once: what each takes is in grid->block_ps then. Bandwidth is what holds back all
 * of them, their own waiting for memory what holds back few. */
void gt_driver_kernel_placed(struct gt_grid *grid, uint64_t blocks);

/* Its last block has left: how long until the operation is over. The memory has one rate for all of them. */
gt_time_ps gt_driver_kernel_remainder_ps(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid);

#endif
