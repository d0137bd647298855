/* sm.h - what fits on an SM beside what it holds. */
#ifndef GRIDTIDE_SIM_GPU_SM_H
#define GRIDTIDE_SIM_GPU_SM_H

#include "sim/machine/machine.h"

/* Keep free_blocks of the GPU's SMs (gt_gpu_state) for this shape of block from now on. */
void gt_sm_find_free_blocks(struct gt_machine *m, gt_gpu_index gpu, const struct gt_block_need *need);

/* Its partition (sm_partitions.h) gets no further SM: those that have no block of it have no room either. */
void gt_sm_keep_to_used(struct gt_machine *m, gt_gpu_index gpu);

/* One block of that shape will come to an SM that has room for it: it counts no more as free. */
void gt_sm_promise(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm);

/* The SMs with room for the most get a block each, in as many rounds as those are the same SMs and there are so many
 * blocks, `at_most` at most: the bits of `round` are their ranks.  Returns the rounds; 0, and nothing promised, where
 * there are fewer blocks, or no room. */
uint32_t gt_sm_promise_rounds(struct gt_machine *m, gt_gpu_index gpu, uint64_t blocks, uint32_t at_most,
                              uint64_t round[GT_FREE_BLOCK_WORDS]);

/* So many blocks come that were promised, and `odd_warps`, zeroed, gets by sub-partition how many of their warps are
 * there beyond an equal share.  So many equal blocks leave it, with these of their warps. */
void gt_sm_allocate(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need,
                    uint32_t blocks, uint8_t *odd_warps);
void gt_sm_release(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need,
                   uint32_t blocks, const uint8_t *odd_warps);

/* Would an SM that holds nothing now but so many blocks of that shape have room for one of the other? */
bool gt_sm_has_room_beside(struct gt_machine *m, gt_gpu_index gpu, const struct gt_block_need *there, uint32_t blocks,
                           const struct gt_block_need *need);

/* Blocks have come, unpromised, to so many SMs, the first of the order. */
void gt_sm_changed(struct gt_machine *m, gt_gpu_index gpu, uint32_t sms);

/* One block of a batch is to leave: of the batch's odd warps the block's move into `odd_warps`, zeroed. */
void gt_sm_take_block(struct gt_batch *batch, const struct gt_device *device, uint32_t warps, uint8_t *odd_warps);

#endif
