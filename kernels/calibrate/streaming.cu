/* streaming.cu - element-wise kernels, sums, and random numbers. */
#include "kernels/calibrate/streaming.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/base/kernel.cuh"

namespace {

__device__ uint64_t this_part(void)
{
    return blockIdx.x * (uint64_t)GT_STREAMING_THREADS + threadIdx.x;
}

/* Of a warp, in its first lane. */
__device__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__device__ float number(uint64_t i)
{
    float sum = 0;
    for (uint64_t seed = 0; seed < 4; seed++)
        sum += random_float(seed, i, -1, 1);
    return sum * 0.8660254f; /* four even ones have a variance of 4 / 3 */
}

}

GT_KERNEL void __launch_bounds__(GT_STREAMING_THREADS)
gt_calibrate_map(const void *one, const void *other, void *to, uint64_t parts)
{
    if (this_part() >= parts)
        return;
    float4 v = ((const float4 *)one)[this_part()];
    ((float4 *)to)[this_part()] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}

GT_KERNEL void __launch_bounds__(GT_STREAMING_THREADS)
gt_calibrate_add(const void *one, const void *other, void *to, uint64_t parts)
{
    if (this_part() >= parts)
        return;
    float4 v = ((const float4 *)one)[this_part()], w = ((const float4 *)other)[this_part()];
    ((float4 *)to)[this_part()] = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
}

GT_KERNEL void __launch_bounds__(GT_STREAMING_THREADS)
gt_calibrate_sum(const void *one, const void *other, void *to, uint64_t parts)
{
    __shared__ float sums[GT_STREAMING_THREADS / 32];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < GT_SUM_PARTS; i++) {
        uint64_t part = (blockIdx.x * (uint64_t)GT_SUM_PARTS + i) * GT_STREAMING_THREADS + threadIdx.x;
        float4 v = part < parts ? ((const float4 *)one)[part] : make_float4(0, 0, 0, 0);
        sum += v.x + v.y + v.z + v.w;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        ((float *)to)[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

GT_KERNEL void gt_calibrate_numbers(void *to, uint64_t count, uint32_t number_type)
{
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < count; i += grid_blocks() * block_threads()) {
        if (number_type == GT_NUMBER_BF16)
            ((__nv_bfloat16 *)to)[i] = __float2bfloat16(number(i));
        else if (number_type == GT_NUMBER_FP16)
            ((__half *)to)[i] = __float2half(number(i));
        else
            ((float *)to)[i] = number(i);
    }
}
