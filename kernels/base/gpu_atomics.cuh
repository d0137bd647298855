/* gpu_atomics.cuh - words that blocks of one grid tell each other by: loads, stores and additions with the order that
 * the PTX memory model gives them, at the scope of the GPU. */
#ifndef GRIDTIDE_KERNELS_BASE_GPU_ATOMICS_CUH
#define GRIDTIDE_KERNELS_BASE_GPU_ATOMICS_CUH

#include <stdint.h>

__device__ inline uint32_t load_relaxed(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/* What was written before the word was released is seen by what comes after. */
__device__ inline uint32_t load_acquire(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline uint64_t load_acquire(const uint64_t *from)
{
    uint64_t value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

__device__ inline void store_release(uint32_t *to, uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

/* Returns what was there before. */
__device__ inline uint32_t add_relaxed(uint32_t *to, uint32_t value)
{
    uint32_t before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(to), "r"(value) : "memory");
    return before;
}

__device__ inline uint32_t add_both(uint32_t *to, uint32_t value)
{
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(to), "r"(value) : "memory");
    return before;
}

/* Nobody waits for its answer. */
__device__ inline void add_release(uint32_t *to, uint32_t value)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

__device__ inline void add_release(uint64_t *to, uint64_t value)
{
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}

/* Put `value` where `expected` is. Returns what was there. */
__device__ inline uint64_t swap_if(uint64_t *at, uint64_t expected, uint64_t value)
{
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(at), "l"(expected), "l"(value)
                 : "memory");
    return before;
}

#endif
