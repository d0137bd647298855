/* collective_kernel.h - kernels that are ranks' parts of collectives (sim/workload/collective.h).
 *
 * A part has come when all its blocks are on SMs: each block works with the one of its number on the other GPUs.  When the
 * last part of an instance has come its data begins to move; until it has, all blocks of all its parts hold their SMs.  How
 * long that takes: the least that was recorded, or is stated, of any of its parts, for that one waited least; else by the
 * device file (sim/collectives/cost.h).
 */
#ifndef GRIDTIDE_SIM_GPU_COLLECTIVE_KERNEL_H
#define GRIDTIDE_SIM_GPU_COLLECTIVE_KERNEL_H

#include "sim/machine/machine.h"

/* Who belongs together: before the run, and after it. */
void gt_collectives_build(struct gt_machine *m);
void gt_collectives_free(struct gt_machine *m);

/* Is the operation a part of a collective? Not where operations run one at a time: there nobody could meet. */
bool gt_collective_is(const struct gt_machine *m, gt_op_index op);
/* The kernel with the shape that it has on the machine's device. */
struct gt_kernel gt_collective_shaped(const struct gt_machine *m, gt_op_index op);

/* The grid, whose blocks are handed out from now on, is such a part. */
void gt_collective_begin(struct gt_machine *m, gt_grid_index grid);
/* A kernel that is played as a bar begins its part of the collective. */
void gt_collective_bar(struct gt_machine *m, gt_command_index command);

/* Nothing more can happen: append to `text` who waits for whom.  Returns how many parts wait. */
uint32_t gt_collective_deadlocks(const struct gt_machine *m, char *text, size_t bytes);

#endif
