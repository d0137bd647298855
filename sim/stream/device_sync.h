/* device_sync.h - host threads that wait for all streams of their process at once, or of one context or GPU of it.
 *
 * Such a wait is for every command that was asked for before it.  Commands are counted by the wait they were asked
 * for before, not looked for in their streams: a wait costs the same however many streams there are.
 */
#ifndef GRIDTIDE_SIM_STREAM_DEVICE_SYNC_H
#define GRIDTIDE_SIM_STREAM_DEVICE_SYNC_H

#include "sim/machine/machine.h"
#include "sim/workload/host_waits.h"

/* For a machine whose streams have their contexts and processes; nothing to do where no call waits so. */
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
