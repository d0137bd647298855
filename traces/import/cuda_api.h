/* cuda_api.h - what each function of CUDA's runtime and driver, and of HIP, means to a workload. */
#ifndef GRIDTIDE_TRACES_IMPORT_CUDA_API_H
#define GRIDTIDE_TRACES_IMPORT_CUDA_API_H

#include <stddef.h>

#include "sim/workload/workload.h"

struct gt_cuda_api {
    const char *name; /* without version suffixes */
    enum gt_call_kind kind;
    unsigned flags; /* gt_call_flag: GT_CALL_SYNCHRONOUS for copies that wait */
};
/* Sorted by name, so that a test can hold the table to it. */
extern const struct gt_cuda_api gt_cuda_apis[];
extern const size_t gt_cuda_api_count;

/* Length of `name` without what profilers and the driver append to it: "_v3020", "_v2", "_ptsz",
 * "_ptds", and these after one another ("_v7000_ptsz"). */
size_t gt_cuda_api_base_length(const char *name, size_t length);

/* The row of a function, suffixes or not ("hipMemcpyAsync": that of cudaMemcpyAsync); NULL for those that only take host time (GT_CALL_OTHER). */
const struct gt_cuda_api *gt_cuda_api_find(const char *name, size_t length);

#endif
