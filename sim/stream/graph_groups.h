/* graph_groups.h - a graph's nodes, and the places of their groups in hardware queues. */
#ifndef GRIDTIDE_SIM_STREAM_GRAPH_GROUPS_H
#define GRIDTIDE_SIM_STREAM_GRAPH_GROUPS_H

#include "sim/machine/machine.h"

/* A command for the node `op` of a graph, which is visible to the GPU when the host says so. */
gt_command_index gt_graph_add_node(struct gt_machine *m, gt_command_index graph, gt_op_index op);

/* Do the graph's groups of nodes take places in hardware queues? Else, where the launch was recorded, the graph does. */
bool gt_graph_in_groups(const struct gt_machine *m, gt_command_index graph);

/* A graph has been launched: its groups of nodes take their places in the hardware queues as they are written. */
void gt_graph_submitted(struct gt_machine *m, gt_command_index graph);

/* Somebody else submits work: the graph that is being written has been by then. */
void gt_graph_write_rest(struct gt_machine *m);

/* The node may go: the groups up to its own have been written by now. */
void gt_graph_write_node(struct gt_machine *m, gt_command_index node);

/* Event (GT_NODE_GROUP_WRITTEN, told to the node's handler): the group whose first node this is has been written. */
void gt_graph_group_written(struct gt_machine *m, gt_command_index node);

#endif
