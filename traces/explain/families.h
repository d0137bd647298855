/* families.h - a run's kernels by what they do. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_FAMILIES_H
#define GRIDTIDE_TRACES_EXPLAIN_FAMILIES_H

#include "sim/devices/kernel_bound.h"
#include "traces/explain/loaded_run.h"

/* Kernels of one family, in the part that is explained. */
struct gt_family_time {
    enum gt_kernel_family family;
    uint64_t launches;
    gt_time_ps time_ps, bound_ps[GT_BOUNDS]; /* summed up; by what bounds them */
    double share;                            /* of the time of all kernels */
    gt_op_index longest;
};

/* Those that have any, most time first, into `families`; returns how many. */
size_t gt_family_times(const struct gt_loaded_run *run, struct gt_family_time families[GT_FAMILIES]);

#endif
