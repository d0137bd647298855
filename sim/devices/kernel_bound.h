/* kernel_bound.h - what family a kernel is of, and what bounds it, by its name, shape and time. */
#ifndef GRIDTIDE_SIM_DEVICES_KERNEL_BOUND_H
#define GRIDTIDE_SIM_DEVICES_KERNEL_BOUND_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* What libraries' kernels do. */
enum gt_kernel_family {
    GT_FAMILY_GEMM,
    GT_FAMILY_CONVOLUTION,
    GT_FAMILY_ATTENTION,
    GT_FAMILY_NORMALIZATION,
    GT_FAMILY_SOFTMAX,
    GT_FAMILY_ELEMENTWISE,
    GT_FAMILY_REDUCTION,
    GT_FAMILY_EMBEDDING, /* and other gathers and scatters */
    GT_FAMILY_SORT,      /* and top-k and scans */
    GT_FAMILY_COPY,
    GT_FAMILY_COLLECTIVE,
    GT_FAMILY_OTHER, /* its name does not tell */
    GT_FAMILIES
};
extern const char *const gt_kernel_family_names[GT_FAMILIES];

/* `name` as traced, demangled or not. */
enum gt_kernel_family gt_kernel_family_of(const char *name);

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

/* The same of a kernel that its own instructions bound: the SMs issue as many in a cycle on either. */
double gt_kernel_issue_factor(const struct gt_kernel *kernel, const struct gt_device *from,
                              const struct gt_device *to);

/* A part of every kernel's time that no device shortens: its launch and end (an empty kernel, see
 * isolated_durations.c). */
extern const gt_time_ps gt_kernel_fixed_ps;

#endif
