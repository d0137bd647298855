/* child_launch.h - kernels that blocks launch (CUDA dynamic parallelism, CDP2).
 *
 * A child is an operation of the call that launched the first grid (sim/workload/child_launches.h).  It stands in no
 * stream of the host: its command is of a kind of its own, and its parent's stays at the head of its stream until all
 * children, and theirs, have ended.
 */
#ifndef GRIDTIDE_SIM_STREAM_CHILD_LAUNCH_H
#define GRIDTIDE_SIM_STREAM_CHILD_LAUNCH_H

#include "sim/machine/machine.h"

/* Do blocks of the operation launch kernels, in this workload? */
bool gt_child_launches_of(const struct gt_machine *m, gt_op_index op);

/* Block `block` of such a grid starts at `start_ps` and works for `work_ps` by itself: its launches are made as its time
 * passes.  Returns by how much they prolong it. */
gt_time_ps gt_child_block_starts(struct gt_machine *m, gt_op_index op, uint64_t block, gt_time_ps start_ps,
                                 gt_time_ps work_ps);
/* A grid played as a bar starts: the time of its blocks' launches, the longest of all blocks. */
gt_time_ps gt_child_bar_starts(struct gt_machine *m, gt_op_index op, gt_time_ps work_ps);

/* The operation's own grid has ended.  True: it is not complete, for children of it are not; gt_op_complete() follows
 * when they are. */
bool gt_child_parent_ended(struct gt_machine *m, gt_command_index command);

/* A child is complete, with all children of its own: what waited for it goes on. */
void gt_child_complete(struct gt_machine *m, gt_op_index op);

/* Event: by its stamp, something is due of a launch, of its end, or of the end of its grid. */
int gt_child_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error);

#endif
