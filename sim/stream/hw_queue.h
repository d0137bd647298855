/* hw_queue.h - hardware queues, which streams share, and the places that groups of a graph's nodes take in them. */
#ifndef GRIDTIDE_SIM_STREAM_HW_QUEUE_H
#define GRIDTIDE_SIM_STREAM_HW_QUEUE_H

#include "sim/machine/machine.h"

/* A command has been asked for: it goes to the tail of its stream's queue, behind groups of nodes that were to be written
 * before.  A graph whose nodes take places of their own has none. */
void gt_hw_queue_push(struct gt_machine *m, gt_command_index command);

/* May it act: is it at the head of its queue, or has it left already? */
bool gt_hw_queue_allows(const struct gt_machine *m, gt_command_index command);

/* How many connections of the stream's context are shared now: by streams, or by groups of graphs. */
uint32_t gt_hw_queues_shared(const struct gt_machine *m, gt_stream_index stream);

/* It leaves the head, if it has not left already; the next one's stream is woken. */
void gt_hw_queue_leave(struct gt_machine *m, gt_command_index command);

/* A command for the node `op` of a graph, which is visible to the GPU when the host says so. */
gt_command_index gt_graph_add_node(struct gt_machine *m, gt_command_index graph, gt_op_index op);

/* A graph has been launched: its groups of nodes take their places in the hardware queues as they are written. */
void gt_graph_submitted(struct gt_machine *m, gt_command_index graph);

/* The node may go: the groups up to its own have been written by now. */
void gt_graph_write_node(struct gt_machine *m, gt_command_index node);

/* Event (GT_NODE_GROUP_WRITTEN, told to the node's handler): the group whose first node this is has been written. */
void gt_graph_group_written(struct gt_machine *m, gt_command_index node);

#endif
