/* gemm.cuh - what the matrix products share: parameters, layout of A (m x k), B (k x n) and C (m x n), all
 * row by row, and the CPU reference. */
#ifndef GRIDTIDE_KERNELS_DEEP_LEARNING_GEMM_CUH
#define GRIDTIDE_KERNELS_DEEP_LEARNING_GEMM_CUH

#include <stdlib.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

template <typename T>
struct gemm_arguments {
    const T *a, *b;
    float *c;
    uint32_t m, n, k;
};

template <typename T>
inline struct gemm_arguments<T> gemm_layout(const struct gt_gpu_launch *launch)
{
    uint64_t m = launch_argument(launch, 0), n = launch_argument(launch, 1), k = launch_argument(launch, 2);
    char *a = (char *)launch->scratch, *b = a + scratch_array(m * k * sizeof(T));
    return {(T *)a, (T *)b, (float *)(b + scratch_array(k * n * sizeof(T))), (uint32_t)m, (uint32_t)n,
            (uint32_t)k};
}

template <typename T>
size_t gemm_scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t m = launch_argument(launch, 0), n = launch_argument(launch, 1), k = launch_argument(launch, 2);
    return scratch_array(m * k * sizeof(T)) + scratch_array(k * n * sizeof(T)) +
           scratch_array(m * n * sizeof(float));
}

/* Compare C with the product of the matrices filled from `seed` and `seed` + 1 in double precision;
 * `rounded` says what a filled value is worth in the matrices' own type. */
template <typename T>
int gemm_verify(const struct gt_gpu_launch *launch, uint64_t seed, double (*rounded)(float), double tolerance,
                struct gt_error *error)
{
    const uint64_t VALUE_COST = 8;  /* operations that making two inputs is worth */
    struct gemm_arguments<T> arrays = gemm_layout<T>(launch);
    uint64_t values = (uint64_t)arrays.m * arrays.n;
    return reference_compare(
        arrays.c, values, gt_reference_sample(values, arrays.k * VALUE_COST, seed), tolerance,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
            double expected = 0;
            for (uint64_t k = 0; k < arrays.k; k++)
                expected += rounded(random_float(seed, at / arrays.n * arrays.k + k, -1, 1)) *
                            rounded(random_float(seed + 1, k * arrays.n + at % arrays.n, -1, 1));
            gt_reference_add(norm, got[at], expected);
        }, error);
}

/* Fill A from `seed` and B from `seed` + 1, both row by row, with `fill`, fill_floats() or its like. */
template <typename T>
cudaError_t gemm_fill(const struct gt_gpu_launch *launch, uint64_t seed,
                      cudaError_t (*fill)(T *, uint64_t, uint64_t, float, float, cudaStream_t))
{
    struct gemm_arguments<T> g = gemm_layout<T>(launch);
    cudaError_t status = fill((T *)g.a, (uint64_t)g.m * g.k, seed, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill((T *)g.b, (uint64_t)g.k * g.n, seed + 1, -1, 1, launch->stream);
    return status;
}

/* Products of whole tiles, `tile` x `tile` of C and steps of `depth`, by blocks of `threads`. */
template <typename T>
int gemm_accepts(const struct gt_gpu_launch *launch, uint32_t threads, uint32_t tile, uint32_t depth,
                 struct gt_error *error)
{
    struct gemm_arguments<T> g = gemm_layout<T>(launch);
    if (launch_block_threads(launch) != threads)
        return gt_error_set(error, "%u threads a block; give %u", launch_block_threads(launch), threads);
    if (g.m % tile || g.n % tile || g.k % depth)
        return gt_error_set(error, "m, n and k are %u, %u and %u; give multiples of %u, %u and %u", g.m, g.n,
                            g.k, tile, tile, depth);
    return 0;
}

#endif
