/* Several GPUs and threads of one program: who may reach whose memory, who holds a lock when. */
#include "sim/workload/host_waits.h"

bool gt_gpus_are_peers(const struct gt_workload *workload, gt_gpu_index one, gt_gpu_index other)
{
    gt_gpu_index first = one < other ? one : other, last = one < other ? other : one;
    const struct gt_gpu *gpu = &workload->gpus[last];

    return first == last || !gpu->peers_known || (gpu->peers[first / 64] >> first % 64 & 1) != 0;
}

bool gt_copy_between(const struct gt_workload *workload, const struct gt_op *op, gt_gpu_index *from, gt_gpu_index *to)
{
    gt_gpu_index own = workload->streams[op->stream].gpu;

    if (op->kind != GT_OP_COPY || op->direction != GT_P2P || op->peer_gpu == GT_NONE)
        return false;
    *from = op->from_peer ? op->peer_gpu : own;
    *to = op->from_peer ? own : op->peer_gpu;
    return true;
}

void gt_peer_sent_bytes(const struct gt_workload *workload, uint64_t *bytes)
{
    for (gt_gpu_index gpu = 0; gpu < workload->gpu_count; gpu++)
        bytes[gpu] = 0;
    for (gt_op_index i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];
        gt_gpu_index from = op->from_peer ? op->peer_gpu : workload->streams[op->stream].gpu;

        if (op->peer_gpu != GT_NONE)
            bytes[from] = op->bytes > UINT64_MAX - bytes[from] ? UINT64_MAX : bytes[from] + op->bytes;
    }
}

bool gt_call_needs_lock(const struct gt_workload *workload, gt_call_index index)
{
    const struct gt_call *call = &workload->calls[index];

    return workload->threads[call->thread].lock != GT_NONE && !gt_call_may_wait(workload, call);
}
