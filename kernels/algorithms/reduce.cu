/* reduce.cu - the sum of an array: a part a block, the parts added up by whichever block ends last. */
#include <stdlib.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/reference.h"

namespace {

enum { HEAD_BYTES = 256 };
const double TOLERANCE = 1e-5;

struct reduce_arguments {
    unsigned *ended;   /* blocks so far; wraps to 0 with the last one, ready for the next launch */
    float *sum;        /* the result */
    float *parts;      /* one a block */
    const float *values;
    uint64_t count;
};

__global__ void reduce(struct reduce_arguments arguments, struct gt_block_log *log)
{
    __shared__ float shared[32];
    __shared__ bool last;
    log_begin(log);
    float sum = 0;
    uint64_t blocks = grid_blocks();
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < arguments.count;
         i += blocks * block_threads())
        sum += arguments.values[i];
    sum = block_reduce<sum_of>(sum, shared);
    if (this_thread() == 0) {
        arguments.parts[this_block()] = sum;
        __threadfence();
        last = atomicInc(arguments.ended, (unsigned)(blocks - 1)) == blocks - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        sum = 0;
        for (uint64_t i = this_thread(); i < blocks; i += block_threads())
            sum += ((volatile float *)arguments.parts)[i];
        sum = block_reduce<sum_of>(sum, shared);
        if (this_thread() == 0)
            *arguments.sum = sum;
    }
    log_end(log);
}

struct reduce_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch, *parts = at + HEAD_BYTES;
    return {(unsigned *)at, (float *)at + 1, (float *)parts,
            (float *)(parts + scratch_array(launch_blocks(launch) * sizeof(float))),
            launch_argument(launch, 0)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return HEAD_BYTES + scratch_array(launch_blocks(launch) * sizeof(float)) +
           scratch_array(launch_argument(launch, 0) * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_blocks(launch) <= UINT32_MAX)
        return 0;
    return gt_error_set(error, "%llu blocks; at most %u can be counted",
                        (unsigned long long)launch_blocks(launch), UINT32_MAX);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct reduce_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.ended, 0, sizeof *arrays.ended, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)arrays.values, arrays.count, seed, 0, 1, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct reduce_arguments arrays = layout(launch);
    float *got = reference_fetch(arrays.sum, 1, error);
    if (!got)
        return -1;
    double expected = 0;
    for (uint64_t i = 0; i < arrays.count; i++)
        expected += random_float(seed, i, 0, 1);
    struct gt_reference_norm norm = {};
    gt_reference_add(&norm, *got, expected);
    free(got);
    return gt_reference_verdict(&norm, TOLERANCE, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"count", "values", "to add up, FP32", 1, 2e10, 1 << 24, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_reduce = {
    .name = "reduce",
    .help = "the sum of an array, by warp shuffles and one word a block; checked against a sum in FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<reduce>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<reduce>, layout>,
    .verify = verify,
};
