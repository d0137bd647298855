/* steady_state.h - huge grids of equal blocks: waves that are alike are passed over at once.
 *
 * Once the ends of a grid's blocks that are due, what SMs hold and whose turn it is of the GPCs that get clusters are
 * the same as some time before, only later, all goes on as it went since then, again and again.  As long as nothing
 * else is due and blocks are left, such periods are skipped and told as one record (gt_probe.repeat).  What comes out
 * is the same, to the picosecond, the event and the rule that fired, as block by block; a probe without `repeat` gets
 * it block by block.
 */
#ifndef GRIDTIDE_SIM_GPU_STEADY_STATE_H
#define GRIDTIDE_SIM_GPU_STEADY_STATE_H

#include "sim/machine/machine.h"

/* A batch of blocks of a grid was started. */
void gt_steady_state_started(struct gt_machine *m, gt_grid_index grid, const struct gt_block_record *record);
/* The event of a batch of `grid` on `sm` has been handled; at the end of its handler.  May move the clock. */
void gt_steady_state_handled(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm);
void gt_steady_state_free(struct gt_machine *m);

#endif
