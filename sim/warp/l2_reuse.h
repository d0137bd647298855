/* l2_reuse.h - what a launch finds in L2 of what those before it left there.
 *
 * The memory behaviour of a program is that of a profiled launch, and the profiler empties the caches before
 * each.  In an application a kernel mostly reads what kernels before it have just written, or the same as
 * the one before it.  A trace does not say so; the rule is: a recorded launch finds in L2 as many of the
 * bytes that it would read from DRAM as the one before it in its stream touched and those before that wrote,
 * among the last memory.l2_reuse_bytes that were touched, if what it touches itself is no more than these.
 * The first of a stream finds nothing.
 *
 * A typed trace is played over and over, each launch on memory of its own.  It finds what is left of it since the play
 * before: all where the trace touches no more than these bytes, half of L2, nothing where it touches twice as many, and
 * in between the square of what is missing to that.  So kernels find L2 emptied by those beside them and behind them.
 *
 * Evidence: 40 textbook kernels, profiled with caches as their last launch left them: of launches that touch 30, 33, 45,
 * 48 and 77 MB L2 had kept 0.95, 0.97, 0.36, 0.26 and nothing (1, 0.9, 0.32, 0.22 and nothing
 * by this); kernels of five PyTorch programs in Kineto's times against their profiles, validate/README.md.
 * What it leaves out: data that was only read earlier, as weights are; copies.
 */
#ifndef GRIDTIDE_SIM_WARP_L2_REUSE_H
#define GRIDTIDE_SIM_WARP_L2_REUSE_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* What the workload's kernels with programs, copies and memsets touch. */
double gt_l2_played_bytes(const struct gt_workload *workload);

/* The part that L2 still has of a round of `bytes` when the round comes by again: all of what its halves can both hold,
 * memory.l2_reuse_bytes, nothing of as much as both hold together, and in between, as measured, the square of what is missing
 * to that. */
double gt_l2_kept_part(const struct gt_device *device, double bytes);

/* The part, 0 to 1, of the DRAM reads of kernel operation `op` that L2 serves.  before[i]: the kernel before
 * kernel operation i in its stream, GT_NONE none known. All these have programs. `played_bytes`:
 * gt_l2_played_bytes(). */
double gt_l2_reuse_fraction(const struct gt_device *device, const struct gt_workload *workload, gt_op_index op,
                            const uint32_t *before, double played_bytes);

#endif
