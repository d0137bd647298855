/* durations.h - how long an operation takes by itself, on the device at hand. */
#ifndef GRIDTIDE_SIM_MACHINE_DURATIONS_H
#define GRIDTIDE_SIM_MACHINE_DURATIONS_H

#include "sim/machine/machine.h"

struct gt_kernel_model_launch;
struct gt_warp_result;

/* Of a copy that goes with the commands. */
gt_time_ps gt_with_commands_ps(const struct gt_device *device, uint64_t bytes);

/* As the trace states or measured it, moved from the device it was recorded on; for a copy or memset of
 * which neither is known, by the device file.  GT_TIME_NONE: nothing is known. */
gt_time_ps gt_stated_ps(const struct gt_machine *m, gt_op_index op);

/* From a thread's access to another GPU's memory to its next one, in a kernel that does nothing else. */
gt_time_ps gt_peer_access_ps(const struct gt_machine *m, gt_op_index op);
/* Is no more known of the kernel's launch than what it reads or writes of another GPU's memory? */
bool gt_peer_kernel_bare(const struct gt_machine *m, gt_op_index op);

/* The kernel's launch in cycles where they are what it costs: nothing else is known of it, or that is what
 * the run is about; else NULL. */
const struct gt_warp_result *gt_program_cost(const struct gt_machine *m, gt_op_index op);

/* How long such a launch takes alone: its blocks, and as a tracing profiler sees it where the timeline is
 * recorded; else as blocks' logs and the device's gaps have it. */
gt_time_ps gt_launch_run_ps(const struct gt_device *device, const struct gt_kernel_model_launch *launch);
gt_time_ps gt_program_run_ps(const struct gt_machine *m, gt_op_index op);
gt_time_ps gt_program_ps(const struct gt_machine *m, gt_op_index op);

/* Rounded; beyond GT_TIME_LIMIT_PS just above it, where the engine refuses to go on. */
gt_time_ps gt_whole_ps(double time_ps);

#endif
