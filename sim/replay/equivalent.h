/* equivalent.h - launches of one recording that can be expected to last equally long, and the CUDA contexts they are in. */
#ifndef GRIDTIDE_SIM_REPLAY_EQUIVALENT_H
#define GRIDTIDE_SIM_REPLAY_EQUIVALENT_H

#include "sim/workload/workload.h"

/* Launches of the same work, and how long it lasts alone. */
struct gt_work {
    uint32_t first, count; /* in `launches`: those that others ran beside */
    bool told;             /* by launches that ran alone */
    gt_time_ps most_ps;    /* alone, if told; else what the fastest of them lasted: it is no more */
};

struct gt_equivalent_kernels {
    struct gt_work *works; /* only those of which a launch had others beside it */
    uint32_t work_count;
    gt_op_index *launches;
};

/* All measured kernels of `workload`. */
void gt_equivalent_kernels_find(struct gt_equivalent_kernels *equivalent, const struct gt_workload *workload);
void gt_equivalent_kernels_free(struct gt_equivalent_kernels *equivalent);

struct gt_equivalent_launches {
    const gt_call_index *calls;
    uint32_t count;
    const uint32_t *order; /* by operation number: nodes of a launch by stream, then as they ran */
};
typedef void gt_equivalent_visitor(void *user, const struct gt_equivalent_launches *equivalent);

/* Tell `visit` of all of these `calls`, graph launches, those at a time that have as many nodes, in the same streams, of
 * the same kinds, kernels and bytes, and of which the same is `queued` (by call).  Sorts `calls`. */
void gt_equivalent_launches_visit(const struct gt_workload *workload, const bool *queued, gt_call_index *calls,
                                  uint32_t count, gt_equivalent_visitor *visit, void *user);

/* By stream, malloced: the number of its context, from 0 on. */
uint32_t *gt_number_contexts(const struct gt_workload *workload);

/* The stream that a call puts its operations into; it has some. */
static inline gt_stream_index gt_call_stream(const struct gt_workload *workload, const struct gt_call *call)
{
    return call->kind == GT_CALL_GRAPH_LAUNCH && call->stream != GT_NONE ? call->stream
                                                                         : workload->ops[call->first_op].stream;
}

#endif
