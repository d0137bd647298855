/* kernel_work.h - what kernels have to do at least, where the recording says their operators' inputs (sim/shapes/work.h). */
#ifndef GRIDTIDE_TRACES_CHAKRA_KERNEL_WORK_H
#define GRIDTIDE_TRACES_CHAKRA_KERNEL_WORK_H

#include "sim/workload/workload.h"

struct gt_kernel_work {
    uint64_t operations, bytes; /* arithmetic, and bytes from and to DRAM; 0: not known */
};

/* By operation, malloced; NULL where no inputs were recorded.  Kernels that do one operator's work together have shares of it by
 * their times. */
struct gt_kernel_work *gt_kernel_work_find(const struct gt_workload *workload);

#endif
