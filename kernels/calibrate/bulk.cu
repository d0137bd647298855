/* bulk.cu - bulk copies into shared memory. */
#include "kernels/calibrate/bulk.h"

#include "kernels/base/tensor.cuh"

GT_KERNEL void gt_calibrate_bulk(const char *from, uint64_t apart, uint32_t bytes, uint32_t rounds,
                                 uint32_t *cycles)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) char to[GT_BULK_MOST_BYTES];
    __shared__ alignas(8) uint64_t barrier;
    if (threadIdx.x != 0)
        return;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                 :: "r"(shared_address(&barrier)) : "memory");
    from += blockIdx.x * apart;
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(shared_address(&barrier)), "r"(bytes) : "memory");
        uint64_t start = (uint64_t)clock64();
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];"
                     :: "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(&barrier))
                     : "memory");
        uint32_t over;
        do
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                         " selp.b32 %0, 1, 0, p; }"
                         : "=r"(over) : "r"(shared_address(&barrier)), "r"(round % 2) : "memory");
        while (!over);
        cycles[blockIdx.x * rounds + round] = (uint32_t)((uint64_t)clock64() - start);
    }
#endif
}
