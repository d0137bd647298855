/* histogram.cu - how often each bin occurs: counted in shared memory and merged, or in global memory. */
#include <stdlib.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum counted_in { SHARED, GLOBAL, MEMORIES };
enum { MOST_BINS = 1024 };

struct histogram_arguments {
    uint32_t *counts;        /* added to: launches add up */
    const uint32_t *values;
    uint64_t count;
    uint32_t bins;
};

/* Values are spread over 32 bits; a bin is an equal share of them. */
__host__ __device__ inline uint32_t bin_of(uint32_t value, uint32_t bins)
{
    return (uint32_t)((uint64_t)value * bins >> 32);
}

template <enum counted_in MEMORY>
__global__ void histogram(struct histogram_arguments arguments, struct gt_block_log *log)
{
    __shared__ uint32_t shared[MEMORY == SHARED ? MOST_BINS : 1];
    log_begin(log);
    uint32_t *counts = MEMORY == SHARED ? shared : arguments.counts;
    if (MEMORY == SHARED) {
        for (uint32_t bin = this_thread(); bin < arguments.bins; bin += block_threads())
            shared[bin] = 0;
        __syncthreads();
    }
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < arguments.count;
         i += grid_blocks() * block_threads())
        atomicAdd(&counts[bin_of(arguments.values[i], arguments.bins)], 1);
    if (MEMORY == SHARED) {
        __syncthreads();
        for (uint32_t bin = this_thread(); bin < arguments.bins; bin += block_threads())
            if (shared[bin])
                atomicAdd(&arguments.counts[bin], shared[bin]);
    }
    log_end(log);
}

typedef void (*histogram_function)(struct histogram_arguments, struct gt_block_log *);
const histogram_function functions[MEMORIES] = {histogram<SHARED>, histogram<GLOBAL>};

histogram_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 0)];
}

struct histogram_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    return {(uint32_t *)at, (uint32_t *)(at + MOST_BINS * sizeof(uint32_t)), launch_argument(launch, 2),
            (uint32_t)launch_argument(launch, 1)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return MOST_BINS * sizeof(uint32_t) + scratch_array(launch_argument(launch, 2) * sizeof(uint32_t));
}

/* The counts start at random numbers, which tells a count that is written from one that is added. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct histogram_arguments arrays = layout(launch);
    cudaError_t status = fill_words(arrays.counts, arrays.bins, seed + 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_words((uint32_t *)arrays.values, arrays.count, seed, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct histogram_arguments arrays = layout(launch);
    uint32_t expected[MOST_BINS];
    uint32_t *got = reference_fetch(arrays.counts, MOST_BINS, error);
    if (!got)
        return -1;
    for (uint32_t bin = 0; bin < arrays.bins; bin++)
        expected[bin] = (uint32_t)random_bits(seed + 1, bin);
    for (uint64_t i = 0; i < arrays.count; i++)
        expected[bin_of((uint32_t)random_bits(seed, i), arrays.bins)]++;
    int result = 0;
    for (uint32_t bin = 0; result == 0 && bin < arrays.bins; bin++)
        if (got[bin] != expected[bin])
            result = gt_error_set(error, "bin %u holds %u instead of %u", bin, got[bin], expected[bin]);
    free(got);
    return result;
}

const char *const memory_names[MEMORIES] = {"shared", "global"};
const struct gt_kernel_parameter parameters[] = {
    {"atomics", "", "where values are counted: shared (then merged) or global", 0, MEMORIES - 1, SHARED,
     memory_names},
    {"bins", "", "of equal width", 1, MOST_BINS, 256, nullptr},
    {"count", "values", "32 bits each, random", 1, 2e10, 1 << 24, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_histogram = {
    .name = "histogram",
    .help = "how often each bin occurs, by shared or global atomics; checked to the last count",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
