/* block_reduce.cuh - one value out of all threads of a block, of any shape and size. */
#ifndef GRIDTIDE_KERNELS_BASE_BLOCK_REDUCE_CUH
#define GRIDTIDE_KERNELS_BASE_BLOCK_REDUCE_CUH

#include "kernels/base/kernel.cuh"

struct sum_of {
    static __device__ float neutral(void) { return 0.0f; }
    static __device__ float combine(float a, float b) { return a + b; }
};

struct greatest_of {
    static __device__ float neutral(void) { return -INFINITY; }
    static __device__ float combine(float a, float b) { return fmaxf(a, b); }
};

/* Of the first `lanes` lanes of a warp, which are those that exist; lane 0 has the result. */
template <typename OF>
__device__ inline float warp_reduce(float value, unsigned lanes)
{
    unsigned mask = lanes < warpSize ? (1u << lanes) - 1 : 0xffffffffu;
    unsigned lane = this_thread() % warpSize;
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(mask, value, offset);
        if (lane + offset < lanes)
            value = OF::combine(value, other);
    }
    return value;
}

/* All threads call it, all get the result; `shared` has room for one value a warp, 32, and may be used
 * again at once. */
template <typename OF>
__device__ inline float block_reduce(float value, float *shared)
{
    unsigned thread = this_thread(), warp = thread / warpSize, threads = block_threads();
    unsigned warps = (threads + warpSize - 1) / warpSize;
    unsigned left = threads - warp * warpSize;
    value = warp_reduce<OF>(value, left < warpSize ? left : warpSize);
    if (thread % warpSize == 0)
        shared[warp] = value;
    __syncthreads();
    if (thread < warps) {
        value = warp_reduce<OF>(shared[thread], warps);
        if (thread == 0)
            shared[0] = value;
    }
    __syncthreads();
    value = shared[0];
    __syncthreads();
    return value;
}

#endif
