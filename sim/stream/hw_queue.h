/* hw_queue.h - hardware queues, which streams share. */
#ifndef GRIDTIDE_SIM_STREAM_HW_QUEUE_H
#define GRIDTIDE_SIM_STREAM_HW_QUEUE_H

#include "sim/machine/machine.h"

/* A command goes to the tail of its stream's queue. */
void gt_hw_queue_push(struct gt_machine *m, gt_command_index command);

/* A group of a graph's nodes, by its first one, goes behind the group that it waits for where that is the last in its
 * queue (`behind`, by its first node; GT_NONE: it waits for none), else to the queue with the fewest commands. */
void gt_hw_queue_push_group(struct gt_machine *m, gt_command_index node, gt_command_index behind);

/* May it act: is it at the head of its queue, or has it left already? */
bool gt_hw_queue_allows(const struct gt_machine *m, gt_command_index command);

/* How many connections of the stream's context are shared now: by streams, or by groups of graphs. */
uint32_t gt_hw_queues_shared(const struct gt_machine *m, gt_stream_index stream);

/* It leaves the head, if it has not left already; the next one's stream is woken. */
void gt_hw_queue_leave(struct gt_machine *m, gt_command_index command);

#endif
