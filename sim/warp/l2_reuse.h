/* l2_reuse.h - what a launch finds in L2 of what those before it left there.
 *
 * The memory behaviour of a program is that of a profiled launch, and the profiler empties the caches before
 * each.  In an application a kernel mostly reads what kernels before it have just written, or the same as
 * the one before it.  A trace does not say so; the rule is: a recorded launch finds in L2 as many of the
 * bytes that it would read from DRAM as the one before it in its stream touched and those before that wrote,
 * among the last memory.l2_reuse_bytes that were touched, if what it touches itself is no more than these.
 * Launches of typed traces, each on memory of its own where they are played, and the first of a stream find
 * nothing.
 *
 * Evidence: kernels of five PyTorch programs in Kineto's times against their profiles, validate/README.md.
 * What it leaves out: data that was only read earlier, as weights are; copies.
 */
#ifndef GRIDTIDE_SIM_WARP_L2_REUSE_H
#define GRIDTIDE_SIM_WARP_L2_REUSE_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* The part, 0 to 1, of the DRAM reads of kernel operation `op` that L2 serves.  before[i]: the kernel before
 * kernel operation i in its stream, GT_NONE none known. All these have programs. */
double gt_l2_reuse_fraction(const struct gt_device *device, const struct gt_workload *workload, gt_op_index op,
                            const uint32_t *before);

#endif
