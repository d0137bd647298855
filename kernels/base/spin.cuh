/* spin.cuh - a thread that lets time pass. */
#ifndef GRIDTIDE_KERNELS_BASE_SPIN_CUH
#define GRIDTIDE_KERNELS_BASE_SPIN_CUH

#include <stdint.h>

/* Blocks that poll without a pause leave no issue slots to those that are about to start: 31 of one warp
 * each on an SM held new ones back by 110 us. So they sleep, up to twice as long as they ask for (PTX,
 * nanosleep), until what remains is well above that at any clock. */
enum { SLEEP_NS = 500, AWAKE_CYCLES = 4000 };

/* Until so many cycles of the SM's clock are over since it was at `began`. */
__device__ inline void spin_until(uint64_t began, uint64_t cycles)
{
    while ((uint64_t)clock64() - began + AWAKE_CYCLES < cycles)
        __nanosleep(SLEEP_NS);
    while ((uint64_t)clock64() - began < cycles)
        ;
}

#endif
