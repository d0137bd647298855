/* recorded_graphs.h - what a recording shows of graphs' nodes: when they started, and so what they waited for.
 *
 * Profilers record the nodes of a graph, not its edges.  Nodes of one stream ran one after the other.  A node that
 * stayed away much longer than that explains, and each time started just after the same nodes of other streams, waited
 * for them: a fork or a join.  Where the trace states the edges (gridtide record) nodes wait for those, and for the one
 * before in the stream that ran them; only how soon they start is learned.  A stream's first node that waited for nobody waited to be handed over.  Where nothing
 * ran that a node could have waited for besides (neighbours.h) its gap in each launch is its own; where something did, it is
 * the median of all launches of the same nodes.
 */
#ifndef GRIDTIDE_SIM_REPLAY_RECORDED_GRAPHS_H
#define GRIDTIDE_SIM_REPLAY_RECORDED_GRAPHS_H

#include "sim/replay/neighbours.h"

struct gt_node_edge {
    gt_op_index before, after;
};

/* All empty where no launch of a graph was recorded; no edges where they are stated. */
struct gt_recorded_graphs {
    struct gt_node_edge *edges; /* between streams of one graph */
    uint32_t edge_count, edge_room;
    /* By operation; GT_TIME_NONE where it is none or not known; NULL: of none. */
    gt_time_ps *gap_ps; /* from the end of the last node that it comes after to its start */
    gt_time_ps
        *behind_ps; /* of a node that comes after none: from the call's start; if queued, from the first node's */
    bool *queued;   /* by call: the graph was asked for before its stream fell idle */
};

/* From the measured times of `workload`, gaps longer by `more_ps`.  gt_recorded_graphs_free() ends it. */
void gt_recorded_graphs_make(struct gt_recorded_graphs *graphs, const struct gt_workload *workload,
                             const struct gt_neighbours *neighbours, int64_t more_ps);
void gt_recorded_graphs_free(struct gt_recorded_graphs *graphs);

/* Does a call launch a graph of which no edges are stated? */
bool gt_graph_without_edges(const struct gt_workload *workload, const struct gt_call *call);

/* Does it launch a graph of which every node was measured? */
bool gt_graph_is_recorded(const struct gt_workload *workload, const struct gt_call *call);

#endif
