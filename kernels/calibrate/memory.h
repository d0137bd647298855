/* memory.h - the kernels that calibration measures memory with. To C they are addresses for
 * cudaLaunchKernel; the arguments stand at each. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_MEMORY_H
#define GRIDTIDE_KERNELS_CALIBRATE_MEMORY_H

#include <stdint.h>

#include "kernels/calibrate/calibrate.h"

/* A ring of pointers: node i lies at i * stride_bytes, and, if `shuffle`, 128 * (i % shuffle) bytes behind
 * that. It points to node i * factor + 1, modulo `nodes`, a power of two; with factor 1 to the next one, with
 * another that is 1 modulo 4 all are visited in some order too. */
GT_KERNEL void gt_calibrate_ring(char *ring, uint64_t stride_bytes, uint64_t nodes, uint64_t factor,
                                 uint32_t shuffle);

/* One thread a block walks the ring from its first node on: `warm` steps, then `steps` that are timed, each in
 * latencies[block * steps + step] where that is not NULL (by clock readings around it); cycles[block] is for
 * all of them. Loads pass L1 by if `l2`. */
GT_KERNEL void gt_calibrate_walk(char *ring, uint32_t warm, uint32_t steps, uint32_t l2, uint32_t *latencies,
                                 uint64_t *cycles);

/* Blocks read, write or copy all of `bytes`, `rounds` times, in parts of 16 bytes a thread; the log says
 * when. */
GT_KERNEL void gt_calibrate_read(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                 uint32_t rounds);
GT_KERNEL void gt_calibrate_write(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                  uint32_t rounds);
GT_KERNEL void gt_calibrate_copy(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                 uint32_t rounds);
/* A sector of every line. */
GT_KERNEL void gt_calibrate_sectors(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                    uint32_t rounds);
/* Sectors in no order: bytes / 128 of them in all. */
GT_KERNEL void gt_calibrate_scattered(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                      uint32_t rounds);
/* One lane of each warp adds to one word, `rounds` times; or each warp to a word of its own. */
GT_KERNEL void gt_calibrate_hot(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                uint32_t rounds);

#endif
