/* code.h - the kernels that calibration measures instructions with that are no arithmetic:
 * barriers, fences, jumps, code and constants that no cache has. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_CODE_H
#define GRIDTIDE_KERNELS_CALIBRATE_CODE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "kernels/calibrate/calibrate.h"

enum {
    GT_CODE_BODY = 32,      /* instructions of a kind in a trip of the loops below */
    GT_CODE_LINES = 192,    /* clock readings of gt_calibrate_lines, one every 8 instructions */
    GT_CODE_CONSTANTS = 64, /* of gt_calibrate_constants, 256 bytes apart */
    GT_CODE_CONSTANT_WORDS = 64,
    GT_CODE_JUMPS = 4,      /* of gt_calibrate_jump, */
    GT_CODE_SKIPPED = 12,   /* and instructions that each skips */
    GT_CODE_FAR_JUMPS = 16, /* of gt_calibrate_far, and instructions that each skips */
    GT_CODE_FAR_SKIPPED = 250,
    GT_CODE_WAIT_INSTRUCTIONS = 6 /* of a trip of gt_calibrate_wait on Hopper, but the one that counts it */
};

/* `kind` of gt_calibrate_sync. */
enum gt_sync_kind { GT_SYNC_BARRIER, GT_SYNC_FENCE, GT_SYNC_CLUSTER };

/* `trips` times GT_CODE_BODY of a kind; cycles[block]. */
GT_KERNEL void gt_calibrate_sync(uint32_t kind, uint32_t trips, uint64_t *cycles);

/* `trips` times GT_CODE_JUMPS branches, or twice as many if `longer`, over GT_CODE_SKIPPED instructions each:
 * taken if masks is 15, not if it is 0.  `straight`: what they skip without the branches.  cycles[block]. */
GT_KERNEL void gt_calibrate_jump(uint32_t masks, uint32_t trips, uint32_t straight, uint32_t longer,
                                 uint64_t *cycles);

/* GT_CODE_FAR_JUMPS branches over GT_CODE_FAR_SKIPPED instructions each, then all again: cycles[block * 2]
 * and the next. */
GT_KERNEL void gt_calibrate_far(uint32_t masks, uint64_t *cycles);

/* Read the clock in a loop for `wanted` cycles: cycles[block], trips[block]. */
GT_KERNEL void gt_calibrate_wait(uint64_t wanted, uint64_t *cycles, uint64_t *trips);

/* A special register read and stored, `trips` times, and a value stored that was there: the cycles of either
 * in cycles[block * 2] and the next. */
GT_KERNEL void gt_calibrate_special(uint32_t trips, uint64_t *cycles);

/* The clock at GT_CODE_LINES places of code without branches, twice. */
GT_KERNEL void gt_calibrate_lines(uint32_t *clocks, float seed);

/* The clock before each of GT_CODE_CONSTANTS constants, each of which says where the next is, and behind the
 * last, twice; of words below `mask`, one less than a power of two. */
GT_KERNEL void gt_calibrate_constants(uint32_t *clocks, uint32_t mask);
/* The places of the constants; after that no cache has them. */
#ifdef __cplusplus
extern "C"
#endif
    cudaError_t
    gt_calibrate_fill_constants(void);

#endif
