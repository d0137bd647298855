#include "sim/links/gaps.h"

static const struct gt_op *op_at(const struct gt_machine *m, gt_op_index op)
{
    return op == GT_NONE ? NULL : &m->workload->ops[op];
}

bool gt_link_gap_crosses(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    const struct gt_op *first = op_at(m, before);

    return first != NULL && m->streams[first->stream].gpu != m->streams[op->stream].gpu;
}

gt_time_ps gt_link_event_gap_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    const struct gt_op *first = op_at(m, before);

    if (first->kind == GT_OP_COPY && op->kind == GT_OP_COPY)
        return m->device->link_copy_event_gap_ps;
    return first->kind == GT_OP_COPY || op->kind == GT_OP_COPY ? m->device->link_engine_event_gap_ps
                                                               : m->device->link_event_gap_ps;
}

static bool pulled(const struct gt_op *op)
{
    return op != NULL && op->kind == GT_OP_COPY && op->direction == GT_P2P && op->from_peer;
}

gt_time_ps gt_link_pull_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    return m->device->link_pull_ps * (gt_time_ps)(pulled(op_at(m, before)) + pulled(op));
}

static bool goes_between(const struct gt_op *op)
{
    return op != NULL && op->kind == GT_OP_COPY && op->direction == GT_P2P;
}

bool gt_link_gap_between_copies(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    return goes_between(op_at(m, before)) && goes_between(op);
}

void gt_link_wait_passed(struct gt_machine *m, gt_stream_index stream, gt_stream_index target)
{
    m->streams[stream].waited_afar |= m->streams[stream].gpu != m->streams[target].gpu;
}

gt_time_ps gt_link_wait_ps(const struct gt_machine *m, gt_stream_index stream)
{
    return m->streams[stream].waited_afar ? m->device->link_wait_ps : 0;
}
