/* assign_streams.h - work of streams assigned to more of them, and the order that has to be kept by events then. */
#ifndef GRIDTIDE_SIM_REWRITE_ASSIGN_STREAMS_H
#define GRIDTIDE_SIM_REWRITE_ASSIGN_STREAMS_H

#include "sim/workload/workload.h"

/* Something that is to be waited for: by call `call`'s work for that of call `before` to have ended, or by its thread,
 * before it makes that call. */
struct gt_assigned_wait {
    gt_call_index call, before;
    bool host;
};

struct gt_assign_targets;
struct gt_independence;

struct gt_stream_assignment {
    gt_stream_index *like; /* new streams, behind those of the workload: like which of them */
    uint32_t stream_count, stream_room;
    gt_stream_index *target;        /* by call: where its work goes; GT_NONE: it has none */
    struct gt_assigned_wait *waits; /* in the order of calls */
    uint32_t wait_count, wait_room;
    bool more;            /* are there contexts with fewer streams of work than asked for? */
    uint32_t moved;       /* calls whose work goes to another stream */
    uint32_t said;        /* calls that may because the user says so, */
    uint32_t shown;       /* because of what they read and write */
    uint32_t nodes;       /* of graphs, that may because the user says so, */
    uint32_t nodes_shown; /* because of what they read and write */
    struct gt_assign_targets *targets;
    struct gt_independence *independence;
};

/* Assign what may leave its stream's order (data_flow.h) over `streams` streams of each context, the
 * context's own first; the rest stays where it is.  Order by events, waits of the host, the default stream and launches of
 * one graph is kept.  gt_assignment_free() ends it. */
void gt_assign_streams(struct gt_stream_assignment *assignment, const struct gt_workload *workload, uint32_t streams,
                       const char *const *independent);
void gt_assignment_free(struct gt_stream_assignment *assignment);

/* The workload so assigned, which the caller owns. */
struct gt_workload *gt_assignment_write(const struct gt_stream_assignment *assignment,
                                        const struct gt_workload *workload);

#endif
