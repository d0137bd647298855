/* block_cost.h - what one block costs: the same number to whoever asks, the simulator or a player. */
#ifndef GRIDTIDE_SIM_WORKLOAD_BLOCK_COST_H
#define GRIDTIDE_SIM_WORKLOAD_BLOCK_COST_H

#include "sim/workload/workload.h"

/* The cost of block `block` (linear, in order of dispatch) of operation `op`, whose kernel has a block
 * cost (not GT_COST_NONE).  Ranges are drawn from the run's seed, the operation and the block alone. */
gt_time_ps gt_block_cost_ps(const struct gt_kernel *kernel, uint64_t seed, gt_op_index op, uint64_t block);

/* How much of its work, `cost_ps` in all, a block has done when it comes to barrier number `barrier` over its grid, from 0;
 * grid_barriers: all of it. */
gt_time_ps gt_block_phase_ps(const struct gt_kernel *kernel, gt_time_ps cost_ps, uint32_t barrier);

/* 64 random bits that depend on nothing but these three numbers. */
uint64_t gt_random_bits(uint64_t seed, uint64_t of, uint64_t number);

/* By how much block number `block` ends before the last one, where those from `first` on end at times spread evenly
 * over `most_ps`: the first of them at their end. */
gt_time_ps gt_block_early_ps(gt_time_ps most_ps, uint64_t block, uint64_t first);

#endif
