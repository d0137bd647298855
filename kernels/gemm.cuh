/* gemm.cuh - what the matrix products share: parameters, layout of A (m x k), B (k x n) and C (m x n), all
 * row by row, and the CPU reference. */
#ifndef GRIDTIDE_KERNELS_GEMM_CUH
#define GRIDTIDE_KERNELS_GEMM_CUH

#include <stdlib.h>

#include "kernels/kernel.cuh"
#include "kernels/reference.h"

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
    struct gemm_arguments<T> arrays = gemm_layout<T>(launch);
    uint64_t values = (uint64_t)arrays.m * arrays.n;
    float *got = reference_fetch(arrays.c, values, error);
    if (!got)
        return -1;
    const uint64_t VALUE_COST = 8;  /* operations that making two inputs is worth */
    struct gt_reference_norm norm = {};
    struct gt_reference_sample sample = gt_reference_sample(values, arrays.k * VALUE_COST, seed);
    for (uint64_t i = 0; i < sample.count; i++) {
        uint64_t at = gt_reference_place(&sample, i), row = at / arrays.n, column = at % arrays.n;
        double expected = 0;
        for (uint64_t k = 0; k < arrays.k; k++)
            expected += rounded(random_float(seed, row * arrays.k + k, -1, 1)) *
                        rounded(random_float(seed + 1, k * arrays.n + column, -1, 1));
        gt_reference_add(&norm, got[at], expected);
    }
    free(got);
    return gt_reference_verdict(&norm, tolerance, error);
}

#endif
