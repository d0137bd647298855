/* bound.h - what bounds a step. */
#ifndef GRIDTIDE_SIM_WHATIF_BOUND_H
#define GRIDTIDE_SIM_WHATIF_BOUND_H

#include "sim/baseline/timeline.h"
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

#endif
