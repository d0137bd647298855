/* graph_executable.h - launches of one executable graph go one after the other, whatever streams they are launched into
 * (sim/workload/executables.h).
 *
 * A launch waits at its stream's head as for an event that was recorded behind the launch before it: between them there is
 * the gap of an event.
 */
#ifndef GRIDTIDE_SIM_STREAM_GRAPH_EXECUTABLE_H
#define GRIDTIDE_SIM_STREAM_GRAPH_EXECUTABLE_H

#include "sim/machine/machine.h"

/* What is known of launches; gt_graph_executables_free() ends it. */
void gt_graph_executables_build(struct gt_machine *m);
void gt_graph_executables_free(struct gt_machine *m);

/* `graph`, the command of a launch that has just been put into its stream, comes after the launch before of its executable. */
void gt_graph_executable_submit(struct gt_machine *m, gt_command_index graph);

#endif
