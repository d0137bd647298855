/* segments.h - the segments of one memory, by where they begin: a B-tree, so that a thing about many of them is noted once.
 *
 * A read of a range that holds all segments below a node asks the node who wrote them last, and leaves itself there; it
 * goes down to the segments when one of them is looked at.  So n parts that n operations read whole cost n log n, not n
 * times n.  Of the writers a node has the last one of each line (line.h): if that one has an order to a later
 * operation, the line's earlier ones have.
 */
#ifndef GRIDTIDE_SIM_CHECK_SEGMENTS_H
#define GRIDTIDE_SIM_CHECK_SEGMENTS_H

#include "sim/check/line.h"
#include "sim/workload/workload.h"

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

struct gt_segments_node;

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

#endif
