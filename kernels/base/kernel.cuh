/* kernel.cuh - what every kernel of the library shares: where a thread stands, the block log, launching,
 * and random inputs that host and device make alike. */
#ifndef GRIDTIDE_KERNELS_BASE_KERNEL_CUH
#define GRIDTIDE_KERNELS_BASE_KERNEL_CUH

#include <math.h>
#include <type_traits>

#include "kernels/base/launch.h"

/* ---- Where a thread stands: any shape of grid and block, counted linearly ---- */

__device__ inline uint64_t this_block(void)
{
    return blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
}

__device__ inline unsigned this_thread(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ inline unsigned block_threads(void)
{
    return blockDim.x * blockDim.y * blockDim.z;
}

__device__ inline uint64_t grid_blocks(void)
{
    return (uint64_t)gridDim.x * gridDim.y * gridDim.z;
}

/* ---- Block log: one record a block, written by thread 0; log NULL: nothing ---- */

__device__ inline uint64_t global_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* First thing in a kernel. What is known is stored at once, so that no register holds it meanwhile. */
__device__ inline void log_begin(struct gt_block_log *log)
{
    if (!log || this_thread() != 0)
        return;
    log += this_block();
    asm volatile("mov.u32 %0, %%smid;" : "=r"(log->sm));
    log->reserved = 0;
    log->start_ns = global_ns();
    log->start_cycles = (uint64_t)clock64();
}

/* Last thing in a kernel, reached by all threads of the block: it ends when its last thread does. */
__device__ inline void log_end(struct gt_block_log *log)
{
    if (!log)
        return;
    __syncthreads();
    if (this_thread() != 0)
        return;
    log += this_block();
    log->end_cycles = (uint64_t)clock64();
    log->end_ns = global_ns();
}

/* ---- Launching ---- */

inline uint64_t launch_blocks(const struct gt_gpu_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

inline uint32_t launch_block_threads(const struct gt_gpu_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

inline uint64_t launch_threads(const struct gt_gpu_launch *launch)
{
    return launch_blocks(launch) * launch_block_threads(launch);
}

/* Argument `index` as the whole number that it is. */
inline uint64_t launch_argument(const struct gt_gpu_launch *launch, int index)
{
    return (uint64_t)launch->arguments[index];
}

inline bool launch_has_clusters(const struct gt_gpu_launch *launch)
{
    return launch->cluster[0] > 1 || launch->cluster[1] > 1 || launch->cluster[2] > 1;
}

inline unsigned launch_cluster_side(const struct gt_gpu_launch *launch, int side)
{
    return launch->cluster[side] > 1 ? launch->cluster[side] : 1;
}

/* With attributes: in clusters, whatever the kernel was compiled for; cooperatively; programmatically; with a priority. */
inline cudaError_t start_with_attributes(const struct gt_gpu_launch *launch, const void *kernel, dim3 grid,
                                         dim3 block, void **pointers)
{
    cudaLaunchAttribute attributes[4] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = launch->dynamic_shared_bytes;
    config.stream = launch->stream;
    config.attrs = attributes;
    if (launch_has_clusters(launch)) {
        cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = launch_cluster_side(launch, 0);
        attribute->val.clusterDim.y = launch_cluster_side(launch, 1);
        attribute->val.clusterDim.z = launch_cluster_side(launch, 2);
    }
    if (launch->cooperative) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (launch->programmatic) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (launch->has_priority) {
        attributes[config.numAttrs].id = cudaLaunchAttributePriority;
        attributes[config.numAttrs++].val.priority = launch->priority;
    }
    return cudaLaunchKernelExC(&config, kernel, pointers);
}

/* The one place that launches: as <<<>>> does, with the parameters' types checked. */
template <typename... P>
cudaError_t start(const struct gt_gpu_launch *launch, void (*kernel)(P...), std::type_identity_t<P>... values)
{
    void *pointers[] = { (void *)&values... };
    dim3 grid(launch->grid[0], launch->grid[1], launch->grid[2]);
    dim3 block(launch->block[0], launch->block[1], launch->block[2]);
    if (launch_has_clusters(launch) || launch->cooperative || launch->programmatic || launch->has_priority)
        return start_with_attributes(launch, (const void *)kernel, grid, block, pointers);
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, launch->dynamic_shared_bytes,
                            launch->stream);
}

/* The table's entry() and launch() where FUNCTION(launch) is what runs, on the arrays LAYOUT(launch). */
template <auto FUNCTION> const void *entry_of(const struct gt_gpu_launch *launch)
{
    return (const void *)FUNCTION(launch);
}

template <auto FUNCTION, auto LAYOUT> cudaError_t launch_of(const struct gt_gpu_launch *launch)
{
    return start(launch, FUNCTION(launch), LAYOUT(launch), launch->log);
}

/* FUNCTION of those that have one kernel. */
template <auto KERNEL> auto only(const struct gt_gpu_launch *)
{
    return KERNEL;
}

/* ---- Scratch: arrays one after the other, each on its own 256 bytes ---- */

inline size_t scratch_array(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* ---- Random inputs: value `index` of `seed`, the same bits on host and device ---- */

__host__ __device__ inline uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + index * UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In [low, high); the fused step keeps both compilers from rounding it differently. */
__host__ __device__ inline float random_float(uint64_t seed, uint64_t index, float low, float high)
{
    return fmaf((float)(random_bits(seed, index) >> 40) * 0x1p-24f, high - low, low);
}

cudaError_t fill_floats(float *to, uint64_t count, uint64_t seed, float low, float high, cudaStream_t stream);
cudaError_t fill_words(uint32_t *to, uint64_t count, uint64_t seed, cudaStream_t stream);

#endif
