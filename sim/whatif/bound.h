/* bound.h - what bounds a step, and what bounds a kernel. */
#ifndef GRIDTIDE_SIM_WHATIF_BOUND_H
#define GRIDTIDE_SIM_WHATIF_BOUND_H

#include "sim/baseline/timeline.h"
#include "sim/devices/device.h"
#include "sim/workload/workload.h"

enum gt_bound {
    GT_BOUND_BY_HOST,   /* the program's own work, and calls that submit nothing */
    GT_BOUND_BY_GPU,    /* kernels and memsets, and the gaps between operations */
    GT_BOUND_BY_COPY,   /* copies */
    GT_BOUND_BY_LAUNCH, /* calls that submit work, until the GPU has it, and returns from waits */
    GT_BOUNDS_BY
};
extern const char *const gt_bound_names[GT_BOUNDS_BY];

/* What the run's critical path went to: part[] sums up to 1 (all 0 of an empty run).  Returns what has the largest part. */
enum gt_bound gt_bound_of(const struct gt_workload *workload, const struct gt_timeline *timeline,
                          double part[GT_BOUNDS_BY]);

enum gt_kernel_bound {
    GT_BOUND_LAUNCH,  /* no longer than a kernel that does nothing */
    GT_BOUND_LATENCY, /* too few warps to keep anything busy */
    GT_BOUND_TENSOR,
    GT_BOUND_FP32,
    GT_BOUND_DRAM,
    GT_BOUND_L2,
    GT_BOUND_MIXED, /* nothing tells: between arithmetic and DRAM */
    GT_BOUNDS
};
/* "tensor cores", "DRAM", ... */
extern const char *const gt_kernel_bound_names[GT_BOUNDS];

/* What bounds the kernel, where it took `duration_ps` on `device`.  `name` is its name as traced. */
enum gt_kernel_bound gt_kernel_bound_of(const char *name, const struct gt_kernel *kernel, gt_time_ps duration_ps,
                                        const struct gt_device *device);

/* How long it takes on `to` as a part of what it takes on `from`, its blocks dealt over the SMs of either. */
double gt_kernel_bound_factor(enum gt_kernel_bound bound, const struct gt_kernel *kernel,
                              const struct gt_device *from, const struct gt_device *to);

/* A part of every kernel's time that no device shortens: its launch and end (an empty kernel, see
 * isolated_durations.c). */
extern const gt_time_ps gt_kernel_fixed_ps;

#endif
