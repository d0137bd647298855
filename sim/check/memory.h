/* memory.h - who last read and wrote which bytes.
 *
 * Memory is cut into segments whose bytes have all been touched alike; a buffer without an address is memory of its own.
 * Segments of a memory leave no gap between each other.  Equal addresses in two processes are different memory; a buffer
 * that several processes name is one, and has its address in that which names it first.
 */
#ifndef GRIDTIDE_SIM_CHECK_MEMORY_H
#define GRIDTIDE_SIM_CHECK_MEMORY_H

#include "sim/check/line.h"
#include "sim/workload/workload.h"

struct gt_memory_map;
struct gt_segments_node;

struct gt_memory_touch {
    gt_op_index op; /* GT_NONE: nobody */
    gt_buffer_index buffer;
    bool possible; /* it may not be done */
};

struct gt_segment {
    uint64_t from, to;             /* `to` is the first byte behind; UINT64_MAX: all there is */
    struct gt_memory_touch write;  /* the last one */
    struct gt_memory_touch *reads; /* since then; but for those that come before others of them */
    uint32_t read_count, read_room;
    gt_buffer_index freed; /* through which it was given back; GT_NONE: it was not, or is given out again */
};

struct gt_segments { /* zeroed: empty */
    struct gt_segments_node *root;
    const struct gt_stamp *stamps; /* by operation, of those that have touched a segment; of the caller */
};

/* Somebody reads. */
struct gt_reading {
    struct gt_memory_touch touch;
    const struct gt_line *line; /* what happened before */
    /* The read has no order to that write, of bytes from `from` to before `to`: told at least of the last such write. */
    void (*race)(void *user, const struct gt_memory_touch *write, uint64_t from, uint64_t to);
    void *user;
};

/* The segment with the highest start that is not above `byte`, which there is. Until the next call it may be changed but for
 * where it begins. */
struct gt_segment *gt_segments_find(struct gt_segments *segments, uint64_t byte);
/* Does a segment begin there? */
bool gt_segments_begin_at(const struct gt_segments *segments, uint64_t byte);
/* No segment begins there yet. */
void gt_segments_add(struct gt_segments *segments, struct gt_segment *segment);
/* Take out, and free, the segment that begins there. */
void gt_segments_remove(struct gt_segments *segments, uint64_t from);
/* Read the segments that lie in the range, which begins and ends where segments do. */
void gt_segments_read(struct gt_segments *segments, uint64_t from, uint64_t to, const struct gt_reading *reading);
void gt_segments_end(struct gt_segments *segments);

/* One more who has read it. */
void gt_segment_add_read(struct gt_segment *segment, struct gt_memory_touch touch);

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
