/* operation.h - the life of an operation, whatever its kind. */
#ifndef GRIDTIDE_SIM_STREAM_OPERATION_H
#define GRIDTIDE_SIM_STREAM_OPERATION_H

#include "sim/machine/machine.h"

/* Its stream lets it go: hand it to its resource (gt_op_rule). */
void gt_op_ready(struct gt_machine *m, gt_command_index command);

/* It starts now, ends after that time and needs nothing for it: leaves its hardware queue. */
void gt_timed_op_start(struct gt_machine *m, gt_command_index command, gt_time_ps duration_ps);

/* It ends now: told to the probe, and, where its blocks have launched nothing that is still under way, complete. */
void gt_op_ended(struct gt_machine *m, gt_command_index command);

/* It is complete, with all that its blocks launched: its stream, its graph or its parent goes on.  The command is gone
 * then. */
void gt_op_complete(struct gt_machine *m, gt_command_index command);

/* Operations that need no resource: as the `start` of a gt_op_rule. */
void gt_host_function_start(struct gt_machine *m, gt_command_index command);

/* Event: the time of gt_timed_op_start() is over. */
int gt_timed_op_handler(void *machine, gt_command_index command, uint64_t stamp, struct gt_error *error);

#endif
