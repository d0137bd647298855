/* assign_graph.h - the nodes of a graph over more streams, or fewer, as though it had been captured from those. */
#ifndef GRIDTIDE_SIM_REWRITE_ASSIGN_GRAPH_H
#define GRIDTIDE_SIM_REWRITE_ASSIGN_GRAPH_H

#include "sim/rewrite/data_flow.h"
#include "sim/rewrite/rebuild.h"

/* The graph that call `call` of the old workload launches has been copied: put what is independent of its nodes, by name or by
 * what they read and write, into `streams` in turn, each stream's nodes one after the other, and let the others wait for what they waited for.  Nothing
 * happens where none is, or they wait in a circle. */
void gt_assign_nodes(struct gt_rebuild *rebuild, gt_call_index call, const struct gt_independence *independence,
                     const struct gt_data_flow *flow, const gt_stream_index *streams, uint32_t count);

/* assign_graph.c: the same by what two nodes or more say that they read and write (and by `unit`, as
 * gt_independence_nodes() has it).  Returns false, and does nothing, where fewer do, the graph has more than
 * GT_FLOW_NODES, or they wait in a circle. */
enum { GT_FLOW_NODES = 4096 };
bool gt_assign_nodes_by_flow(struct gt_rebuild *rebuild, gt_call_index call, const struct gt_data_flow *flow,
                             const uint32_t *unit, const gt_stream_index *streams, uint32_t count);
/* So many of the nodes of a graph launch, 0 where it is not assigned so. */
uint32_t gt_flow_nodes(const struct gt_workload *workload, gt_call_index call, const struct gt_data_flow *flow);
/* gt_flow_nodes() for a graph of which several streams' nodes are of one stream now, place[i] that of stream i: they come one
 * after the other. */
void gt_fold_nodes(struct gt_rebuild *rebuild, gt_call_index call, const gt_stream_index *place);

#endif
