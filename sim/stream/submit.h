/* submit.h - a call puts a command into its stream. */
#ifndef GRIDTIDE_SIM_STREAM_SUBMIT_H
#define GRIDTIDE_SIM_STREAM_SUBMIT_H

#include "sim/machine/machine.h"

/* At the stream's tail, where the GPU sees it from `visible_ps` on, though not before the commands ahead of it.
 * Returns its number in the stream. */
gt_command_number gt_stream_submit(struct gt_machine *m, gt_command_index command, gt_time_ps visible_ps);

#endif
