/* memory.cu - walks from pointer to pointer, and streams, for the latencies and rates of memory. */
#include "kernels/calibrate/memory.h"

#include "kernels/base/kernel.cuh"

GT_KERNEL void gt_calibrate_ring(char *ring, uint64_t stride_bytes, uint64_t nodes, uint64_t factor,
                                 uint32_t shuffle)
{
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < nodes;
         i += grid_blocks() * block_threads()) {
        uint64_t next = (i * factor + 1) % nodes; /* a full period: Hull and Dobell, 1962 */
        char *at = ring + i * stride_bytes + (shuffle > 0 ? i * 7 % shuffle * 128 : 0);
        *(char **)at = ring + next * stride_bytes + (shuffle > 0 ? next * 7 % shuffle * 128 : 0);
    }
}

namespace {

__device__ const char *load_l1(const char *at)
{
    return *(const char *const *)at;
}

__device__ const char *load_l2(const char *at)
{
    const char *next;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at) : "memory");
    return next;
}

__shared__ const char *used;

/* The clock once `value` is there: warps issue in order, so what stores it goes first. */
__device__ uint32_t clock_after(const char *value)
{
    uint64_t now;
    asm volatile("st.volatile.shared.u64 [%1], %2; mov.u64 %0, %%clock64;"
                 : "=l"(now) : "r"((uint32_t)__cvta_generic_to_shared(&used)), "l"(value) : "memory");
    return (uint32_t)now;
}

template <bool L2>
__device__ const char *walk(const char *at, uint32_t steps)
{
#pragma unroll 16
    for (uint32_t i = 0; i < steps; i++)
        at = L2 ? load_l2(at) : load_l1(at);
    return at;
}

/* Calls for parts of 16 bytes, each `rounds` times: a block has UNROLL at once for each of its threads, and
 * blocks take turns. */
template <int UNROLL, typename F>
__device__ void parts(uint64_t bytes, uint32_t rounds, F part)
{
    uint64_t tile = UNROLL * (uint64_t)block_threads(), tiles = bytes / 16 / tile;
    for (uint64_t turn = this_block(); turn < tiles * rounds; turn += grid_blocks())
        part(turn % tiles * tile + this_thread(), block_threads());
}

__device__ uint4 load_part(const uint4 *at)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(at));
    return v;
}

enum { AT_ONCE = 8 };

} // namespace

GT_KERNEL void gt_calibrate_walk(char *ring, uint32_t warm, uint32_t steps, uint32_t l2, uint32_t *latencies,
                                 uint64_t *cycles)
{
    const char *at = ring;
    at = l2 ? walk<true>(at, warm) : walk<false>(at, warm);
    uint64_t start = (uint64_t)clock64();
    if (latencies == NULL) {
        at = l2 ? walk<true>(at, steps) : walk<false>(at, steps);
    } else {
#pragma unroll 1
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t from = clock_after(at);
            at = load_l2(at);
            latencies[blockIdx.x * steps + i] = clock_after(at) - from;
        }
    }
    uint64_t end = (uint64_t)clock64();
    cycles[blockIdx.x] = at == NULL ? 0 : end - start;
}

GT_KERNEL void gt_calibrate_read(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                 uint32_t rounds)
{
    log_begin(log);
    uint32_t sum = 0;
    parts<AT_ONCE>(bytes, rounds, [&](uint64_t i, uint64_t step) {
        uint4 v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            v[k] = load_part((const uint4 *)from + i + k * step);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    });
    if (sum == 0x9e3779b9) /* hardly ever; else the compiler would leave the loads out */
        *(uint32_t *)to = sum;
    log_end(log);
}

GT_KERNEL void gt_calibrate_write(struct gt_block_log *log, const void *, void *to, uint64_t bytes,
                                  uint32_t rounds)
{
    log_begin(log);
    uint32_t value = this_thread();
    parts<1>(bytes, rounds, [&](uint64_t i, uint64_t) {
        ((uint4 *)to)[i] = make_uint4(value, value, value, value);
    });
    log_end(log);
}

GT_KERNEL void gt_calibrate_copy(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                 uint32_t rounds)
{
    log_begin(log);
    parts<4>(bytes, rounds, [&](uint64_t i, uint64_t step) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = load_part((const uint4 *)from + i + k * step);
#pragma unroll
        for (int k = 0; k < 4; k++)
            ((uint4 *)to)[i + k * step] = v[k];
    });
    log_end(log);
}

GT_KERNEL void gt_calibrate_sectors(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                    uint32_t rounds)
{
    log_begin(log);
    uint32_t sum = 0;
    parts<AT_ONCE>(bytes / 8, rounds, [&](uint64_t i, uint64_t step) {
        uint32_t v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            v[k] = __ldcg((const uint32_t *)from + (i + k * step) * 32);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            sum += v[k];
    });
    if (sum == 0x9e3779b9)
        *(uint32_t *)to = sum;
    log_end(log);
}

GT_KERNEL void gt_calibrate_scattered(struct gt_block_log *log, const void *from, void *to, uint64_t bytes,
                                      uint32_t rounds)
{
    log_begin(log);
    uint32_t sum = 0;
    uint64_t lines = bytes / 128;
    parts<AT_ONCE>(bytes / 8, rounds, [&](uint64_t i, uint64_t step) {
        uint32_t v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            uint64_t line = (i + k * step) * 2654435761u % lines; /* lines is a power of two: each once */
            v[k] = __ldcg((const uint32_t *)from + line * 32 + (line >> 7 & 3) * 8);
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            sum += v[k];
    });
    if (sum == 0x9e3779b9)
        *(uint32_t *)to = sum;
    log_end(log);
}

GT_KERNEL void gt_calibrate_hot(struct gt_block_log *log, const void *, void *to, uint64_t bytes,
                                uint32_t rounds)
{
    log_begin(log);
    uint32_t *word =
        (uint32_t *)to + (this_block() * block_threads() + this_thread()) / 32 * 32 % (bytes / 4);
    if (this_thread() % 32 == 0)
        for (uint32_t i = 0; i < rounds; i++)
            atomicAdd(word, 1);
    log_end(log);
}
