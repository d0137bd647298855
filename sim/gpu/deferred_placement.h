/* deferred_placement.h - a kernel of the driver's that has the GPU to itself: which SM holds which of its blocks is worked
 * out only when a block of another grid could tell.
 *
 * On an idle GPU policies that place in rounds (placement.h) assign the blocks to the SMs in their order, and these
 * end together; so one event ends all of them, and nothing is kept by SM.  What comes out is the same, to the
 * picosecond and to the order of events, as SM by SM.
 */
#ifndef GRIDTIDE_SIM_GPU_DEFERRED_PLACEMENT_H
#define GRIDTIDE_SIM_GPU_DEFERRED_PLACEMENT_H

#include "sim/machine/machine.h"

/* May it be so with this grid, one of the driver's? */
bool gt_deferred_placement_suits(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);
/* `batch` stands for all its blocks from now on, and the event scheduled last ends it. */
void gt_deferred_placement_begin(struct gt_machine *m, gt_gpu_index gpu, gt_batch_index batch);
/* That batch, of no SM, ends now. */
void gt_deferred_placement_end(struct gt_machine *m, const struct gt_batch *batch);

/* Blocks of this grid are to be placed: the SMs get what they hold, where that matters.  False: they hold so much
 * that none has room. */
bool gt_deferred_placement_make_way(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid);

#endif
