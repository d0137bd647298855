/* graph_nodes.h - nodes of a captured graph: what operation each one is, and which graphs are the same. */
#ifndef GRIDTIDE_SIM_REWRITE_GRAPH_NODES_H
#define GRIDTIDE_SIM_REWRITE_GRAPH_NODES_H

#include "sim/workload/workload.h"

/* Nodes are numbered within their call. */
struct gt_graph_nodes {
    const struct gt_workload *w;
    const struct gt_call *call;
    bool chained;    /* no edges are stated: the nodes of a stream come one after the other */
    uint32_t *order; /* the nodes so that each comes behind those that it waits for */
    uint32_t *last;  /* by node: the one before it in its stream; GT_NONE */
};

/* Of call `call`, a graph launch.  Returns false where they wait in a circle.  Either way gt_graph_nodes_end() ends it. */
bool gt_graph_nodes_begin(struct gt_graph_nodes *nodes, const struct gt_workload *workload, gt_call_index call);
void gt_graph_nodes_end(struct gt_graph_nodes *nodes);

const struct gt_op *gt_graph_node(const struct gt_graph_nodes *nodes, uint32_t i);
/* What node `i` waits for within its graph, number *at of it, which goes on by one or more; GT_NONE: there is no more. */
uint32_t gt_graph_waits_for(const struct gt_graph_nodes *nodes, uint32_t i, uint32_t *at);

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
