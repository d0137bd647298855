/* wgmma.cu - matrix products of warp groups. This file is compiled for sm_90a. */
#include "kernels/calibrate/bulk.h"

#include "kernels/base/wgmma.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace {

/* COUNT products between a fence and a wait, `rounds` times. The last one closes the group only where the
 * compiler sees how many there are; else it adds one of its own. */
template <int COUNT>
__device__ uint64_t multiply(float (&d)[WGMMA_SUMS], const uint64_t (&places)[2], uint32_t rounds)
{
    __syncthreads();
    uint64_t start = (uint64_t)clock64();
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            wgmma(d, places[0], places[1]);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    return (uint64_t)clock64() - start;
}

} // namespace
#endif

GT_KERNEL void gt_calibrate_wgmma(uint32_t many, uint32_t rounds, uint64_t *cycles)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ alignas(1024) uint4 tiles[2][1024];
    float d[WGMMA_SUMS] = {}, sum = 0;
    uint64_t places[2];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        tiles[0][i] = tiles[1][i] = make_uint4(0, 0, 0, 0);
    for (int i = 0; i < 2; i++)
        places[i] = matrix_descriptor(tiles[i]);
    asm volatile("fence.proxy.async;" ::: "memory");
    uint64_t taken = many == 0 ? multiply<1>(d, places, rounds)
                   : many == 1 ? multiply<GT_WGMMA_MANY>(d, places, rounds)
                               : multiply<2 * GT_WGMMA_MANY>(d, places, rounds);
    for (int i = 0; i < WGMMA_SUMS; i++)
        sum += d[i];
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = taken + (sum == 1.25f);
#endif
}
