/* warm.h - what a launch finds in L2 of what the one before it left there.
 *
 * The memory behaviour of a program is that of a profiled launch, and the profiler empties the caches before
 * each.  In an application a kernel mostly reads what the kernel before it in its stream has just written or
 * read.  A trace does not say so; the rule is: a recorded launch finds in L2 as many of the bytes that it
 * would read from DRAM as the one before touched, if L2 can keep what both touch (memory.l2_reuse_bytes).  Launches
 * of typed traces, each on memory of its own where they are played, and the first of a stream find nothing.
 *
 * Evidence: kernels of PyTorch samples in Kineto's times against their profiles, validate/README.md.  What it
 * leaves out: weights and other data last touched longer ago that L2 still has, copies.
 */
#ifndef GRIDTIDE_SIM_WARM_H
#define GRIDTIDE_SIM_WARM_H

#include "sim/device.h"
#include "sim/workload.h"

/* The part, 0 to 1, of the DRAM reads of kernel operation `op` that L2 serves; `before`: the kernel before it
 * in its stream, GT_NONE none. Both have programs. */
double gt_warm_share(const struct gt_device *device, const struct gt_workload *workload, uint32_t op,
                     uint32_t before);

#endif
