/* persistent.cuh - what kernels share whose blocks stay until all is done: who is the last one, a barrier for all. */
#ifndef GRIDTIDE_KERNELS_BASE_PERSISTENT_CUH
#define GRIDTIDE_KERNELS_BASE_PERSISTENT_CUH

#include "kernels/base/gpu_atomics.cuh"
#include "kernels/base/kernel.cuh"

/* Is this block the last one to get here? All its threads are told; `ended` is 0 before and after. */
__device__ inline bool last_block(uint32_t *ended)
{
    __shared__ bool last;
    __syncthreads();
    if (this_thread() == 0)
        last = add_both(ended, 1) == grid_blocks() - 1;
    __syncthreads();
    if (last && this_thread() == 0)
        *ended = 0;
    return last;
}

/* Nobody goes on before all blocks of the grid are here for the `round`th time, from 1 on. All must be resident.
 * `arrived` is 0 before the first. */
__device__ inline void grid_barrier(uint32_t *arrived, uint32_t round)
{
    __syncthreads();
    if (this_thread() == 0) {
        add_release(arrived, 1);
        while (load_acquire(arrived) < round * (uint32_t)grid_blocks())
            ;
    }
    __syncthreads();
}

/* The number that thread 0 has, to all threads. */
__device__ inline uint32_t tell_block(uint32_t value)
{
    __shared__ uint32_t told;
    __syncthreads();
    if (this_thread() == 0)
        told = value;
    __syncthreads();
    return told;
}

#endif
