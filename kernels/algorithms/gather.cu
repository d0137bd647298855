/* gather.cu - to[i] = table[index[i]]: reads at random places. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

struct gather_arguments {
    const uint32_t *index;
    const uint32_t *table;
    uint32_t *to;
    uint64_t count;
    uint32_t entries;
};

/* Random 32 bits into a place: an equal share of them each. */
__host__ __device__ inline uint32_t place_of(uint32_t bits, uint32_t entries)
{
    return (uint32_t)((uint64_t)bits * entries >> 32);
}

__global__ void gather(struct gather_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t step = grid_blocks() * block_threads();
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < arguments.count; i += step)
        arguments.to[i] = arguments.table[arguments.index[i]];
    log_end(log);
}

__global__ void fill_index(uint32_t *index, uint64_t count, uint32_t entries, uint64_t seed)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        index[i] = place_of((uint32_t)random_bits(seed, i), entries);
}

struct gather_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t count = launch_argument(launch, 0), entries = launch_argument(launch, 1);
    char *index = (char *)launch->scratch, *to = index + scratch_array(count * sizeof(uint32_t));
    char *table = to + scratch_array(count * sizeof(uint32_t));
    return {(uint32_t *)index, (uint32_t *)table, (uint32_t *)to, count, (uint32_t)entries};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(launch_argument(launch, 0) * sizeof(uint32_t)) +
           scratch_array(launch_argument(launch, 1) * sizeof(uint32_t));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    const unsigned BLOCKS = 1024, THREADS = 256;
    struct gather_arguments arrays = layout(launch);
    fill_index<<<BLOCKS, THREADS, 0, launch->stream>>>((uint32_t *)arrays.index, arrays.count, arrays.entries,
                                                       seed);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess)
        status = fill_words((uint32_t *)arrays.table, arrays.entries, seed + 1, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct gather_arguments arrays = layout(launch);
    return reference_check_all(arrays.to, arrays.count, [&](const uint32_t *got, uint64_t i) {
        uint32_t place = place_of((uint32_t)random_bits(seed, i), arrays.entries);
        uint32_t expected = (uint32_t)random_bits(seed + 1, place);
        return got[i] == expected
            ? 0 : gt_error_set(error, "value %llu is %u instead of %u, entry %u", (unsigned long long)i,
                               got[i], expected, place);
    }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"count", "values", "to gather, 32 bits each", 1, 2e10, 1 << 24, nullptr},
    {"entries", "values", "in the table, 32 bits each", 1, UINT32_MAX, 1 << 24, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gather = {
    .name = "gather",
    .help = "reads at random places of a table; checked value by value",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<gather>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<gather>, layout>,
    .verify = verify,
};
