#include "sim/shapes/caching_allocator.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

/* A part of a segment; its neighbours there are `before` and `after`. */
struct gt_cached_block {
    uint64_t bytes;
    uint64_t segment, offset; /* number of its segment, from 1; place there, in bytes */
    struct gt_cached_block *before, *after;
    bool free, small; /* in the small pool */
};

/* Free blocks, by size, those of a size by address.  A driver gives out falling addresses: those of a later segment are lower. */
struct pool {
    struct gt_cached_block **blocks;
    uint32_t count, room;
};

struct gt_caching_allocator {
    uint64_t available, reserved, most_reserved;
    uint64_t segments_made;
    struct pool large, small;
    struct gt_cached_block **segments; /* the first block of each, which stays its first */
    uint32_t segment_count, segment_room;
};

struct gt_caching_allocator *gt_caching_allocator_new(uint64_t available_bytes)
{
    struct gt_caching_allocator *allocator = gt_calloc(1, sizeof *allocator);

    allocator->available = available_bytes;
    return allocator;
}

void gt_caching_allocator_free(struct gt_caching_allocator *allocator)
{
    for (uint32_t i = 0; i < allocator->segment_count; i++)
        for (struct gt_cached_block *block = allocator->segments[i], *after; block != NULL; block = after) {
            after = block->after;
            free(block);
        }
    free(allocator->segments);
    free(allocator->large.blocks);
    free(allocator->small.blocks);
    free(allocator);
}

static struct pool *pool_of(struct gt_caching_allocator *allocator, bool small)
{
    return small ? &allocator->small : &allocator->large;
}

static bool is_before(const struct gt_cached_block *one, const struct gt_cached_block *other)
{
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes;
    return one->segment != other->segment ? one->segment > other->segment : one->offset < other->offset;
}

static uint32_t place_of(const struct pool *pool, const struct gt_cached_block *block)
{
    return GT_LOWER_BOUND(at, 0u, pool->count, is_before(pool->blocks[at], block));
}

static void add_free(struct gt_caching_allocator *allocator, struct gt_cached_block *block)
{
    struct pool *pool = pool_of(allocator, block->small);
    uint32_t place = place_of(pool, block);

    gt_array_grow(pool->blocks, pool->count, pool->room);
    memmove(&pool->blocks[place + 1], &pool->blocks[place], (pool->count - place) * sizeof *pool->blocks);
    pool->blocks[place] = block;
    pool->count++;
    block->free = true;
}

static void remove_free(struct gt_caching_allocator *allocator, struct gt_cached_block *block)
{
    struct pool *pool = pool_of(allocator, block->small);
    uint32_t place = place_of(pool, block);

    pool->count--;
    memmove(&pool->blocks[place], &pool->blocks[place + 1], (pool->count - place) * sizeof *pool->blocks);
    block->free = false;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t segment_bytes(uint64_t bytes)
{
    if (bytes <= GT_SMALL_BYTES)
        return GT_SMALL_SEGMENT_BYTES;
    return bytes < GT_SHARED_BELOW_BYTES ? GT_SHARED_SEGMENT_BYTES : round_up(bytes, GT_SEGMENT_UNIT_BYTES);
}

static bool is_wholly_free(const struct gt_cached_block *segment)
{
    return segment->free && segment->after == NULL;
}

static void release_free_segments(struct gt_caching_allocator *allocator)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < allocator->segment_count; i++) {
        struct gt_cached_block *segment = allocator->segments[i];

        if (!is_wholly_free(segment)) {
            allocator->segments[kept++] = segment;
            continue;
        }
        remove_free(allocator, segment);
        allocator->reserved -= segment->bytes;
        free(segment);
    }
    allocator->segment_count = kept;
}

static struct gt_cached_block *add_segment(struct gt_caching_allocator *allocator, uint64_t bytes)
{
    uint64_t whole = segment_bytes(bytes);
    struct gt_cached_block *segment;

    if (whole > allocator->available - allocator->reserved)
        release_free_segments(allocator);
    if (whole > allocator->available - allocator->reserved)
        return NULL;
    segment = gt_calloc(1, sizeof *segment);
    *segment = (struct gt_cached_block){ .bytes = whole,
                                         .segment = ++allocator->segments_made,
                                         .small = bytes <= GT_SMALL_BYTES };
    gt_array_grow(allocator->segments, allocator->segment_count, allocator->segment_room);
    allocator->segments[allocator->segment_count++] = segment;
    allocator->reserved += whole;
    if (allocator->reserved > allocator->most_reserved)
        allocator->most_reserved = allocator->reserved;
    return segment;
}

/* Split off what the block has more than `bytes`, if it is enough. */
static void split(struct gt_caching_allocator *allocator, struct gt_cached_block *block, uint64_t bytes)
{
    uint64_t left = block->bytes - bytes;
    struct gt_cached_block *rest;

    if (block->small ? left < GT_BLOCK_BYTES : left <= GT_SMALL_BYTES)
        return;
    rest = gt_calloc(1, sizeof *rest);
    *rest = (struct gt_cached_block){ .bytes = left,
                                      .segment = block->segment,
                                      .offset = block->offset + bytes,
                                      .before = block,
                                      .after = block->after,
                                      .small = block->small };
    if (rest->after != NULL)
        rest->after->before = rest;
    block->after = rest;
    block->bytes = bytes;
    add_free(allocator, rest);
}

struct gt_cached_block *gt_block_take(struct gt_caching_allocator *allocator, uint64_t bytes)
{
    uint64_t rounded = round_up(bytes > 0 ? bytes : 1, GT_BLOCK_BYTES);
    struct pool *pool = pool_of(allocator, rounded <= GT_SMALL_BYTES);
    uint32_t place = place_of(pool, &(struct gt_cached_block){ .bytes = rounded, .segment = UINT64_MAX });
    struct gt_cached_block *block;

    if (place < pool->count) {
        block = pool->blocks[place];
        remove_free(allocator, block);
    } else {
        block = add_segment(allocator, rounded);
        if (block == NULL)
            return NULL;
    }
    split(allocator, block, rounded);
    return block;
}

/* `second` follows `first`, both are free and in no pool: `first` has the bytes of both. */
static void merge(struct gt_cached_block *first, struct gt_cached_block *second)
{
    first->bytes += second->bytes;
    first->after = second->after;
    if (first->after != NULL)
        first->after->before = first;
    free(second);
}

void gt_block_give_back(struct gt_caching_allocator *allocator, struct gt_cached_block *block)
{
    struct gt_cached_block *before = block->before;

    if (block->after != NULL && block->after->free) {
        remove_free(allocator, block->after);
        merge(block, block->after);
    }
    if (before != NULL && before->free) {
        remove_free(allocator, before);
        merge(before, block);
        block = before;
    }
    add_free(allocator, block);
}

uint64_t gt_most_reserved_bytes(const struct gt_caching_allocator *allocator)
{
    return allocator->most_reserved;
}
