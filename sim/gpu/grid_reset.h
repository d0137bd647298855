/* grid_reset.h - a kernel is taken off the GPU: what its blocks have done is lost, and it runs again from its beginning. */
#ifndef GRIDTIDE_SIM_GPU_GRID_RESET_H
#define GRIDTIDE_SIM_GPU_GRID_RESET_H

#include "sim/machine/machine.h"

/* Its blocks leave their SMs now, and others get the places; gt_kernel_start() begins it anew.  False, and nothing is done, where it has not begun
 * or is nearly over, or its blocks wait for each other, share something with others' or launch kernels. */
bool gt_grid_reset(struct gt_machine *m, gt_command_index command);

#endif
