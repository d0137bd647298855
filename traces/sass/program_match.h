/* program_match.h - kernels of a timeline take their programs from launches that a profiler looked at.
 *
 * A timeline (Kineto, nsys, a typed scenario) says when kernels were launched, a profile what their code is
 * and how often each instruction ran.  They meet in the kernel's name and shape.
 */
#ifndef GRIDTIDE_TRACES_SASS_PROGRAM_MATCH_H
#define GRIDTIDE_TRACES_SASS_PROGRAM_MATCH_H

#include "sim/workload/workload.h"

/* What became of a kernel of the timeline. */
enum gt_program_match {
    GT_MATCH_UNUSED,      /* no operation launches it */
    GT_MATCH_OWN,         /* had a program */
    GT_MATCH_SAME,        /* has that of a launch of its own shape */
    GT_MATCH_SCALED,      /* of a launch of another grid: counts are a warp's, so they fit any */
    GT_MATCH_OTHER_BLOCK, /* none: it was profiled with blocks of another shape only */
    GT_MATCH_UNKNOWN,     /* none: no profiled kernel is called so */
    GT_MATCHES
};

struct gt_program_matches {
    uint8_t *how;   /* gt_program_match, by kernel that the timeline had; free() it */
    uint32_t count; /* of them */
    uint64_t kernels[GT_MATCHES];
    uint64_t launches[GT_MATCHES]; /* operations of these kernels */
    /* Kernels that state registers or shared memory, and others than the launch of their shape whose program they have: the
     * first of them, and what that launch has.  What the timeline states is used. */
    uint32_t differing;
    gt_kernel_index first_differing;
    uint32_t registers_per_thread, shared_bytes;
};

/* Give every kernel of `timeline` that has no program that of a launch in `profiled`, `count` workloads.  Of
 * launches whose block has the same three sizes, those that match best by name: the text as traced; the same
 * text demangled, but for blanks; and, where the timeline's name is bare, without template arguments and
 * parameters, the function's own name, whatever its namespace.  Of several, those with the same grid, else
 * with the nearest number of blocks (by ratio), else of the first profile.  Where these are several still,
 * they are taken in turn, over and over: the program that was profiled launches its kernels in the timeline's
 * order, and one shape may work on different amounts (matrices of other depths).  What the profiler said of
 * that launch beyond its code (cluster, polling, a clock that fell) goes into its program.
 * Kernels whose launches take several programs become several kernels.
 * Programs are shared: `profiled` may be freed afterwards.  Kernels that found none stay as they
 * were. */
void gt_match_programs(struct gt_workload *timeline, struct gt_workload *const *profiled, uint32_t count,
                       struct gt_program_matches *matches);

#endif
