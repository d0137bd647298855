/* programmatic.h - programmatic dependent launch: a kernel's blocks come before the kernel ahead of it is over.
 *
 * A kernel launched with the attribute programmaticStreamSerialization, right behind another kernel in its stream, gets
 * into the line for SMs when all blocks of that one have let it (griddepcontrol.launch_dependents, or have ended), a while
 * later (latency.programmatic_us).  Behind anything else, a copy, an event's record or wait, it goes as any kernel does.
 * What its blocks do then: sim/gpu/meeting.h.
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
/* The kernel behind all those of the stream that run, if it may come before they are over.  GT_NONE: there is none; it
 * looks again when there may be. */
gt_command_index gt_programmatic_next(struct gt_machine *m, gt_stream_index stream);

#endif
