/* child_ends.h - ends of grids that blocks launched, and of those whose blocks launch. */
#ifndef GRIDTIDE_SIM_STREAM_CHILD_ENDS_H
#define GRIDTIDE_SIM_STREAM_CHILD_ENDS_H

#include "sim/machine/machine.h"

/* The operation's own grid has ended.  True: it is not complete, for children of it are not; gt_op_complete() follows
 * when they are. */
bool gt_child_parent_ended(struct gt_machine *m, gt_command_index command);

/* A child is complete, with all children of its own: what waited for it goes on. */
void gt_child_complete(struct gt_machine *m, gt_op_index op);

/* The launch of a row has been made, or has failed: where it was the last thing that its grid did, what waits for that
 * goes on. */
void gt_child_launched(struct gt_machine *m, uint32_t row, bool refused);

/* Event: by its stamp, the end of a child has been seen, a pass is over, a parent is complete. */
int gt_child_end_handler(void *machine, uint32_t row, uint64_t stamp, struct gt_error *error);

#endif
