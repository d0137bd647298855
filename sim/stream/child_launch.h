/* child_launch.h - kernels that blocks launch (CUDA dynamic parallelism, CDP2).
 *
 * A child is an operation of the call that launched the first grid (sim/workload/child_launches.h).  It stands in no
 * stream of the host: its command is of a kind of its own, and its parent's stays at the head of its stream until all
 * children, and theirs, have ended.
 */
#ifndef GRIDTIDE_SIM_STREAM_CHILD_LAUNCH_H
#define GRIDTIDE_SIM_STREAM_CHILD_LAUNCH_H

#include "sim/machine/machine.h"

/* Block `block` of such a grid starts at `start_ps` and works for `work_ps` by itself: its launches are made as its time
 * passes.  Returns by how much they prolong it. */
gt_time_ps gt_child_block_starts(struct gt_machine *m, gt_op_index op, uint64_t block, gt_time_ps start_ps,
                                 gt_time_ps work_ps);
/* The same of a grid played as a bar: of all its blocks at once, the longest time. */
gt_time_ps gt_child_bar_starts(struct gt_machine *m, gt_op_index op, gt_time_ps work_ps);

/* Event: by its stamp, a block has made a launch, or a child may go. */
int gt_child_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error);

#endif
