/* grid_reset.h - a kernel is taken off the GPU: what its blocks have done is lost, and it runs again from its beginning. */
#ifndef GRIDTIDE_SIM_GPU_GRID_RESET_H
#define GRIDTIDE_SIM_GPU_GRID_RESET_H

#include "sim/machine/machine.h"

/* Its blocks leave their SMs now, or it waits no more to become resident: gt_kernel_start() begins it anew, and gt_distributor_resume()
 * gives the places to others.  False, and nothing is done, where it has not come to the GPU, is nearly over, is part of a graph or in time
 * slices, or its blocks wait for each other, share memory with others' or launch kernels. */
bool gt_grid_reset(struct gt_machine *m, gt_command_index command);

#endif
