/* waiting.h - who waits for a stream: streams and threads that go on when a command of it is complete. */
#ifndef GRIDTIDE_SIM_STREAM_WAITING_H
#define GRIDTIDE_SIM_STREAM_WAITING_H

#include "sim/machine/machine.h"

/* Look at the stream again at `time_ps`, unless it does so before that anyway (gt_stream_handler()). */
void gt_stream_wake(struct gt_machine *m, gt_stream_index stream, gt_time_ps time_ps);

/* What an event of a graph's node is about, its stamp (gt_node_handler()): nothing of its own holds it, its turn behind
 * kernels that waited for room has come, or the group that begins with it has been written. */
enum { GT_NODE_MAY_GO, GT_NODE_HAD_ITS_TURN, GT_NODE_GROUP_WRITTEN };

/* The node may go (GT_NODE_MAY_GO) at `time_ps`, or when the GPU sees it if that is later. */
void gt_node_wake(struct gt_machine *m, gt_command_index node, gt_time_ps time_ps);

/* Tell `index` (a thread or a stream, by `kind`) when command `number` of `stream` is complete, which it is not
 * yet. */
void gt_stream_add_waiter(struct gt_machine *m, gt_stream_index stream, gt_command_number number, uint32_t index,
                          enum gt_waiter_kind kind);

/* The thread's call returns only once command `number` of `stream` is complete. */
void gt_thread_wait(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream, gt_command_number number);

/* Whatever the thread waits for of streams' commands, it does no longer. Returns how many these were. */
uint32_t gt_thread_forget_waits(struct gt_machine *machine, gt_thread_index thread);

#endif
