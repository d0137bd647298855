/* tasks.cu - atomics and polls of one word, by as many blocks as one likes. */
#include "kernels/calibrate/tasks.h"

#include "kernels/base/gpu_atomics.cuh"

GT_KERNEL void gt_calibrate_queue(uint32_t *word, uint32_t *arrived, uint32_t rounds, uint64_t *cycles)
{
    if (threadIdx.x != 0)
        return;
    add_relaxed(arrived, 1);
    while (load_acquire(arrived) < gridDim.x)
        ;
    uint64_t began = (uint64_t)clock64();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rounds; i++)
        sum += add_relaxed(word, 1 + (sum == UINT32_MAX)); /* the next one needs the last one's answer */
    uint64_t took = (uint64_t)clock64() - began;
    cycles[blockIdx.x] = took + (sum == 1);
}

GT_KERNEL void gt_calibrate_poll(const uint32_t *word, uint32_t rounds, uint64_t *cycles)
{
    if (threadIdx.x != 0)
        return;
    uint64_t began = (uint64_t)clock64();
    uint32_t looks = 0;
    while (load_acquire(word) == 0 && looks < rounds)
        looks++;
    cycles[blockIdx.x] = (uint64_t)clock64() - began;
}
