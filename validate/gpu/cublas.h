/* cublas.h - matrix products by cuBLAS, opened when it is needed: no program has to be linked with it.
 *
 * Its headers are looked for by configure; without them, gt_cublas_open() says so.  The library is looked for by the path in
 * GRIDTIDE_CUBLAS, then as libcublas.so.13 or .12 by the linker and in CUDA's folders.  It is called as PyTorch calls it: products
 * with a bias by cublasLtMatmul, others by cublasGemmEx and cublasGemmStridedBatchedEx, with as much workspace (PyTorch,
 * aten/src/ATen/cuda/CUDABlas.cpp, aten/src/ATen/cuda/CublasHandlePool.cpp, aten/src/ATen/native/cuda/Blas.cpp).
 */
#ifndef GRIDTIDE_VALIDATE_GPU_CUBLAS_H
#define GRIDTIDE_VALIDATE_GPU_CUBLAS_H

#include <cuda_runtime_api.h>

#include "kernels/calibrate/streaming.h"
#include "sim/shapes/product.h"

/* Where a product's matrices are, on the GPU. */
struct gt_cublas_matrices {
    const void *left, *right, *bias; /* M x K, K x N, both as the form has them; N numbers */
    void *result;                    /* M x N */
    enum gt_number number;           /* what they consist of: of 32 bits where the precision is not half */
};

/* On the current GPU, once. 0, or -1 with what is missing and what to do. */
int gt_cublas_open(struct gt_error *error);
/* Free what it holds on the GPU; nothing where it was not opened. */
void gt_cublas_close(void);
/* "13.1.0"; "" before it was opened. */
const char *gt_cublas_version(void);

/* Put the product into a stream.  -1: cuBLAS refuses it, and nothing was put there. */
int gt_cublas_multiply(const struct gt_product *product, const struct gt_cublas_matrices *matrices,
                       cudaStream_t stream, struct gt_error *error);

#endif
