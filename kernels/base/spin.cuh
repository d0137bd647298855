/* spin.cuh - a thread that lets time pass. */
#ifndef GRIDTIDE_KERNELS_BASE_SPIN_CUH
#define GRIDTIDE_KERNELS_BASE_SPIN_CUH

#include <stdint.h>

/* Blocks that poll without a pause leave no issue slots to those that are about to start: 31 of one warp
 * each on an SM held new ones back by 110 us. So they sleep, up to twice as long as they ask for (PTX,
 * nanosleep), until what remains is well above that at any clock. */
enum { SLEEP_NS = 500, AWAKE_CYCLES = 4000 };

/* Two looks at the clock that are so far apart: the block stood still, for another process had the GPU (a switch alone takes
 * 200,000 cycles). */
enum { STOOD_CYCLES = 60000 };

/* Until the block has run for so many cycles of the SM's clock since it was at `began`. */
__device__ inline void spin_until(uint64_t began, uint64_t cycles)
{
    uint64_t last = began, now;

    while ((now = (uint64_t)clock64()) - began + AWAKE_CYCLES < cycles || now - last > STOOD_CYCLES) {
        if (now - last > STOOD_CYCLES)
            began += now - last;
        last = now;
        __nanosleep(SLEEP_NS);
    }
    while ((uint64_t)clock64() - began < cycles)
        ;
}

#endif
