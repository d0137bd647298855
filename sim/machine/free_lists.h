/* free_lists.h - places for what is in flight: numbers that stay good until they are freed.
 *
 * A new one may move its array: pointers into the array do not outlive it.
 */
#ifndef GRIDTIDE_SIM_MACHINE_FREE_LISTS_H
#define GRIDTIDE_SIM_MACHINE_FREE_LISTS_H

#include "sim/machine/machine.h"

/* A command of a stream, in no list yet. */
gt_command_index gt_stream_command_new(struct gt_machine *m, enum gt_stream_command_kind kind, uint32_t index,
                                       gt_stream_index stream);
void gt_stream_command_free(struct gt_machine *m, gt_command_index command);

/* `reason` holds a command back until `time_ps`, which `index` (a call or an operation, by `cause`; GT_NONE:
 * nothing) then ends.  The latest such time of each reason counts. */
void gt_stream_command_hold(struct gt_machine *m, gt_command_index command, enum gt_wait reason, gt_time_ps time_ps,
                            enum gt_cause cause, uint32_t index);

/* A grid, zeroed, in no list. */
gt_grid_index gt_grid_new(struct gt_machine *m);
void gt_grid_free(struct gt_machine *m, gt_grid_index grid);

/* A batch of blocks and a group of batches: the caller fills them in. */
gt_batch_index gt_batch_new(struct gt_machine *m);
void gt_batch_free(struct gt_machine *m, gt_batch_index batch);
gt_group_index gt_resident_group_new(struct gt_machine *m);
void gt_resident_group_free(struct gt_machine *m, gt_group_index group);

/* Somebody who waits for a stream, in no list. */
gt_waiter_index gt_waiter_new(struct gt_machine *m);
void gt_waiter_free(struct gt_machine *m, gt_waiter_index waiter);

#endif
