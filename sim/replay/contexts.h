/* contexts.h - streams of one context, which its legacy default stream orders. */
#ifndef GRIDTIDE_SIM_REPLAY_CONTEXTS_H
#define GRIDTIDE_SIM_REPLAY_CONTEXTS_H

#include "sim/workload/workload.h"

/* By stream, malloced: the number of its context, from 0 on. */
uint32_t *gt_number_contexts(const struct gt_workload *workload);

/* The stream that a call puts its operations into; it has some. */
static inline gt_stream_index gt_call_stream(const struct gt_workload *workload, const struct gt_call *call)
{
    return call->kind == GT_CALL_GRAPH_LAUNCH && call->stream != GT_NONE ? call->stream
                                                                         : workload->ops[call->first_op].stream;
}

#endif
