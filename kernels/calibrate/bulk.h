/* bulk.h - the kernels that calibration measures Hopper's own instructions with: bulk copies and
 * matrix products of warp groups. Elsewhere they leave 0 cycles. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_BULK_H
#define GRIDTIDE_KERNELS_CALIBRATE_BULK_H

#include <stdint.h>

#include "kernels/calibrate/calibrate.h"

enum { GT_BULK_MOST_BYTES = 16384, GT_WGMMA_MANY = 16 };

/* One thread copies `bytes`, GT_BULK_MOST_BYTES at most, from from + blockIdx.x * apart to shared memory and
 * waits for them, `rounds` times: cycles[block * rounds + round], from the copy's issue on. */
GT_KERNEL void gt_calibrate_bulk(const char *from, uint64_t apart, uint32_t bytes, uint32_t rounds, uint32_t *cycles);

/* A warp group multiplies m64n128k16 once before it waits, or `many` times GT_WGMMA_MANY times (1 or 2),
 * `rounds` times: cycles[block]. */
GT_KERNEL void gt_calibrate_wgmma(uint32_t many, uint32_t rounds, uint64_t *cycles);

#endif
