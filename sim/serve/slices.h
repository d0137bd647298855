/* slices.h - kernels launched in pieces: several launches of fewer blocks, one after the other, in place of one. */
#ifndef GRIDTIDE_SIM_SERVE_SLICES_H
#define GRIDTIDE_SIM_SERVE_SLICES_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* `request` with each launch of more than `blocks` blocks in pieces of so many, the last one of what is left.  Kernels whose blocks
 * belong together (cooperative ones, clusters) stay whole, and so do nodes of graphs.  A duration is divided as the
 * waves are.  `alone_ps`, by operation of `request`: how long it takes alone; by operation of the new one into *sliced_ps, malloced.  The
 * caller frees both. */
struct gt_workload *gt_slice_kernels(const struct gt_workload *request, const struct gt_device *device,
                                     uint64_t blocks, const gt_time_ps *alone_ps, gt_time_ps **sliced_ps);

#endif
