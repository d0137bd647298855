/* deal_targets.h - which streams work is dealt over, a context at a time. */
#ifndef GRIDTIDE_SIM_REWRITE_DEAL_TARGETS_H
#define GRIDTIDE_SIM_REWRITE_DEAL_TARGETS_H

#include "sim/rewrite/deal.h"

/* The streams of a context. */
struct gt_deal_context {
    gt_gpu_index gpu;
    uint32_t context;
    gt_stream_index legacy; /* its legacy default stream, if that has work; else GT_NONE */
    gt_stream_index *used;  /* that have work; with that one, it first, then those that wait for it */
    uint32_t used_count, used_room;
    gt_stream_index *list; /* dealt over; none where no more streams are asked for than have work */
    uint32_t count;
    uint32_t turn;
};

struct gt_deal_targets {
    struct gt_deal_context *contexts;
    uint32_t count, room;
    uint32_t *of; /* by stream: its context */
};

/* Over `streams` streams of each context: those that have work, then new ones, which are put into *deal.  The legacy
 * default stream is not among them where it would hold others up. */
void gt_deal_targets_find(struct gt_deal_targets *targets, const struct gt_workload *workload, uint32_t streams,
                          struct gt_deal *deal);
void gt_deal_targets_free(struct gt_deal_targets *targets);

/* Is the work of this stream's context dealt? */
bool gt_deal_has_targets(const struct gt_deal_targets *targets, gt_stream_index stream);
/* The next stream in turn, of that stream's context. */
gt_stream_index gt_deal_next_target(struct gt_deal_targets *targets, gt_stream_index stream);
/* The legacy default stream of that stream's context, if it has work; else GT_NONE. */
gt_stream_index gt_deal_legacy_stream(const struct gt_deal_targets *targets, gt_stream_index stream);

#endif
