/* time_slices.h - processes without MPS take turns on a GPU's SMs.
 *
 * What was seen on an H200 (validate/scripts/sharing.cu, validate/recordings/sharing.txt): a process runs for a slice of time, then
 * its blocks stop wherever they are, and the next process that has work goes on.  One that has had its slice is stopped as soon as
 * another has work; one that runs out of work gives way at once.  While another waits, what is launched in a turn after all that stood in
 * the streams has been handed out is for the process's next turn.  Copy engines and the host are not part of it.
 *
 * Each process that takes turns has SMs of its own in gt_machine.gpus (gt_stream_state.compute), as it sees them; those of all
 * but one stand still: their events are parked, and go on later by as much as they stood.
 */
#ifndef GRIDTIDE_SIM_GPU_TIME_SLICES_H
#define GRIDTIDE_SIM_GPU_TIME_SLICES_H

#include "sim/machine/machine.h"

/* Which streams' kernels take turns; fills in gt_stream_state.compute, and
 * gt_machine.compute_count for SMs that the caller builds.  -1 where a workload has what cannot stop: task graphs in
 * persistent kernels. */
int gt_time_slices_build(struct gt_machine *m, struct gt_error *error);
void gt_time_slices_free(struct gt_machine *m);

/* A kernel comes to the SMs of `compute`: true if its blocks may be handed out, in this turn or in one that is to come; false where
 * it is kept, and handed out in its process's next turn.  One is over there. */
bool gt_time_slices_kernel_begins(struct gt_machine *m, gt_gpu_index compute, gt_grid_index grid);
void gt_time_slices_kernel_ends(struct gt_machine *m, gt_gpu_index compute);
/* Event: of a GPU that processes share a slice is over, a switch is, or a process has had nothing to do for a while. */
int gt_time_slice_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error);

#endif
