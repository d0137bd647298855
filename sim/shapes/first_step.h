/* first_step.h - memory that a program's first step allocates and that stays: a recording of later steps has it from before. */
#ifndef GRIDTIDE_SIM_SHAPES_FIRST_STEP_H
#define GRIDTIDE_SIM_SHAPES_FIRST_STEP_H

#include <stdbool.h>

#include "sim/workload/workload.h"

struct gt_kept_memory {
    uint32_t before; /* allocated just before this one of the workload's allocations */
    uint64_t bytes;
    uint32_t order; /* among those before the same one */
};

/* Of the GPU's memory of which `kept_bytes` are from before the recording and never freed, into *kept (malloced), in the order of time:
 *   - what cuBLAS works in, at the first product of matrices forward, and at the first backward, which is
 *     another thread (PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp:
 *     32 MiB from compute capability 9 on, else 8 MiB and 128 KiB);
 *   - as much for each gradient as the optimizer keeps beside it, twice (Adam's moments) or once (momentum), as kept_bytes tell:
 *     parameters, of which each has a gradient, are of them, too.
 * `carried`: by allocation, is it alive until the next step frees it?  Those of a backward pass are gradients.  The sum is no more than
 * kept_bytes.  Returns how many. */
uint32_t gt_first_step_find(struct gt_kept_memory **kept, const struct gt_workload *workload, gt_gpu_index gpu,
                            uint32_t compute_major, const bool *carried, uint64_t kept_bytes);

#endif
