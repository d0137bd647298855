/* registers.cuh - kernels that take registers to order: a compiled variant for each step in which an SM gives them
 * out. */
#ifndef GRIDTIDE_KERNELS_BASE_REGISTERS_CUH
#define GRIDTIDE_KERNELS_BASE_REGISTERS_CUH

#include <stdint.h>

/* An SM gives out registers to a warp by 256, that is 8 a thread: a variant for each such step is as good as one for
 * each count. */
enum { REGISTERS_STEP = 8, REGISTERS_MOST = 255 };

/* Variants from `least` registers on, and which of them has the registers ordered, rounded up as the SM does. */
constexpr int register_variants(int least)
{
    return (256 - least) / REGISTERS_STEP + 1;
}

constexpr int variant_registers(int least, int index)
{
    return least + index * REGISTERS_STEP < REGISTERS_MOST ? least + index * REGISTERS_STEP : REGISTERS_MOST;
}

inline unsigned register_variant(int least, uint32_t ordered)
{
    return ordered <= (uint32_t)least ? 0 : (ordered - (uint32_t)least + REGISTERS_STEP - 1) / REGISTERS_STEP;
}

/* Code that is never run but needs its `COUNT` values at once, for which the compiler must take registers:
 * volatile accesses keep their order. */
template <int COUNT>
__device__ inline void hold_registers(volatile uint32_t *memory)
{
    uint32_t held[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        held[i] = memory[i];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        memory[i] = held[COUNT - 1 - i];
}

#endif
