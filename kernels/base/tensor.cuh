/* tensor.cuh - what the kernels on tensor cores share: tiles in shared memory and how they get there, the
 * fragments that a warp loads from them, one multiply-add of a warp, and inputs in FP16.
 *
 * Fragment layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16", and ldmatrix. */
#ifndef GRIDTIDE_KERNELS_BASE_TENSOR_CUH
#define GRIDTIDE_KERNELS_BASE_TENSOR_CUH

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "kernels/base/kernel.cuh"

enum { CHUNK_HALVES = 8 };  /* a chunk: 16 bytes, what one thread copies and ldmatrix reads as a row */

/* Where chunk `chunk` of row `row` lies in a tile with CHUNKS of them a row. Chunks are turned about by
 * their row's number: the 8 rows that ldmatrix reads at once then lie in all 32 banks. With CHUNKS 8 this
 * is the 128-byte swizzle of the tensor memory accelerator and of WGMMA. */
template <int CHUNKS>
__device__ inline unsigned tile_place(unsigned row, unsigned chunk)
{
    static_assert(CHUNKS == 4 || CHUNKS == 8 || CHUNKS == 16, "rows of 64, 128 or 256 bytes");
    return row * CHUNKS + (chunk ^ (CHUNKS == 4 ? row / 2 % 4 : row % 8));
}

/* A tile from a matrix with `pitch` chunks a row, by cp.async; the caller commits. `thread` is one of
 * THREADS that take part. */
template <int ROWS, int CHUNKS, int THREADS>
__device__ inline void fetch_tile(uint4 *to, const uint4 *from, uint64_t pitch, unsigned thread)
{
    static_assert(ROWS * CHUNKS % THREADS == 0, "threads have equal shares");
#pragma unroll
    for (unsigned i = 0; i < ROWS * CHUNKS / THREADS; i++) {
        unsigned row = (i * THREADS + thread) / CHUNKS, chunk = (i * THREADS + thread) % CHUNKS;
        __pipeline_memcpy_async(&to[tile_place<CHUNKS>(row, chunk)], &from[row * pitch + chunk], sizeof *to);
    }
}

/* Copy a tile through registers: all loads, then all stores. */
template <int ROWS, int CHUNKS, int THREADS>
__device__ inline void copy_tile(uint4 *to, const uint4 *from, uint64_t pitch, unsigned thread)
{
    static_assert(ROWS * CHUNKS % THREADS == 0, "threads have equal shares");
    uint4 values[ROWS * CHUNKS / THREADS];
#pragma unroll
    for (unsigned i = 0; i < ROWS * CHUNKS / THREADS; i++)
        values[i] = from[(i * THREADS + thread) / CHUNKS * pitch + (i * THREADS + thread) % CHUNKS];
#pragma unroll
    for (unsigned i = 0; i < ROWS * CHUNKS / THREADS; i++)
        to[tile_place<CHUNKS>((i * THREADS + thread) / CHUNKS, (i * THREADS + thread) % CHUNKS)] = values[i];
}

__device__ inline uint32_t shared_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* Four 8 x 8 matrices of halves, `row` being this lane's row of them. */
__device__ inline void load_matrices(uint32_t (&to)[4], const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}

/* Load matrices, each transposed. */
__device__ inline void load_matrices_turned(uint32_t (&to)[4], const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}

/* A: 16 rows from `row` and 16 halves from `chunk`. */
template <int CHUNKS>
__device__ inline void load_left(uint32_t (&to)[4], const uint4 *tile, unsigned row, unsigned chunk)
{
    unsigned lane = this_thread() % 32;
    load_matrices(to, &tile[tile_place<CHUNKS>(row + lane % 16, chunk + lane / 16)]);
}

/* B for 16 columns, 16 deep, from a tile that holds its columns as rows: to[0..1] are columns 0 to 7. */
template <int CHUNKS>
__device__ inline void load_right_by_columns(uint32_t (&to)[4], const uint4 *tile, unsigned row,
                                             unsigned chunk)
{
    unsigned lane = this_thread() % 32;
    load_matrices(to, &tile[tile_place<CHUNKS>(row + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2)]);
}

/* The right matrix from a tile that holds its rows. */
template <int CHUNKS>
__device__ inline void load_right_by_rows(uint32_t (&to)[4], const uint4 *tile, unsigned row, unsigned chunk)
{
    unsigned lane = this_thread() % 32;
    load_matrices_turned(to, &tile[tile_place<CHUNKS>(row + lane % 16, chunk + lane / 16)]);
}

/* sum (16 x 8, FP32) += A (16 x 16, FP16) B (16 x 8, FP16). A lane holds rows lane / 4 and that + 8, columns
 * lane % 4 * 2 and the next: sum[0], sum[1] and sum[2], sum[3]. Turing has it only 8 deep. */
__device__ inline void multiply_add(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7},"
                 " {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    const uint32_t b[2] = {b0, b1};
    for (int half = 0; half < 2; half++)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6},"
                     " {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
}

/* ---- Host side ---- */

cudaError_t fill_halves(__half *to, uint64_t count, uint64_t seed, float low, float high,
                        cudaStream_t stream);

/* What a filled value is worth as a half. */
inline double as_half(float value)
{
    return __half2float(__float2half(value));
}

/* Kernels whose tiles lie in dynamic shared memory: 0 where the launch has `bytes` of it. */
inline int accepts_shared(const struct gt_gpu_launch *launch, uint32_t bytes, struct gt_error *error)
{
    if (launch->dynamic_shared_bytes >= bytes)
        return 0;
    return gt_error_set(error, "%u bytes of dynamic shared memory; its tiles need %u",
                        launch->dynamic_shared_bytes, bytes);
}

#endif
