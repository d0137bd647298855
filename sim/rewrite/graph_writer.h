/* graph_writer.h - the calls that stream capture takes, written anew as graph launches. */
#ifndef GRIDTIDE_SIM_REWRITE_GRAPH_WRITER_H
#define GRIDTIDE_SIM_REWRITE_GRAPH_WRITER_H

#include "sim/rewrite/capture.h"
#include "sim/rewrite/scenario.h"

/* What became of them. */
struct gt_graph_counts {
    uint32_t graphs, launches, nodes; /* graph launches, the calls in their place, their operations */
    uint32_t different;               /* graphs, by their nodes and edges */
    gt_time_ps own_work_ps;           /* that the host did to launch them, and does not do any more */
    uint32_t unknown_waits;           /* for events that the trace does not name */
    uint32_t lost_edges;              /* see gt_rebuild_end() */
};

/* A new workload in which each capture that is not refused is one graph launch, where its last call was: with edges by
 * the order of streams and by events.  What else the thread did between its calls is left out, but that a stream waits
 * for an event of outside, which the graph's stream does then; and of its own work before and behind them as much as the
 * most that it did between two of them.  The caller owns the workload. */
struct gt_workload *gt_write_graphs(const struct gt_workload *workload, const struct gt_captures *captures,
                                    enum gt_unnamed_waits unnamed, struct gt_graph_counts *counts);

#endif
