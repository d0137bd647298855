/* sort_small.cuh - a block sorts up to GT_SORT_SMALL words in its shared memory. */
#ifndef GRIDTIDE_KERNELS_CHILDREN_SORT_SMALL_CUH
#define GRIDTIDE_KERNELS_CHILDREN_SORT_SMALL_CUH

#include "kernels/base/kernel.cuh"

enum { GT_SORT_SMALL = 1024 };

/* All threads of the block; `words` is shared. Bitonic, padded with the largest word. */
__device__ inline void sort_small(uint32_t *words, const uint32_t *from, uint32_t *to, uint32_t count)
{
    for (uint32_t i = this_thread(); i < GT_SORT_SMALL; i += block_threads())
        words[i] = i < count ? from[i] : UINT32_MAX;
    __syncthreads();
    for (uint32_t length = 2; length <= GT_SORT_SMALL; length *= 2)
        for (uint32_t step = length / 2; step > 0; step /= 2) {
            for (uint32_t pair = this_thread(); pair < GT_SORT_SMALL / 2; pair += block_threads()) {
                uint32_t low = 2 * pair - (pair & (step - 1)), high = low + step;
                bool up = (low & length) == 0;
                if ((words[low] > words[high]) == up) {
                    uint32_t word = words[low];
                    words[low] = words[high];
                    words[high] = word;
                }
            }
            __syncthreads();
        }
    for (uint32_t i = this_thread(); i < count; i += block_threads())
        to[i] = words[i];
    __syncthreads();
}

#endif
