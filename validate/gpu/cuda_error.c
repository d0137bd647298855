#include "validate/gpu/cuda_error.h"

int gt_cuda_fail(const char *what, cudaError_t code, struct gt_error *error)
{
    cudaGetLastError();
    return gt_error_set(error, "CUDA: %.300s: %s", what, cudaGetErrorString(code));
}
