#include "sim/rewrite/graph_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/hash.h"

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

const struct gt_op *gt_graph_node(const struct gt_graph_nodes *nodes, uint32_t i)
{
    return &nodes->w->ops[nodes->call->first_op + i];
}

uint32_t gt_graph_waits_for(const struct gt_graph_nodes *nodes, uint32_t i, uint32_t *at)
{
    const struct gt_op *op = gt_graph_node(nodes, i);

    if (nodes->chained)
        return (*at)++ == 0 ? nodes->last[i] : GT_NONE;
    while (*at < op->afters) {
        gt_op_index before = nodes->w->afters[op->first_after + (*at)++];

        if (before >= nodes->call->first_op)
            return before - nodes->call->first_op;
    }
    return GT_NONE;
}

static void link_nodes(struct gt_graph_nodes *nodes)
{
    uint32_t *of_stream = nones(nodes->w->stream_count);

    nodes->last = nones(nodes->call->ops);
    for (uint32_t i = 0; i < nodes->call->ops; i++) {
        nodes->last[i] = of_stream[gt_graph_node(nodes, i)->stream];
        of_stream[gt_graph_node(nodes, i)->stream] = i;
    }
    free(of_stream);
}

/* Nodes may stand in any order.  Returns false where they wait in a circle. */
static bool sort_nodes(struct gt_graph_nodes *nodes)
{
    bool *done = gt_calloc(nodes->call->ops + 1ull, sizeof *done), more = true;
    uint32_t count = 0;

    nodes->order = gt_calloc(nodes->call->ops + 1ull, sizeof *nodes->order);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < nodes->call->ops; i++) {
            uint32_t at = 0, before = GT_NONE;

            while (!done[i] && (before = gt_graph_waits_for(nodes, i, &at)) != GT_NONE && done[before])
                ;
            if (done[i] || before != GT_NONE)
                continue;
            done[i] = more = true;
            nodes->order[count++] = i;
        }
    }
    free(done);
    return count == nodes->call->ops;
}

bool gt_graph_nodes_begin(struct gt_graph_nodes *nodes, const struct gt_workload *w, gt_call_index call)
{
    *nodes = (struct gt_graph_nodes){ .w = w, .call = &w->calls[call], .chained = true };
    for (uint32_t i = 0; i < nodes->call->ops; i++)
        nodes->chained &= gt_graph_node(nodes, i)->afters == 0;
    link_nodes(nodes);
    return sort_nodes(nodes);
}

void gt_graph_nodes_end(struct gt_graph_nodes *nodes)
{
    free(nodes->order);
    free(nodes->last);
}

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
