/* families.h - a run's kernels by name and by what they do: their time, what bounds them, how far from the roofline they are. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_FAMILIES_H
#define GRIDTIDE_TRACES_EXPLAIN_FAMILIES_H

#include "sim/devices/kernel_bound.h"
#include "sim/shapes/precision.h"
#include "traces/explain/loaded_run.h"

/* Launches, in the part that is explained. */
struct gt_kernel_times {
    uint64_t launches;
    gt_time_ps time_ps,
        bound_ps[GT_BOUNDS]; /* summed up; by what bounds them: their work where it is known, else their name */
    double share;            /* of the time of all kernels */
    gt_op_index longest;
    /* Of those whose work is known, or that help such a kernel (launch_work.h): */
    gt_time_ps known_ps, work_ps;  /* both; the first alone, which have work of their own */
    double flops, bytes, least_us; /* of the work */
    enum gt_precision precision;   /* of the last of them */
    bool unless_causal;            /* of some, attention's arithmetic is counted as if it were not causal */
};

/* Kernels of one family. */
struct gt_family_time {
    enum gt_kernel_family family;
    struct gt_kernel_times times;
};
/* Those that have any, most time first, into `families`; returns how many. */
size_t gt_family_times(const struct gt_loaded_run *run, struct gt_family_time families[GT_FAMILIES]);

/* Kernels of one name, whatever their grids. */
struct gt_name_time {
    const char *name; /* the run's */
    enum gt_kernel_family family;
    struct gt_kernel_times times;
};
/* Those that ran, most time first, for free(). */
struct gt_name_time *gt_name_times(const struct gt_loaded_run *run, size_t *count);

/* What most of their time is bound by. */
enum gt_kernel_bound gt_most_bound(const struct gt_kernel_times *times);
/* The least time of the work that is known, as a part of what it took, helpers' time included; NAN: none is known. */
double gt_roofline_part(const struct gt_kernel_times *times);

#endif
