/* streaming.h - kernels that move bytes as those of frameworks do, and the numbers that they and matrix products work on. To C they are
 * addresses for cudaLaunchKernel; the arguments stand at each. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_STREAMING_H
#define GRIDTIDE_KERNELS_CALIBRATE_STREAMING_H

#include <stdint.h>

#include "kernels/calibrate/calibrate.h"

/* Threads of a block; parts of 16 bytes that a thread adds up in gt_calibrate_sum. */
enum { GT_STREAMING_THREADS = 128, GT_SUM_PARTS = 8 };

/* Parts of 16 bytes of 32-bit numbers.  A thread has one, as in PyTorch's vectorised element-wise kernels: to = 2 one + 1;
 * to = one + other.  Blocks for all parts. */
GT_KERNEL void gt_calibrate_map(const void *one, const void *other, void *to, uint64_t parts);
GT_KERNEL void gt_calibrate_add(const void *one, const void *other, void *to, uint64_t parts);
/* A thread has GT_SUM_PARTS; each block writes the sum of all of its own. */
GT_KERNEL void gt_calibrate_sum(const void *one, const void *other, void *to, uint64_t parts);

/* What gt_calibrate_numbers makes. */
enum gt_number { GT_NUMBER_BF16, GT_NUMBER_FP16, GT_NUMBER_FP32, GT_NUMBERS };
/* `count` numbers around 0 with a variance of 1: sums of four even ones. */
GT_KERNEL void gt_calibrate_numbers(void *to, uint64_t count, uint32_t number);

#endif
