/* allocations.h - what a program's allocator gave out of a GPU's memory, and got back, while it was recorded. */
#ifndef GRIDTIDE_SIM_WORKLOAD_ALLOCATIONS_H
#define GRIDTIDE_SIM_WORKLOAD_ALLOCATIONS_H

#include "sim/workload/workload.h"

/* Bytes of a GPU beyond this (4 EiB) are refused on the way in, so that sums cannot overflow inside. */
#define GT_ALLOCATED_LIMIT_BYTES (UINT64_C(1) << 62)

/* The workload's allocations are in the order of time.  What a GPU had given out before the first is gt_gpu.allocated_bytes. */
struct gt_allocation {
    int64_t bytes;        /* below 0: so many were freed */
    uint32_t frees;       /* of a free: the allocation that it ends; GT_NONE: one from before the recording */
    gt_range_index range; /* the innermost of its thread around it; GT_NONE */
    gt_gpu_index gpu;
};

void gt_workload_add_allocation(struct gt_workload *workload, const struct gt_allocation *allocation);

/* The most bytes that a GPU had given out at a time, of the GPU with the most; NAN: no allocations were recorded. */
double gt_peak_allocated_bytes(const struct gt_workload *workload);

/* Range i is now range place[i]; GT_NONE: it is gone. */
void gt_allocations_renumber(struct gt_workload *workload, const gt_range_index *place);

/* Does each free end an earlier allocation of its size, once, and does no GPU have less than none or more than
 * GT_ALLOCATED_LIMIT_BYTES at any time?  Returns 0; -1 with what is wrong. */
int gt_allocations_check(const struct gt_workload *workload, struct gt_error *error);

#endif
