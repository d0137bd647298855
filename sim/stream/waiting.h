/* waiting.h - who waits for streams: for a command of one, or, as a synchronisation of the device does, for all streams of a
 * process, of one context or of one GPU of it. */
#ifndef GRIDTIDE_SIM_STREAM_WAITING_H
#define GRIDTIDE_SIM_STREAM_WAITING_H

#include "sim/machine/machine.h"
#include "sim/workload/host_waits.h"

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

/* Waits for several streams at once, for a machine whose streams have their contexts and processes; nothing to do where no call waits so. */
void gt_device_syncs_build(struct gt_machine *m);
void gt_device_syncs_free(struct gt_machine *m);

/* The command goes into its stream now; it is complete now. */
void gt_device_sync_submit(struct gt_machine *m, gt_command_index command);
void gt_device_sync_complete(struct gt_machine *m, gt_command_index command);

/* The thread waits as the call has it, for several streams (GT_HOST_WAIT_BLOCKING_STREAMS to GT_HOST_WAIT_PROCESS). */
void gt_device_sync_wait(struct gt_machine *m, gt_thread_index thread, const struct gt_call *call,
                         enum gt_host_wait wait);
/* The next thread whose wait is over since a command of `stream` was complete; GT_NONE: none any more. */
gt_thread_index gt_device_sync_released(struct gt_machine *m, gt_stream_index stream);

#endif
