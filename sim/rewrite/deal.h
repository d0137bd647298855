/* deal.h - work of streams dealt over more of them, and the order that has to be kept by events then. */
#ifndef GRIDTIDE_SIM_REWRITE_DEAL_H
#define GRIDTIDE_SIM_REWRITE_DEAL_H

#include "sim/workload/workload.h"

/* Something that is to be waited for: by call `call`'s work for that of call `before` to have ended, or by its thread,
 * before it makes that call. */
struct gt_deal_wait {
    gt_call_index call, before;
    bool host;
};

struct gt_deal_targets;
struct gt_independence;

struct gt_deal {
    gt_stream_index *like; /* new streams, behind those of the workload: like which of them */
    uint32_t stream_count, stream_room;
    gt_stream_index *target;    /* by call: where its work goes; GT_NONE: it has none */
    struct gt_deal_wait *waits; /* in the order of calls */
    uint32_t wait_count, wait_room;
    bool more;            /* are there contexts with fewer streams of work than asked for? */
    uint32_t moved;       /* calls whose work goes to another stream */
    uint32_t said;        /* calls that may because the user says so, */
    uint32_t shown;       /* because of what they read and write */
    uint32_t nodes;       /* of graphs, that may because the user says so, */
    uint32_t nodes_shown; /* because of what they read and write */
    struct gt_deal_targets *targets;
    struct gt_independence *independence;
};

/* Deal what may leave its stream's order (independence.h, data_flow.h) over `streams` streams of each context, the
 * context's own first; the rest stays where it is.  Order by events, waits of the host, the default stream and launches of
 * one graph is kept.  gt_deal_free() ends it. */
void gt_deal_streams(struct gt_deal *deal, const struct gt_workload *workload, uint32_t streams,
                     const char *const *independent);
void gt_deal_free(struct gt_deal *deal);

/* The workload so dealt, which the caller owns. */
struct gt_workload *gt_deal_write(const struct gt_deal *deal, const struct gt_workload *workload);

#endif
