/* programmatic.h - programmatic dependent launch: a kernel's blocks come before the kernel ahead of it is over.
 *
 * A kernel launched with the attribute programmaticStreamSerialization, right behind another kernel in its stream or with
 * nothing but events' records in between, gets into the line for SMs when all blocks of that one have let it
 * (griddepcontrol.launch_dependents, or have left), a while later (latency.programmatic_us).  Behind anything else, a copy
 * or a wait for an event, it goes as any kernel does.  Seen on an H200: a kernel came 0.9 us after the trigger behind a
 * record, and at the ordinary gap behind a wait and a copy.
 * In a graph such a kernel comes so behind the one node that it comes after, if that is a kernel; behind several it goes as
 * any.  What its blocks do then: sim/gpu/grid_sync.h.
 */
#ifndef GRIDTIDE_SIM_STREAM_PROGRAMMATIC_H
#define GRIDTIDE_SIM_STREAM_PROGRAMMATIC_H

#include "sim/machine/machine.h"

/* All blocks of the kernel have let the next one come by `time_ps`, or will have. */
void gt_programmatic_triggered(struct gt_machine *m, gt_command_index command, gt_time_ps time_ps);
/* The kernel is over, and is still its stream's head. */
void gt_programmatic_ended(struct gt_machine *m, gt_command_index command);
/* The kernel at its stream's head comes programmatically behind one that is over: when it may, into `due_ps`.  False: it
 * goes as any other. */
bool gt_programmatic_due(const struct gt_machine *m, gt_command_index command, gt_time_ps *due_ps);
/* What stands behind a command in its stream, but for events' records; GT_NONE: nothing does. */
gt_command_index gt_programmatic_behind(const struct gt_machine *m, gt_command_index command);
/* The kernel behind all those of the stream that run, if it may come before they are over.  GT_NONE: there is none; it
 * looks again when there may be. */
gt_command_index gt_programmatic_next(struct gt_machine *m, gt_stream_index stream);

#endif
