/* memory.h - who last read and wrote which bytes.
 *
 * Memory is cut into segments whose bytes have all been touched alike; a buffer without an address is memory of its own.
 * Segments of a memory leave no gap between each other.  Equal addresses in two processes are different memory; a buffer
 * that several processes name is one, and has its address in that which names it first.
 */
#ifndef GRIDTIDE_SIM_CHECK_MEMORY_H
#define GRIDTIDE_SIM_CHECK_MEMORY_H

#include "sim/workload/workload.h"

struct gt_memory_touch {
    gt_op_index op; /* GT_NONE: nobody */
    gt_buffer_index buffer;
    bool possible; /* it may not be done */
};

struct gt_segment {
    uint64_t from, to;             /* `to` is the first byte behind; UINT64_MAX: all there is */
    struct gt_memory_touch write;  /* the last one */
    struct gt_memory_touch *reads; /* since then */
    uint32_t read_count, read_room;
    gt_buffer_index freed; /* through which it was given back; GT_NONE: it was not, or is given out again */
};

struct gt_memory_map;

struct gt_memory_map *gt_memory_new(const struct gt_workload *workload);
void gt_memory_end(struct gt_memory_map *map);

/* Bytes that a thing is about. */
struct gt_memory_range {
    uint32_t space;
    uint64_t from, to;
};
struct gt_memory_range gt_memory_of_access(const struct gt_memory_map *map, const struct gt_op *op,
                                           const struct gt_buffer_access *access);
struct gt_memory_range gt_memory_of_buffer(const struct gt_memory_map *map, gt_buffer_index buffer);

/* Visit the segments of the range, in order, which is cut at its ends first.  A segment's `from` and `to` are not to be
 * changed. */
void gt_memory_visit(struct gt_memory_map *map, struct gt_memory_range range,
                     void (*visit)(void *user, struct gt_segment *segment), void *user);
/* The range has one history from here on: its segments become one, which is as the first of them. */
void gt_memory_merge(struct gt_memory_map *map, struct gt_memory_range range);

void gt_segment_clear_reads(struct gt_segment *segment);
void gt_segment_add_read(struct gt_segment *segment, struct gt_memory_touch touch);

#endif
