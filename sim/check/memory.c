#include "sim/check/memory.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/processes.h"

struct gt_memory_map {
    const struct gt_workload *w;
    struct gt_segments *spaces; /* their segments, which leave no gap, by where they begin */
    uint32_t space_count;
    uint32_t *space_of; /* by buffer */
    uint32_t *owner;    /* by buffer: the process that speaks of it first */
    uint32_t *order;    /* buffers with an address, by process, memory and address */
    uint32_t order_count;
    uint32_t *processes; /* gt_thread_processes() */
    uint32_t unknown; /* the first space of memory that no buffer is known of: one a process, by its first thread */
};

/* Memory that an address is of: the host's, or a GPU's. */
static uint32_t side_of(const struct gt_buffer *buffer)
{
    return buffer->memory == GT_MEMORY_DEVICE ? 1 + buffer->gpu : 0;
}

/* Where an address is: equal ones of two processes are two places. */
struct place {
    uint32_t owner, side;
    uint64_t address;
};

static struct place place_of(const struct gt_memory_map *map, gt_buffer_index index)
{
    const struct gt_buffer *buffer = &map->w->buffers[index];

    return (struct place){ map->owner[index], side_of(buffer), buffer->address };
}

static int compare_places(const struct place *a, const struct place *b)
{
    GT_ORDER(a->owner, b->owner);
    GT_ORDER(a->side, b->side);
    GT_ORDER(a->address, b->address);
    return 0;
}

static int by_place(const void *left, const void *right, void *map)
{
    struct place a = place_of(map, *(const gt_buffer_index *)left),
                 b = place_of(map, *(const gt_buffer_index *)right);

    return compare_places(&a, &b);
}

static void own(struct gt_memory_map *map, gt_buffer_index buffer, gt_thread_index thread)
{
    if (buffer != GT_NONE && map->owner[buffer] == GT_NONE)
        map->owner[buffer] = map->processes[thread];
}

/* A buffer that nobody names may still be what an address is of: of who works on its GPU first, or on any. */
static void own_unnamed(struct gt_memory_map *map, const gt_thread_index *first)
{
    const struct gt_workload *w = map->w;

    for (gt_buffer_index i = 0; i < w->buffer_count && w->thread_count > 0; i++) {
        gt_thread_index thread = w->buffers[i].memory == GT_MEMORY_DEVICE ? first[w->buffers[i].gpu] : GT_NONE;

        own(map, i, thread != GT_NONE ? thread : 0);
    }
}

static void find_owners(struct gt_memory_map *map)
{
    const struct gt_workload *w = map->w;
    gt_thread_index *first = gt_realloc(NULL, w->gpu_count + 1ull, sizeof *first); /* that works on a GPU */

    memset(map->owner, 0xff, (w->buffer_count + 1ull) * sizeof *map->owner); /* GT_NONE */
    memset(first, 0xff, (w->gpu_count + 1ull) * sizeof *first);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        own(map, call->buffer, call->thread);
        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
            gt_gpu_index gpu = w->streams[w->ops[op].stream].gpu;

            first[gpu] = first[gpu] == GT_NONE ? call->thread : first[gpu];
            for (uint32_t j = 0; j < w->ops[op].accesses; j++)
                own(map, w->accesses[w->ops[op].first_access + j].buffer, call->thread);
        }
    }
    own_unnamed(map, first);
    free(first);
}

static uint64_t end_of(uint64_t from, uint64_t bytes)
{
    return bytes == 0 || bytes > UINT64_MAX - from ? UINT64_MAX : from + bytes;
}

static struct gt_segment *add_segment(struct gt_segments *space, uint64_t from, uint64_t to)
{
    struct gt_segment *segment = gt_calloc(1, sizeof *segment);

    *segment = (struct gt_segment){
        .from = from, .to = to, .write = { .op = GT_NONE, .buffer = GT_NONE }, .freed = GT_NONE
    };
    gt_segments_add(space, segment);
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
    qsort_r(map->order, map->order_count, sizeof *map->order, by_place, map);
    for (uint32_t i = 0; i < map->order_count; i++) {
        const struct gt_buffer *buffer = &w->buffers[map->order[i]];
        const struct gt_buffer *before = i > 0 ? &w->buffers[map->order[i - 1]] : NULL;
        bool joined = before != NULL && map->owner[map->order[i - 1]] == map->owner[map->order[i]] &&
                      side_of(before) == side_of(buffer) &&
                      (buffer->address < end || buffer->address == before->address);

        if (!joined)
            end = 0;
        map->space_of[map->order[i]] = joined ? map->space_of[map->order[i - 1]] : map->space_count++;
        if (end_of(buffer->address, buffer->bytes) > end)
            end = end_of(buffer->address, buffer->bytes);
    }
}

struct gt_memory_map *gt_memory_new(const struct gt_workload *w, const struct gt_stamp *stamps)
{
    struct gt_memory_map *map = gt_calloc(1, sizeof *map);

    map->w = w;
    map->space_of = gt_calloc(w->buffer_count + 1ull, sizeof *map->space_of);
    map->order = gt_calloc(w->buffer_count + 1ull, sizeof *map->order);
    map->owner = gt_calloc(w->buffer_count + 1ull, sizeof *map->owner);
    map->processes = gt_thread_processes(w);
    find_owners(map);
    find_spaces(map);
    map->unknown = map->space_count;
    map->space_count += w->thread_count;
    map->spaces = gt_calloc(map->space_count, sizeof *map->spaces);
    for (uint32_t i = 0; i < map->space_count; i++) {
        map->spaces[i].stamps = stamps;
        add_segment(&map->spaces[i], 0, UINT64_MAX);
    }
    return map;
}

void gt_memory_end(struct gt_memory_map *map)
{
    for (uint32_t i = 0; i < map->space_count; i++)
        gt_segments_end(&map->spaces[i]);
    free(map->spaces);
    free(map->space_of);
    free(map->order);
    free(map->owner);
    free(map->processes);
    free(map);
}

/* The side of a copy that an access without a buffer is of. */
static uint32_t side_of_access(const struct gt_workload *w, const struct gt_op *op, bool writes)
{
    if (op->kind == GT_OP_COPY &&
        ((op->direction == GT_H2D && !writes) || (op->direction == GT_D2H && writes) || op->direction == GT_H2H))
        return 0;
    if (op->kind == GT_OP_COPY && op->direction == GT_P2P && op->peer_gpu != GT_NONE && writes != op->from_peer)
        return 1 + op->peer_gpu;
    return 1 + w->streams[op->stream].gpu;
}

/* The space of the buffer that has that address; GT_NONE: none has. */
static uint32_t space_at(const struct gt_memory_map *map, struct place at)
{
    uint32_t low = 0, high = map->order_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct place place = place_of(map, map->order[middle]);

        if (compare_places(&place, &at) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* A space's buffers stand together, so that the nearest one below, if any, is of the space. */
    for (uint32_t i = low; i-- > 0 && map->space_of[map->order[i]] == map->space_of[map->order[low - 1]];) {
        const struct gt_buffer *buffer = &map->w->buffers[map->order[i]];

        if (map->owner[map->order[i]] == at.owner && side_of(buffer) == at.side &&
            at.address < end_of(buffer->address, buffer->bytes))
            return map->space_of[map->order[i]];
    }
    return GT_NONE;
}

/* What no buffer of a GPU has may be another GPU's, or the host's (mapped, managed): a process's addresses are all different.
 * Memory without a buffer is all together, a process's. */
static uint32_t space_of_access(const struct gt_memory_map *map, const struct gt_op *op, bool writes,
                                uint64_t address)
{
    struct place at = { map->processes[map->w->calls[op->call].thread], side_of_access(map->w, op, writes), address };
    uint32_t space = space_at(map, at), sides = at.side == 0 ? 0 : 1 + map->w->gpu_count;

    for (at.side = 0; space == GT_NONE && at.side < sides; at.side++)
        space = space_at(map, at);
    return space != GT_NONE ? space : map->unknown + at.owner;
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
    range.space = space_of_access(map, op, access->writes, access->offset);
    range.from = access->offset < UINT64_MAX ? access->offset : UINT64_MAX - 1; /* the end of all there is */
    range.to = end_of(range.from, access->bytes);
    return range;
}

struct gt_memory_range gt_memory_of_buffer(const struct gt_memory_map *map, gt_buffer_index index)
{
    return part_of(map, index, 0, 0);
}

/* A segment begins at that byte, which is not the last of the space. */
static struct gt_segment *cut(struct gt_segments *space, uint64_t byte)
{
    struct gt_segment *left = gt_segments_find(space, byte), *right;
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
    struct gt_segments *space = &map->spaces[range.space];
    struct gt_segment *segment = cut(space, range.from);

    if (range.to < segment->to)
        cut(space, range.to);
    for (;;) {
        visit(user, segment);
        if (segment->to >= range.to)
            return;
        if (segment->to < range.to) {
            segment = gt_segments_find(space, segment->to);
            if (segment->to > range.to)
                cut(space, range.to);
        }
    }
}

void gt_memory_read(struct gt_memory_map *map, struct gt_memory_range range, const struct gt_reading *reading)
{
    struct gt_segments *space = &map->spaces[range.space];

    if (!gt_segments_begin_at(space, range.from))
        cut(space, range.from);
    if (range.to < UINT64_MAX && !gt_segments_begin_at(space, range.to))
        cut(space, range.to);
    gt_segments_read(space, range.from, range.to, reading);
}

void gt_memory_merge(struct gt_memory_map *map, struct gt_memory_range range)
{
    struct gt_segments *space = &map->spaces[range.space];
    struct gt_segment *first = gt_segments_find(space, range.from);

    while (first->to < range.to) {
        struct gt_segment *next = gt_segments_find(space, first->to);
        uint64_t to = next->to;

        gt_segments_remove(space, next->from);
        first->to = to;
    }
}
