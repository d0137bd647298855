/* memory.h - who last read and wrote which bytes.
 *
 * Memory is cut into segments whose bytes have all been touched alike; a buffer without an address is memory of its own.
 * Segments of a memory leave no gap between each other.  Equal addresses in two processes are different memory; a buffer
 * that several processes name is one, and has its address in that which names it first.
 */
#ifndef GRIDTIDE_SIM_CHECK_MEMORY_H
#define GRIDTIDE_SIM_CHECK_MEMORY_H

#include "sim/check/segments.h"

struct gt_memory_map;

/* `stamps`: by operation, of those that gt_memory_read() was told of or that have written; NULL: nobody reads or writes. */
struct gt_memory_map *gt_memory_new(const struct gt_workload *workload, const struct gt_stamp *stamps);
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
/* Somebody reads the range, which is cut at its ends first. */
void gt_memory_read(struct gt_memory_map *map, struct gt_memory_range range, const struct gt_reading *reading);
/* The range has one history from here on: its segments become one, which is as the first of them. */
void gt_memory_merge(struct gt_memory_map *map, struct gt_memory_range range);

#endif
