/* roofline.h - the least time that work takes on a device: what its fastest pipes and its DRAM could do at most. */
#ifndef GRIDTIDE_SIM_SHAPES_ROOFLINE_H
#define GRIDTIDE_SIM_SHAPES_ROOFLINE_H

#include "sim/devices/kernel_bound.h"
#include "sim/shapes/work.h"

/* Operations of the whole device in a microsecond at most, at chip.clock_mhz; a multiply-add is two. */
double gt_roof_flops_per_us(enum gt_precision precision, const struct gt_device *device);
/* Bytes of DRAM in a microsecond at most: memory.dram_gbps, of which no kernel gets all. */
double gt_roof_dram_bytes_per_us(const struct gt_device *device);

struct gt_roofline {
    enum gt_kernel_bound roof; /* the one that it is under: GT_BOUND_TENSOR, _FP32, _DRAM or _L2 */
    double least_us;
};

/* For work that took `took_us`.  Where DRAM could not have moved its bytes in that time, they were in L2, and that is the
 * roof.  False: it is faster than any roof, so the work is not what it seems. */
bool gt_roofline_of(const struct gt_work *work, double took_us, const struct gt_device *device,
                    struct gt_roofline *roofline);

#endif
