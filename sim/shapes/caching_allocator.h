/* caching_allocator.h - PyTorch's caching allocator: what it reserves of a GPU's memory for what a program allocates.
 *
 * The rules are those of PyTorch 2 (c10/cuda/CUDACachingAllocator.cpp; "Memory management" in PyTorch's "CUDA semantics") without
 * options in PYTORCH_CUDA_ALLOC_CONF:
 *   - Sizes are rounded up to blocks.  Small ones and large ones have a pool each.
 *   - A free block is reused if it is large enough, the smallest first, of equal ones that at the lowest address.
 *   - Where none is, the allocator gets a segment from the driver (cudaMalloc): 2 MiB for a small size, 20 MiB for one below
 *     10 MiB, else the size rounded up to 2 MiB.
 *   - What is left of a block is split off: in the small pool whatever is left, in the large pool what is more than 1 MiB.
 *   - A block that is freed merges with its free neighbours in the segment.
 *   - If the driver has no memory left, the segments that are wholly free go back to it, and it is asked again.
 * All allocations are taken to be of one stream: a profile does not tell streams.
 */
#ifndef GRIDTIDE_SIM_SHAPES_CACHING_ALLOCATOR_H
#define GRIDTIDE_SIM_SHAPES_CACHING_ALLOCATOR_H

#include <stdint.h>

/* Names there: kMinBlockSize, kSmallSize, kSmallBuffer, kMinLargeAlloc, kLargeBuffer, kRoundLarge. */
enum {
    GT_BLOCK_BYTES = 512,     /* sizes are rounded up to this */
    GT_SMALL_BYTES = 1 << 20, /* up to this a size is small; no more than this is left in a large block */
    GT_SMALL_SEGMENT_BYTES = 2 << 20,
    GT_SHARED_BELOW_BYTES = 10 << 20, /* below this a large size gets a segment for several */
    GT_SHARED_SEGMENT_BYTES = 20 << 20,
    GT_SEGMENT_UNIT_BYTES = 2 << 20 /* a segment for a larger size is rounded up to this */
};

struct gt_caching_allocator;
struct gt_cached_block;

/* Of a driver that has `available_bytes` for it.  gt_caching_allocator_free() ends it and all its blocks. */
struct gt_caching_allocator *gt_caching_allocator_new(uint64_t available_bytes);
void gt_caching_allocator_free(struct gt_caching_allocator *allocator);

/* Allocate at least so many bytes (at most 2^62).  The block is the allocator's; NULL: out of memory. */
struct gt_cached_block *gt_block_take(struct gt_caching_allocator *allocator, uint64_t bytes);
void gt_block_give_back(struct gt_caching_allocator *allocator, struct gt_cached_block *block);

/* The most bytes that its segments had at a time: torch.cuda.max_memory_reserved(). */
uint64_t gt_most_reserved_bytes(const struct gt_caching_allocator *allocator);

#endif
