/* deal_graph.h - the nodes of a graph over more streams, or fewer, as though it had been captured from those. */
#ifndef GRIDTIDE_SIM_WHATIF_DEAL_GRAPH_H
#define GRIDTIDE_SIM_WHATIF_DEAL_GRAPH_H

#include "sim/whatif/independence.h"
#include "sim/whatif/rebuild.h"

/* The graph that call `call` of the old workload launches has been copied: put what is independent of its nodes into
 * `streams` in turn, each stream's nodes one after the other, and let the others wait for what they waited for.  Nothing
 * happens where none is, or they wait in a circle. */
void gt_deal_nodes(struct gt_rebuild *rebuild, gt_call_index call, const struct gt_independence *independence,
                   const gt_stream_index *streams, uint32_t count);
/* The same for a graph of which several streams' nodes are of one stream now, place[i] that of stream i: they come one
 * after the other. */
void gt_fold_nodes(struct gt_rebuild *rebuild, gt_call_index call, const gt_stream_index *place);

#endif
