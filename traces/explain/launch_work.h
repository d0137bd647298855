/* launch_work.h - the work of each kernel that was launched, and the least time that it takes: from the inputs of the operator
 * that launched it (sim/shapes/work.h), or as a profiler counted it (profiled_work.h). */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LAUNCH_WORK_H
#define GRIDTIDE_TRACES_EXPLAIN_LAUNCH_WORK_H

#include "sim/shapes/roofline.h"
#include "traces/explain/loaded_run.h"

enum gt_work_known {
    GT_WORK_UNKNOWN,
    GT_WORK_KNOWN,
    GT_WORK_HELPS /* it helps a kernel whose work is known: no work of its own */
};

struct gt_launch_work {
    enum gt_work_known known;
    struct gt_work work;       /* its share of its operator's, by time */
    enum gt_kernel_bound roof; /* that the work is under */
    double least_us;           /* under that roof */
};

/* Of each operation of the run, op_count of them, for free(). */
struct gt_launch_work *gt_launch_works(const struct gt_loaded_run *run);

#endif
