/* graph.h - graphs, and edges between operations. */
#ifndef GRIDTIDE_SIM_STREAM_GRAPH_H
#define GRIDTIDE_SIM_STREAM_GRAPH_H

#include "sim/machine/machine.h"

/* Do the graph's groups of nodes take places in hardware queues? Else, where the launch was recorded, the graph does. */
bool gt_graph_in_groups(const struct gt_machine *m, gt_command_index graph);

/* A graph has been launched: its groups of nodes take their places in the hardware queues as they are written. */
void gt_graph_submitted(struct gt_machine *m, gt_command_index graph);

/* Somebody else submits work: the graph that is being written has been by then. */
void gt_graph_write_rest(struct gt_machine *m);

/* A group's first node, which has stood behind others in its hardware queue, is at the head. */
void gt_graph_node_at_head(struct gt_machine *m, gt_command_index node);

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
