/* progress_solve.h - the rates at which a GPU's groups of blocks progress beside each other. */
#ifndef GRIDTIDE_SIM_GPU_PROGRESS_SOLVE_H
#define GRIDTIDE_SIM_GPU_PROGRESS_SOLVE_H

#include "sim/machine/machine.h"

/* Told each group's rate, in the order of SMs. */
typedef void gt_progress_setter(struct gt_machine *m, gt_group_index group, double rate);

/* Work out the rates of all groups of a GPU whose grids with demands are not alone any more. */
void gt_progress_solve(struct gt_machine *m, gt_gpu_index gpu, gt_progress_setter *set);

/* What copies leave of DRAM, as a part of it: those to and from the host read or write it once, those within the device
 * read and write it. */
double gt_progress_dram_left(const struct gt_machine *m, const struct gt_gpu_state *gpu);

#endif
