/* assign_targets.h - which streams work is assigned to, a context at a time. */
#ifndef GRIDTIDE_SIM_REWRITE_ASSIGN_TARGETS_H
#define GRIDTIDE_SIM_REWRITE_ASSIGN_TARGETS_H

#include "sim/rewrite/assign_streams.h"

/* The streams of a context. */
struct gt_assign_context {
    gt_gpu_index gpu;
    uint32_t context;
    gt_stream_index legacy; /* its legacy default stream, if that has work; else GT_NONE */
    gt_stream_index *used;  /* that have work; with that one, it first, then those that wait for it */
    uint32_t used_count, used_room;
    gt_stream_index *list; /* assigned to; none where no more streams are asked for than have work */
    uint32_t count;
    uint32_t turn;
};

struct gt_assign_targets {
    struct gt_assign_context *contexts;
    uint32_t count, room;
    uint32_t *of; /* by stream: its context */
};

/* Over `streams` streams of each context: those that have work, then new ones, which are put into *assignment.  The legacy
 * default stream is not among them where it would hold others up. */
void gt_assign_targets_find(struct gt_assign_targets *targets, const struct gt_workload *workload, uint32_t streams,
                            struct gt_stream_assignment *assignment);
void gt_assign_targets_free(struct gt_assign_targets *targets);

/* Is the work of this stream's context assigned? */
bool gt_assign_has_targets(const struct gt_assign_targets *targets, gt_stream_index stream);
/* The next stream in turn, of that stream's context. */
gt_stream_index gt_assign_next_target(struct gt_assign_targets *targets, gt_stream_index stream);
/* The legacy default stream of that stream's context, if it has work; else GT_NONE. */
gt_stream_index gt_assign_legacy_stream(const struct gt_assign_targets *targets, gt_stream_index stream);

#endif
