/* graph_identity.h - which graph launches are of the same graph: those that say so, else those of the same nodes. */
#ifndef GRIDTIDE_SIM_REWRITE_GRAPH_IDENTITY_H
#define GRIDTIDE_SIM_REWRITE_GRAPH_IDENTITY_H

#include "sim/workload/workload.h"

/* What a node does, wherever it stands. */
void gt_hash_node(uint64_t *hash, const struct gt_op *op);

/* The last launch of each graph: CUDA runs launches of one executable graph one after the other (cudaGraphLaunch). */
struct gt_graph_replays {
    struct gt_graph_replay {
        uint64_t hash;
        gt_stream_index stream;
        gt_call_index call; /* GT_NONE: not launched yet */
    } * list;
    uint32_t count, room;
};

/* That of the graph that the call launches, good until the next one is asked for; the caller frees the list. */
struct gt_graph_replay *gt_graph_replay_of(struct gt_graph_replays *replays, const struct gt_workload *workload,
                                           const struct gt_call *call);

#endif
