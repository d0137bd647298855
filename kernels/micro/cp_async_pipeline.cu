/* cp_async_pipeline.cu - tiles copied into shared memory behind the thread's back, 1 to 4 ahead, while others
 * are worked on; and the same work with plain loads, to the same bits. */
#include <stdlib.h>
#include <string.h>

#include <cuda_pipeline.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { MOST_STAGES = 4, MOST_THREADS = 512, VECTOR_FLOATS = 4 };  /* stages 0: synchronous */
const float FACTOR = 0.75f;
const double TOLERANCE = 1e-6;

struct pipeline_arguments {
    const float4 *from;
    float4 *to;
    uint64_t vectors;
    uint32_t work;
};

__device__ float worked(float x, uint32_t work)
{
    float sum = x;
#pragma unroll 4
    for (uint32_t i = 0; i < work; i++)
        sum = fmaf(sum, FACTOR, x);
    return sum;
}

/* Vectors of tile `tile`, a tile being as many vectors as there are threads; 0 beyond the end. */
__device__ unsigned tile_vectors(const pipeline_arguments &p, uint64_t tile)
{
    uint64_t first = tile * block_threads();
    if (first >= p.vectors)
        return 0;
    return p.vectors - first < block_threads() ? (unsigned)(p.vectors - first) : block_threads();
}

/* Each thread works on what another one fetched, the tile being taken from its other end. */
__device__ void work_on(const pipeline_arguments &p, uint64_t tile, const float4 *fetched)
{
    unsigned thread = this_thread(), vectors = tile_vectors(p, tile);
    if (thread >= vectors)
        return;
    float4 x = fetched[vectors - 1 - thread];
    p.to[tile * block_threads() + thread] = make_float4(worked(x.x, p.work), worked(x.y, p.work),
                                                        worked(x.z, p.work), worked(x.w, p.work));
}

__device__ void fetch_ahead(const pipeline_arguments &p, uint64_t tile, float4 *to)
{
    unsigned thread = this_thread();
    if (thread < tile_vectors(p, tile))
        __pipeline_memcpy_async(&to[thread], &p.from[tile * block_threads() + thread], sizeof *to);
    __pipeline_commit();
}

template <int STAGES>
__global__ void __launch_bounds__(MOST_THREADS) pipeline(pipeline_arguments p, struct gt_block_log *log)
{
    __shared__ float4 buffers[STAGES][MOST_THREADS];
    log_begin(log);
    uint64_t tiles = (p.vectors + block_threads() - 1) / block_threads(), step = grid_blocks();
    for (int i = 0; i < STAGES; i++)
        fetch_ahead(p, this_block() + i * step, buffers[i]);
    int stage = 0;
    for (uint64_t tile = this_block(); tile < tiles; tile += step) {
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        work_on(p, tile, buffers[stage]);
        __syncthreads();
        fetch_ahead(p, tile + STAGES * step, buffers[stage]);
        stage = stage + 1 < STAGES ? stage + 1 : 0;
    }
    __pipeline_wait_prior(0);
    log_end(log);
}

__global__ void __launch_bounds__(MOST_THREADS) synchronous(pipeline_arguments p, struct gt_block_log *log)
{
    __shared__ float4 buffer[MOST_THREADS];
    log_begin(log);
    uint64_t tiles = (p.vectors + block_threads() - 1) / block_threads();
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        if (this_thread() < tile_vectors(p, tile))
            buffer[this_thread()] = p.from[tile * block_threads() + this_thread()];
        __syncthreads();
        work_on(p, tile, buffer);
        __syncthreads();
    }
    log_end(log);
}

typedef void (*pipeline_function)(pipeline_arguments, struct gt_block_log *);
const pipeline_function functions[MOST_STAGES + 1] = {synchronous, pipeline<1>, pipeline<2>, pipeline<3>,
                                                      pipeline<4>};

pipeline_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 0)];
}

uint64_t floats(const struct gt_gpu_launch *launch)
{
    return launch_argument(launch, 1);
}

pipeline_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    return {(float4 *)at, (float4 *)(at + scratch_array(floats(launch) * sizeof(float))),
            floats(launch) / VECTOR_FLOATS, (uint32_t)launch_argument(launch, 2)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(floats(launch) * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_block_threads(launch) > MOST_THREADS)
        return gt_error_set(error, "%u threads a block; give at most %d", launch_block_threads(launch),
                            MOST_THREADS);
    if (floats(launch) % VECTOR_FLOATS)
        return gt_error_set(error, "count is %llu; give a multiple of %d", (unsigned long long)floats(launch),
                            VECTOR_FLOATS);
    return 0;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return fill_floats((float *)layout(launch).from, floats(launch), seed, -1, 1, launch->stream);
}

/* Which input the output at `i` is made of: tiles are turned round by vectors. */
uint64_t source_of(uint64_t i, uint64_t vectors, uint64_t threads)
{
    uint64_t vector = i / VECTOR_FLOATS, first = vector / threads * threads;
    uint64_t in_tile = vectors - first < threads ? vectors - first : threads;
    return (first + in_tile - 1 - (vector - first)) * VECTOR_FLOATS + i % VECTOR_FLOATS;
}

int compare_with_reference(const struct gt_gpu_launch *launch, const float *got, uint64_t seed,
                           struct gt_error *error)
{
    struct gt_reference_norm norm = {};
    uint32_t work = (uint32_t)launch_argument(launch, 2);
    struct gt_reference_sample sample = gt_reference_sample(floats(launch), work, seed);
    for (uint64_t i = 0; i < sample.count; i++) {
        uint64_t at = gt_reference_place(&sample, i);
        uint64_t source = source_of(at, floats(launch) / VECTOR_FLOATS, launch_block_threads(launch));
        double x = random_float(seed, source, -1, 1), sum = x;
        for (uint32_t step = 0; step < work; step++)
            sum = sum * FACTOR + x;
        gt_reference_add(&norm, got[at], sum);
    }
    return gt_reference_verdict(&norm, TOLERANCE, error);
}

/* The synchronous version on the same input, into the same output poisoned again: equal to the bit. */
int compare_with_synchronous(const struct gt_gpu_launch *launch, const float *got, struct gt_error *error)
{
    size_t bytes = floats(launch) * sizeof(float);
    pipeline_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.to, 0xff, bytes, launch->stream);
    if (status == cudaSuccess)
        status = start(launch, synchronous, arrays, nullptr);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(launch->stream);
    if (status != cudaSuccess)
        return gt_error_set(error, "the synchronous version: %s", cudaGetErrorString(status));
    float *plain = reference_fetch((float *)arrays.to, floats(launch), error);
    if (!plain)
        return -1;
    int result = memcmp(plain, got, bytes) == 0 ? 0 :
        gt_error_set(error, "the output is not that of the synchronous version");
    free(plain);
    return result;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    float *got = reference_fetch((float *)layout(launch).to, floats(launch), error);
    if (!got)
        return -1;
    int result = compare_with_reference(launch, got, seed, error);
    if (result == 0 && launch_argument(launch, 0) > 0)
        result = compare_with_synchronous(launch, got, error);
    free(got);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"stages", "", "tiles fetched ahead, 1 to 4; 0: plain loads instead", 0, MOST_STAGES, 2, nullptr},
    {"count", "values", "FP32; a multiple of 4", 4, 2e10, 1 << 24, nullptr},
    {"work", "steps", "multiply-adds on each value", 0, 1e6, 16, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_cp_async_pipeline = {
    .name = "cp_async_pipeline",
    .help = "tiles fetched with cp.async while others are worked on; checked by norm and, to the bit, against"
            " its synchronous version",
    .restriction = "blocks of up to 512 threads",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
