#include "sim/check/memory.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/sorted.h"

struct gt_memory_map {
    const struct gt_workload *w;
    struct gt_sorted *spaces; /* their segments, which leave no gap, by where they begin */
    uint32_t space_count;
    uint32_t *space_of; /* by buffer */
    uint32_t *order;    /* buffers with an address, by memory and address */
    uint32_t order_count;
    uint32_t unknown; /* the space of memory that no buffer is known of */
};

/* Memory that an address is of: the host's, or a GPU's. */
static uint32_t side_of(const struct gt_buffer *buffer)
{
    return buffer->memory == GT_MEMORY_DEVICE ? 1 + buffer->gpu : 0;
}

static int by_place(const void *a, const void *b, void *user)
{
    const struct gt_buffer *buffers = user;
    const struct gt_buffer *left = &buffers[*(const uint32_t *)a], *right = &buffers[*(const uint32_t *)b];

    if (side_of(left) != side_of(right))
        return side_of(left) < side_of(right) ? -1 : 1;
    return (left->address > right->address) - (left->address < right->address);
}

static uint64_t end_of(uint64_t from, uint64_t bytes)
{
    return bytes == 0 || bytes > UINT64_MAX - from ? UINT64_MAX : from + bytes;
}

static struct gt_segment *add_segment(struct gt_sorted *space, uint64_t from, uint64_t to)
{
    struct gt_segment *segment = gt_calloc(1, sizeof *segment);

    *segment = (struct gt_segment){
        .from = from, .to = to, .write = { .op = GT_NONE, .buffer = GT_NONE }, .freed = GT_NONE
    };
    gt_sorted_add(space, from, segment);
    return segment;
}

/* Buffers whose addresses overlap share a space: sweep them in the order of addresses. */
static void find_spaces(struct gt_memory_map *map)
{
    const struct gt_workload *w = map->w;
    uint64_t end = 0;

    for (uint32_t i = 0; i < w->buffer_count; i++)
        if (w->buffers[i].address != GT_ADDRESS_NONE)
            map->order[map->order_count++] = i;
        else
            map->space_of[i] = map->space_count++;
    qsort_r(map->order, map->order_count, sizeof *map->order, by_place, w->buffers);
    for (uint32_t i = 0; i < map->order_count; i++) {
        const struct gt_buffer *buffer = &w->buffers[map->order[i]];
        const struct gt_buffer *before = i > 0 ? &w->buffers[map->order[i - 1]] : NULL;
        bool joined = before != NULL && side_of(before) == side_of(buffer) &&
                      (buffer->address < end || buffer->address == before->address);

        if (!joined)
            end = 0;
        map->space_of[map->order[i]] = joined ? map->space_of[map->order[i - 1]] : map->space_count++;
        if (end_of(buffer->address, buffer->bytes) > end)
            end = end_of(buffer->address, buffer->bytes);
    }
}

struct gt_memory_map *gt_memory_new(const struct gt_workload *w)
{
    struct gt_memory_map *map = gt_calloc(1, sizeof *map);

    map->w = w;
    map->space_of = gt_calloc(w->buffer_count + 1ull, sizeof *map->space_of);
    map->order = gt_calloc(w->buffer_count + 1ull, sizeof *map->order);
    find_spaces(map);
    map->unknown = map->space_count++;
    map->spaces = gt_calloc(map->space_count, sizeof *map->spaces);
    for (uint32_t i = 0; i < map->space_count; i++)
        add_segment(&map->spaces[i], 0, UINT64_MAX);
    return map;
}

static void free_segment(void *node)
{
    struct gt_segment *segment = node;

    free(segment->reads);
    free(segment);
}

void gt_memory_end(struct gt_memory_map *map)
{
    for (uint32_t i = 0; i < map->space_count; i++)
        gt_sorted_end(&map->spaces[i], free_segment);
    free(map->spaces);
    free(map->space_of);
    free(map->order);
    free(map);
}

/* The side of a copy that an access without a buffer is of. */
static uint32_t side_of_access(const struct gt_workload *w, const struct gt_op *op, bool writes)
{
    if (op->kind == GT_OP_COPY &&
        ((op->direction == GT_H2D && !writes) || (op->direction == GT_D2H && writes) || op->direction == GT_H2H))
        return 0;
    return 1 + w->streams[op->stream].gpu;
}

/* The space of the buffer that has that address; memory without one is all together. */
static uint32_t space_at(const struct gt_memory_map *map, uint32_t side, uint64_t address)
{
    const struct gt_buffer *buffers = map->w->buffers;
    uint32_t low = 0, high = map->order_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_buffer *buffer = &buffers[map->order[middle]];

        if (side_of(buffer) < side || (side_of(buffer) == side && buffer->address <= address))
            low = middle + 1;
        else
            high = middle;
    }
    /* A space's buffers stand together, so that the nearest one below, if any, is of the space. */
    for (uint32_t i = low; i-- > 0 && map->space_of[map->order[i]] == map->space_of[map->order[low - 1]];) {
        const struct gt_buffer *buffer = &buffers[map->order[i]];

        if (side_of(buffer) == side && address < end_of(buffer->address, buffer->bytes))
            return map->space_of[map->order[i]];
    }
    return map->unknown;
}

/* `bytes` of a buffer from `offset` on; 0: all there are. */
static struct gt_memory_range part_of(const struct gt_memory_map *map, gt_buffer_index index, uint64_t offset,
                                      uint64_t bytes)
{
    const struct gt_buffer *buffer = &map->w->buffers[index];
    struct gt_memory_range range = { .space = map->space_of[index] };

    range.from = (buffer->address != GT_ADDRESS_NONE ? buffer->address : 0) + offset;
    range.to = end_of(range.from, bytes == 0 && buffer->bytes > offset ? buffer->bytes - offset : bytes);
    return range;
}

struct gt_memory_range gt_memory_of_access(const struct gt_memory_map *map, const struct gt_op *op,
                                           const struct gt_buffer_access *access)
{
    struct gt_memory_range range;

    if (access->buffer != GT_NONE)
        return part_of(map, access->buffer, access->offset, access->bytes);
    range.space = space_at(map, side_of_access(map->w, op, access->writes), access->offset);
    range.from = access->offset < UINT64_MAX ? access->offset : UINT64_MAX - 1; /* the end of all there is */
    range.to = end_of(range.from, access->bytes);
    return range;
}

struct gt_memory_range gt_memory_of_buffer(const struct gt_memory_map *map, gt_buffer_index index)
{
    return part_of(map, index, 0, 0);
}

/* A segment begins at that byte, which is not the last of the space. */
static struct gt_segment *cut(struct gt_sorted *space, uint64_t byte)
{
    struct gt_segment *left = gt_sorted_find(space, byte), *right;
    uint64_t to = left->to;

    if (left->from == byte)
        return left;
    left->to = byte; /* what stays in the tree keeps its place */
    right = add_segment(space, byte, to);
    right->write = left->write;
    right->freed = left->freed;
    for (uint32_t i = 0; i < left->read_count; i++)
        gt_segment_add_read(right, left->reads[i]);
    return right;
}

void gt_memory_visit(struct gt_memory_map *map, struct gt_memory_range range,
                     void (*visit)(void *user, struct gt_segment *segment), void *user)
{
    struct gt_sorted *space = &map->spaces[range.space];
    struct gt_segment *segment = cut(space, range.from);

    if (range.to < segment->to)
        cut(space, range.to);
    for (;;) {
        visit(user, segment);
        if (segment->to >= range.to)
            return;
        if (segment->to < range.to) {
            segment = gt_sorted_find(space, segment->to);
            if (segment->to > range.to)
                cut(space, range.to);
        }
    }
}

void gt_memory_merge(struct gt_memory_map *map, struct gt_memory_range range)
{
    struct gt_sorted *space = &map->spaces[range.space];
    struct gt_segment *first = gt_sorted_find(space, range.from);

    while (first->to < range.to) {
        struct gt_segment *next = gt_sorted_find(space, first->to);
        uint64_t to = next->to;

        gt_sorted_remove(space, next->from);
        free_segment(next);
        first->to = to;
    }
}

void gt_segment_clear_reads(struct gt_segment *segment)
{
    segment->read_count = 0;
}

void gt_segment_add_read(struct gt_segment *segment, struct gt_memory_touch touch)
{
    gt_array_grow(segment->reads, segment->read_count, segment->read_room);
    segment->reads[segment->read_count++] = touch;
}
