#include "sim/rewrite/graph_identity.h"

#include "sim/base/array.h"
#include "sim/base/hash.h"

void gt_hash_node(uint64_t *hash, const struct gt_op *op)
{
    *hash = gt_hash_number(gt_hash_number(gt_hash_number(*hash, op->kind), op->kernel), op->bytes);
    *hash = gt_hash_number(*hash, (uint64_t)op->direction << 8 | op->memory);
}

struct gt_graph_replay *gt_graph_replay_of(struct gt_graph_replays *replays, const struct gt_workload *w,
                                           const struct gt_call *call)
{
    uint64_t hash = GT_HASH_START;

    if (call->executable != GT_NONE) {
        hash = gt_hash_number(hash, w->threads[call->thread].process);
        hash = gt_hash_number(hash, call->executable);
    }
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops && call->executable == GT_NONE; op++)
        gt_hash_node(&hash, &w->ops[op]);
    for (uint32_t i = 0; i < replays->count; i++)
        if (replays->list[i].hash == hash)
            return &replays->list[i];
    gt_array_grow(replays->list, replays->count, replays->room);
    replays->list[replays->count] = (struct gt_graph_replay){ hash, GT_NONE, GT_NONE };
    return &replays->list[replays->count++];
}
