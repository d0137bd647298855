/* launch.h - the warp tier: cycles of one kernel launch from its machine code and counts.
 *
 * One representative SM runs the blocks that the fullest SM of the GPU gets: four sub-partitions issue at
 * most one warp instruction a cycle each; stall counts, scoreboards and wait masks of the encoding say when
 * a warp's next instruction may go; pipes have issue intervals; the load/store unit, the SM's share of L2
 * and of DRAM are queues with a rate and a latency.  What the other SMs do enters as those shares.
 * Deterministic: the same arguments give the same result, on any machine.
 */
#ifndef GRIDTIDE_SIM_WARP_LAUNCH_H
#define GRIDTIDE_SIM_WARP_LAUNCH_H

#include "sim/devices/device.h"
#include "sim/warp/launch_types.h"
#include "sim/workload/workload.h"

/* Run `launch` on `device`.  Returns 0; -1 with the reason: a program without blocks, warps that wait for
 * each other for ever (saying where). */
int gt_warp_run(const struct gt_device *device, const struct gt_warp_launch *launch, struct gt_warp_result *result,
                struct gt_error *error);

/* The launch of operation `op` of a workload (a kernel with a program), its occupancy worked out on
 * `device`.  Returns 0; -1 with the reason. */
int gt_warp_launch_of(const struct gt_device *device, const struct gt_workload *workload, gt_op_index op,
                      struct gt_warp_launch *launch, struct gt_error *error);

#endif
