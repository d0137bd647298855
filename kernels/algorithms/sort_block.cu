/* sort_block.cu - segments of an array, each sorted by one block in shared memory with a bitonic network. */
#include <stdlib.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { FEWEST_KEYS = 2, MOST_KEYS = 8192 };  /* in a segment; 32 KiB */

struct sort_arguments {
    const uint32_t *from;
    uint32_t *to;
    uint64_t segments;
    uint32_t keys;  /* in a segment, a power of two */
};

/* One step of the network: pairs `apart`, in runs of `run` keys that ascend and descend in turn. */
__device__ void compare_all(uint32_t *keys, uint32_t count, uint32_t run, uint32_t apart)
{
    for (uint32_t i = this_thread(); i < count / 2; i += block_threads()) {
        uint32_t low = 2 * i - (i & (apart - 1)), high = low + apart;
        uint32_t a = keys[low], b = keys[high];
        if ((a > b) == ((low & run) == 0)) {
            keys[low] = b;
            keys[high] = a;
        }
    }
    __syncthreads();
}

__global__ void sort_block(sort_arguments s, struct gt_block_log *log)
{
    __shared__ uint32_t keys[MOST_KEYS];
    log_begin(log);
    for (uint64_t segment = this_block(); segment < s.segments; segment += grid_blocks()) {
        for (uint32_t i = this_thread(); i < s.keys; i += block_threads())
            keys[i] = s.from[segment * s.keys + i];
        __syncthreads();
        for (uint32_t run = 2; run <= s.keys; run *= 2)
            for (uint32_t apart = run / 2; apart > 0; apart /= 2)
                compare_all(keys, s.keys, run, apart);
        for (uint32_t i = this_thread(); i < s.keys; i += block_threads())
            s.to[segment * s.keys + i] = keys[i];
        __syncthreads();
    }
    log_end(log);
}

sort_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t segments = launch_argument(launch, 0), keys = launch_argument(launch, 1);
    char *at = (char *)launch->scratch;
    return {(uint32_t *)at, (uint32_t *)(at + scratch_array(segments * keys * sizeof(uint32_t))), segments,
            (uint32_t)keys};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(launch_argument(launch, 0) * launch_argument(launch, 1) * sizeof(uint32_t));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    uint64_t keys = launch_argument(launch, 1);
    if ((keys & (keys - 1)) == 0)
        return 0;
    return gt_error_set(error, "%llu keys a segment; give a power of two", (unsigned long long)keys);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    sort_arguments arrays = layout(launch);
    return fill_words((uint32_t *)arrays.from, arrays.segments * arrays.keys, seed, launch->stream);
}

int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t KEY_COST = 64;  /* operations that making and sorting a key is worth */
    sort_arguments arrays = layout(launch);
    uint32_t *got = reference_fetch(arrays.to, arrays.segments * arrays.keys, error);
    if (!got)
        return -1;
    int result = 0;
    uint32_t expected[MOST_KEYS];
    struct gt_reference_sample sample = gt_reference_sample(arrays.segments, arrays.keys * KEY_COST, seed);
    for (uint64_t n = 0; result == 0 && n < sample.count; n++) {
        uint64_t segment = gt_reference_place(&sample, n), first = segment * arrays.keys;
        for (uint32_t i = 0; i < arrays.keys; i++)
            expected[i] = (uint32_t)random_bits(seed, first + i);
        qsort(expected, arrays.keys, sizeof *expected, by_key);
        for (uint32_t i = 0; result == 0 && i < arrays.keys; i++)
            if (got[first + i] != expected[i])
                result = gt_error_set(error, "key %u of segment %llu is %u instead of %u", i,
                                      (unsigned long long)segment, got[first + i], expected[i]);
    }
    free(got);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"segments", "", "each the work of one block", 1, 1 << 24, 4096, nullptr},
    {"keys", "values", "in a segment, 32 bits each; a power of two", FEWEST_KEYS, MOST_KEYS, 2048, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_sort_block = {
    .name = "sort_block",
    .help = "segments sorted by a bitonic network in shared memory; checked key by key",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<sort_block>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<sort_block>, layout>,
    .verify = verify,
};
