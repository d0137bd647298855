/* network.cuh - what a block does of an operator (network.h): the same code as a task and as a block of a launch. */
#ifndef GRIDTIDE_KERNELS_EXECUTOR_NETWORK_CUH
#define GRIDTIDE_KERNELS_EXECUTOR_NETWORK_CUH

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/kernel.cuh"
#include "kernels/executor/network.h"

/* Results come from other SMs, through L2: what this SM's L1 may have of them is old. */
__device__ inline float network_load(const float *place)
{
    return __ldcg(place);
}

__device__ inline float network_logistic(float x)
{
    return 1 / (1 + expf(-x));
}

__device__ inline float network_dot(float4 a, float4 b, float sum)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

/* A warp a row; four columns at a time, and columns are a multiple of four. */
__device__ inline void network_product(float *memory, uint32_t rows, uint32_t columns, const uint32_t *places)
{
    const float4 *matrix = (const float4 *)(memory + places[0]), *vector = (const float4 *)(memory + places[1]);
    uint32_t lane = this_thread() % warpSize, quarter = columns / 4;
    for (uint32_t row = this_thread() / warpSize; row < rows; row += block_threads() / warpSize) {
        float sum = 0;
        for (uint32_t i = lane; i < quarter; i += warpSize)
            sum = network_dot(__ldcg(&matrix[(uint64_t)row * quarter + i]), __ldcg(&vector[i]), sum);
        sum = warp_reduce<sum_of>(sum, warpSize);
        if (lane == 0)
            memory[places[2] + row] = sum;
    }
}

__device__ inline void network_cell(float *memory, uint32_t elements, const uint32_t *places)
{
    for (uint32_t i = this_thread(); i < elements; i += block_threads()) {
        float gates[4];
#pragma unroll
        for (int gate = 0; gate < 4; gate++)
            gates[gate] = network_load(memory + places[2 * gate] + i) + network_load(memory + places[2 * gate + 1] + i);
        float kept = network_logistic(gates[1]) * network_load(memory + places[8] + i) +
                     network_logistic(gates[0]) * tanhf(gates[2]);
        memory[places[9] + i] = kept;
        memory[places[10] + i] = network_logistic(gates[3]) * tanhf(kept);
    }
}

#endif
