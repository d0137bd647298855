/* atomics.cu - additions to counters in global memory at random: one counter makes them hot, many spread
 * them. */
#include <stdlib.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { HEAD_BYTES = 256 };

struct atomics_arguments {
    const uint32_t *salt;  /* makes the places those of a seed */
    uint32_t *counters;    /* added to: launches add up */
    uint64_t count;
    uint32_t counters_count;
};

/* Addition i goes to this counter. A few cheap steps, so that the kernel is its atomics. That the compiler
 * cannot know it to be the same for a whole warp keeps it from adding up a warp's additions first. */
__host__ __device__ inline uint32_t place_of(uint64_t i, uint32_t salt, uint32_t counters)
{
    uint32_t bits = ((uint32_t)i ^ salt) * UINT32_C(0x9e3779b1);
    bits = (bits ^ bits >> 15) * UINT32_C(0x85ebca77);
    bits ^= bits >> 13;
    return (uint32_t)((uint64_t)bits * counters >> 32);
}

__global__ void atomics(struct atomics_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint32_t salt = *arguments.salt;
    uint64_t step = grid_blocks() * block_threads();
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < arguments.count; i += step)
        atomicAdd(&arguments.counters[place_of(i, salt, arguments.counters_count)], 1);
    log_end(log);
}

struct atomics_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    return {(uint32_t *)at, (uint32_t *)(at + HEAD_BYTES), launch_argument(launch, 1),
            (uint32_t)launch_argument(launch, 0)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return HEAD_BYTES + scratch_array(launch_argument(launch, 0) * sizeof(uint32_t));
}

/* Counters start at random numbers, which tells a count that is written from one that is added. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct atomics_arguments arrays = layout(launch);
    cudaError_t status = fill_words((uint32_t *)arrays.salt, 1, seed, launch->stream);
    if (status == cudaSuccess)
        status = fill_words(arrays.counters, arrays.counters_count, seed + 1, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct atomics_arguments arrays = layout(launch);
    uint32_t salt = (uint32_t)random_bits(seed, 0);
    uint32_t *got = reference_fetch(arrays.counters, arrays.counters_count, error);
    if (!got)
        return -1;
    for (uint64_t i = 0; i < arrays.count; i++)
        got[place_of(i, salt, arrays.counters_count)]--;
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < arrays.counters_count; i++)
        if (got[i] != (uint32_t)random_bits(seed + 1, i))
            result = gt_error_set(error, "counter %u is %d off", i,
                                  (int32_t)(got[i] - (uint32_t)random_bits(seed + 1, i)));
    free(got);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"counters", "", "32 bits each; 1: all additions meet in one word", 1, 1 << 28, 1, nullptr},
    {"count", "additions", "of 1 each, to counters picked at random", 1, 2e10, 1 << 22, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_atomics = {
    .name = "atomics",
    .help = "atomic additions to one word of global memory or to many; checked to the last count",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<atomics>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<atomics>, layout>,
    .verify = verify,
};
