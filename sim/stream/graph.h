/* graph.h - graphs, and edges between operations. */
#ifndef GRIDTIDE_SIM_STREAM_GRAPH_H
#define GRIDTIDE_SIM_STREAM_GRAPH_H

#include "sim/machine/machine.h"

/* Its stream lets a graph go: nodes that come after nothing start now. */
void gt_graph_start(struct gt_machine *m, gt_command_index graph);

/* An operation has ended: those that come after it may go on. Called where there are edges. */
void gt_graph_op_ended(struct gt_machine *m, gt_op_index op);

/* The node `op` of a graph has ended; the last one completes the graph. */
void gt_graph_node_ended(struct gt_machine *m, gt_command_index graph, gt_op_index op);

/* All blocks of the grid have been handed out: nodes held behind it get into the line for the SMs. */
void gt_graph_handed_out(struct gt_machine *m, gt_grid_index grid);

/* Event: a node's gap has passed, its turn has come, or its group is written. */
int gt_node_handler(void *machine, gt_command_index command, uint64_t stamp, struct gt_error *error);

#endif
