/* code.cu - barriers, fences, jumps, and what no cache has yet of code and constants. */
#include "kernels/calibrate/code.h"

#include "kernels/base/kernel.cuh"

namespace {

__device__ uint32_t clock_low(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) :: "memory");
    return (uint32_t)now;
}

template <int KIND>
__device__ void sync_once(void)
{
    if (KIND == GT_SYNC_BARRIER)
        asm volatile("bar.sync 0;" ::: "memory");
    if (KIND == GT_SYNC_FENCE)
        __threadfence();
#if __CUDA_ARCH__ >= 900
    if (KIND == GT_SYNC_CLUSTER)
        asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

template <int KIND>
__device__ uint64_t sync_often(uint32_t trips)
{
    __syncthreads();
    uint64_t start = (uint64_t)clock64();
#pragma unroll 1
    for (uint32_t trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int i = 0; i < GT_CODE_BODY; i++)
            sync_once<KIND>();
    }
    return (uint64_t)clock64() - start;
}

__shared__ uint32_t stored[32];
/* Word 64 i holds where word 64 (i + 1) is. */
__constant__ uint32_t constants[GT_CODE_CONSTANTS * GT_CODE_CONSTANT_WORDS];

/* Too long to be guarded rather than jumped over. */
template <int LENGTH>
__device__ void body(uint32_t at, uint32_t value)
{
#pragma unroll
    for (int i = 0; i < LENGTH; i++)
        asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(at), "r"(value) : "memory");
}

template <int COUNT>
__device__ void pass(uint32_t at, uint32_t trips)
{
#pragma unroll 1
    for (uint32_t trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            body<GT_CODE_SKIPPED>(at, trip);
    }
}

template <int COUNT>
__device__ void jump(const bool (&jumps)[4], uint32_t at, uint32_t trips)
{
#pragma unroll 1
    for (uint32_t trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (!jumps[i % 4])
                body<GT_CODE_SKIPPED>(at, trip);
    }
}

} // namespace

GT_KERNEL void gt_calibrate_sync(uint32_t kind, uint32_t trips, uint64_t *cycles)
{
    uint64_t taken = 0;
    switch (kind) {
    case GT_SYNC_BARRIER: taken = sync_often<GT_SYNC_BARRIER>(trips); break;
    case GT_SYNC_FENCE: taken = sync_often<GT_SYNC_FENCE>(trips); break;
    case GT_SYNC_CLUSTER: taken = sync_often<GT_SYNC_CLUSTER>(trips); break;
    }
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = taken;
}

GT_KERNEL void gt_calibrate_jump(uint32_t masks, uint32_t trips, uint32_t straight, uint32_t longer,
                                 uint64_t *cycles)
{
    bool jumps[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        jumps[i] = (masks >> i & 1) != 0;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(stored);
    asm volatile("" : "+r"(at));
    uint64_t start = (uint64_t)clock64();
    if (straight)
        longer ? pass<2 * GT_CODE_JUMPS>(at, trips) : pass<GT_CODE_JUMPS>(at, trips);
    else
        longer ? jump<2 * GT_CODE_JUMPS>(jumps, at, trips) : jump<GT_CODE_JUMPS>(jumps, at, trips);
    cycles[blockIdx.x] = (uint64_t)clock64() - start;
}

GT_KERNEL void gt_calibrate_far(uint32_t masks, uint64_t *cycles)
{
    bool jumps[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        jumps[i] = (masks >> i & 1) != 0;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(stored);
    asm volatile("" : "+r"(at));
#pragma unroll 1
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint64_t start = (uint64_t)clock64();
#pragma unroll
        for (int i = 0; i < GT_CODE_FAR_JUMPS; i++)
            if (!jumps[i % 4])
                body<GT_CODE_FAR_SKIPPED>(at, pass);
        cycles[blockIdx.x * 2 + pass] = (uint64_t)clock64() - start;
    }
}

GT_KERNEL void gt_calibrate_wait(uint64_t wanted, uint64_t *cycles, uint64_t *trips)
{
    uint64_t start = (uint64_t)clock64(), now;
    uint32_t count = 0;
#pragma unroll 1
    do {
        now = (uint64_t)clock64();
        count++;
    } while (now - start < wanted);
    cycles[blockIdx.x] = now - start;
    trips[blockIdx.x] = count;
}

GT_KERNEL void gt_calibrate_special(uint32_t trips, uint64_t *cycles)
{
    uint32_t slot = (uint32_t)__cvta_generic_to_shared(stored);
    uint64_t sums[2] = {0, 0};
#pragma unroll 1
    for (uint32_t i = 0; i < trips; i++) {
        uint64_t from = (uint64_t)clock64();
        uint32_t read;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(read) :: "memory");
        asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(slot), "r"(read) : "memory");
        uint64_t between = (uint64_t)clock64();
        asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(slot), "r"(i) : "memory");
        sums[1] += (uint64_t)clock64() - between;
        sums[0] += between - from;
    }
    cycles[blockIdx.x * 2] = sums[0];
    cycles[blockIdx.x * 2 + 1] = sums[1];
}

GT_KERNEL void gt_calibrate_lines(uint32_t *clocks, float seed)
{
    __shared__ uint32_t seen[2][GT_CODE_LINES];
    float value[6] = {seed, seed, seed, seed, seed, seed};
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        volatile uint32_t *at = seen[pass];
#pragma unroll
        for (int line = 0; line < GT_CODE_LINES; line++) {
            at[line] = clock_low();
#pragma unroll
            for (int i = 0; i < 6; i++) /* none of which waits for another */
                asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(value[i]) : "f"(seed));
        }
    }
    float sum = value[0] + value[1] + value[2] + value[3] + value[4] + value[5];
    for (int i = 0; i < 2 * GT_CODE_LINES; i++)
        clocks[blockIdx.x * 2 * GT_CODE_LINES + i] =
            seen[i / GT_CODE_LINES][i % GT_CODE_LINES] + (sum == 0.123f);
}

GT_KERNEL void gt_calibrate_constants(uint32_t *clocks, uint32_t mask)
{
    __shared__ uint32_t seen[2][GT_CODE_CONSTANTS + 1], used;
    uint32_t slot = (uint32_t)__cvta_generic_to_shared(&used);
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        uint32_t at = 0;
#pragma unroll 1
        for (int i = 0; i <= GT_CODE_CONSTANTS; i++) {
            /* Warps issue in order: what stores the value waits for it, and the clock for that. */
            asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(slot), "r"(at) : "memory");
            seen[pass][i] = clock_low();
            at = i < GT_CODE_CONSTANTS ? constants[at & mask] : 0;
        }
    }
    for (int i = 0; i < 2 * (GT_CODE_CONSTANTS + 1); i++)
        clocks[blockIdx.x * 2 * (GT_CODE_CONSTANTS + 1) + i] =
            seen[i / (GT_CODE_CONSTANTS + 1)][i % (GT_CODE_CONSTANTS + 1)];
}

cudaError_t gt_calibrate_fill_constants(void)
{
    uint32_t words[GT_CODE_CONSTANTS * GT_CODE_CONSTANT_WORDS] = {0};
    for (uint32_t i = 0; i < GT_CODE_CONSTANTS; i++)
        words[i * GT_CODE_CONSTANT_WORDS] = (i + 1) % GT_CODE_CONSTANTS * GT_CODE_CONSTANT_WORDS;
    return cudaMemcpyToSymbol(constants, words, sizeof words);
}
