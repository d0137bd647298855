#include "sim/baseline/recording_cost.h"

/* Of which sort a call is; functions that were not measured cost as much as a question does. */
static enum gt_recording_sort sort_of(enum gt_call_kind kind)
{
    switch (kind) {
    case GT_CALL_LAUNCH: return GT_RECORDING_LAUNCH;
    case GT_CALL_GRAPH_LAUNCH: return GT_RECORDING_GRAPH_LAUNCH;
    case GT_CALL_COPY: return GT_RECORDING_COPY;
    case GT_CALL_MEMSET: return GT_RECORDING_MEMSET;
    case GT_CALL_EVENT_RECORD: return GT_RECORDING_EVENT_RECORD;
    case GT_CALL_EVENT_WAIT: return GT_RECORDING_EVENT_WAIT;
    case GT_CALL_STREAM_SYNC:
    case GT_CALL_EVENT_SYNC:
    case GT_CALL_DEVICE_SYNC: return GT_RECORDING_SYNC;
    case GT_CALL_ALLOC:
    case GT_CALL_FREE: return GT_RECORDING_ALLOC;
    default: return GT_RECORDING_QUERY;
    }
}

static gt_time_ps cost_ps(const struct gt_recording_cost *recording, enum gt_recording_sort sort)
{
    uint64_t plain_ns = recording->plain_ns[sort], recorded_ns = recording->recorded_ns[sort];

    return recorded_ns > plain_ns ? (recorded_ns - plain_ns) * 1000 : 0;
}

bool gt_recording_measured(const struct gt_recording_cost *recording, struct gt_profiler_cost *cost,
                           gt_time_ps call_ps[GT_CALL_KINDS])
{
    if (!recording->measured)
        return false;
    for (int kind = 0; kind < GT_CALL_KINDS; kind++)
        call_ps[kind] = cost_ps(recording, sort_of((enum gt_call_kind)kind));
    cost->operator_ps = cost_ps(recording, GT_RECORDING_RANGE);
    cost->node_ps = cost_ps(recording, GT_RECORDING_GRAPH_NODE);
    cost->gap_ps = cost_ps(recording, GT_RECORDING_KERNEL);
    cost->graph_gap_ps = cost_ps(recording, GT_RECORDING_NODE);
    cost->copy_gap_ps = cost_ps(recording, GT_RECORDING_KERNEL_COPY) / 2; /* before the copy, and behind it */
    return true;
}

double gt_recording_host_us(const struct gt_workload *workload)
{
    struct gt_profiler_cost cost = { .node_ps = 0 };
    gt_time_ps call_ps[GT_CALL_KINDS];
    double sum_ps = 0;

    if (!gt_recording_measured(&workload->recording, &cost, call_ps))
        return 0;
    for (gt_call_index i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        sum_ps += (double)(call_ps[call->kind] + call->held_ps);
        if (call->kind == GT_CALL_GRAPH_LAUNCH)
            sum_ps += (double)call->ops * (double)cost.node_ps;
    }
    return sum_ps / 1e6;
}
