/* batches.h - batches: equal blocks of a grid that start together on an SM, and what is due for them. */
#ifndef GRIDTIDE_SIM_GPU_BATCHES_H
#define GRIDTIDE_SIM_GPU_BATCHES_H

#include "sim/machine/machine.h"

enum { GT_STAMP_END, GT_STAMP_LEAVE }; /* what is due for a batch: its blocks end, or leave their SM */

/* Blocks from `first` on start on an SM that gt_sm_promise() has found for them; `behind` others have left the
 * distributor at this time before them. */
void gt_batch_start(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm, uint32_t blocks,
                    uint64_t first, uint64_t behind);
/* All blocks of a grid start at once on a GPU that is idle (placement.h). */
void gt_batch_start_deferred(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);

/* The blocks of a batch whose end nobody knew at its start have ended, now: tell the probe. */
void gt_batch_tell_ended(struct gt_machine *m, const struct gt_batch *batch);
/* What the grid's block of that number takes, alone. */
gt_time_ps gt_batch_cost_ps(const struct gt_machine *m, const struct gt_grid *grid, uint64_t block);
/* The blocks of a batch that has started end then: they are told to the probe. */
void gt_batch_due(struct gt_machine *m, gt_batch_index batch, gt_time_ps end_ps);

/* An event for a batch.  What is due for batches of one grid at one time, scheduled one right after the other, shares
 * a place in the heap. */
void gt_batch_schedule(struct gt_machine *m, gt_batch_index batch, gt_time_ps due_ps, uint64_t stamp);
/* The batch whose event shares the place of this one's (machine.h). */
gt_batch_index gt_batch_take_next(void *machine, gt_batch_index batch);

#endif
