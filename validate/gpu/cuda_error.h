/* cuda_error.h - failures of CUDA calls as errors. */
#ifndef GRIDTIDE_VALIDATE_GPU_CUDA_ERROR_H
#define GRIDTIDE_VALIDATE_GPU_CUDA_ERROR_H

#include <cuda_runtime_api.h>

#include "sim/base/error.h"

/* Fill `error` with what `code` means for the call `what`; CUDA's last error is cleared. Always -1. */
int gt_cuda_fail(const char *what, cudaError_t code, struct gt_error *error);

/* Make the call; where it fails, return -1 from this function with the reason. */
#define GT_CUDA(call, error)                          \
    do {                                              \
        cudaError_t code_ = (call);                   \
        if (code_ != cudaSuccess)                     \
            return gt_cuda_fail(#call, code_, error); \
    } while (0)

#endif
