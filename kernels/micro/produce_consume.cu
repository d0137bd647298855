/* produce_consume.cu - half of a grid's blocks make chunks of numbers, the other half sums each up as soon as it is
 * there; or one of the two alone, as a launch each would do them. */
#include <stdlib.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/persistent.cuh"
#include "kernels/base/reference.h"

namespace {

enum { HEAD_BYTES = 256, FLAG_WORDS = 8 };
enum part { BOTH, PRODUCE, CONSUME };
const double TOLERANCE = 1e-4;

struct arguments_type {
    uint32_t *ended, *ready;  /* 0 between launches; the latter by chunk, FLAG_WORDS apart */
    float *sums;              /* by chunk */
    const float *values;
    float *made;              /* chunk after chunk, as the values */
    uint32_t chunks, chunk, work, part;
};

/* Some arithmetic that keeps a number between -1 and 1. */
__host__ __device__ inline float worked(float x, uint32_t work)
{
    for (uint32_t i = 0; i < work; i++)
        x = fmaf(-2 * x, x, 1);
    return x;
}

__device__ void produce(const arguments_type &x, uint32_t chunk)
{
    for (uint32_t i = this_thread(); i < x.chunk; i += block_threads())
        x.made[(uint64_t)chunk * x.chunk + i] = worked(x.values[(uint64_t)chunk * x.chunk + i], x.work);
    __syncthreads();
    if (this_thread() == 0)
        add_release(&x.ready[chunk * FLAG_WORDS], 1);
}

__device__ void consume(const arguments_type &x, uint32_t chunk, float *shared)
{
    float sum = 0;
    if (x.part == BOTH && this_thread() == 0)
        while (load_acquire(&x.ready[chunk * FLAG_WORDS]) == 0)
            ;
    __syncthreads();
    for (uint32_t i = this_thread(); i < x.chunk; i += block_threads())
        sum += __ldcg(&x.made[(uint64_t)chunk * x.chunk + i]);
    sum = block_reduce<sum_of>(sum, shared);
    if (this_thread() == 0)
        x.sums[chunk] = sum;
}

/* Even blocks produce and odd ones consume, where both do. */
__global__ void produce_consume(arguments_type x, struct gt_block_log *log)
{
    __shared__ float shared[32];
    log_begin(log);
    uint32_t block = (uint32_t)this_block(), blocks = (uint32_t)grid_blocks(), turns = x.part == BOTH ? 2 : 1;
    bool produces = x.part == PRODUCE || (x.part == BOTH && block % 2 == 0);
    for (uint32_t chunk = block / turns; chunk < x.chunks; chunk += blocks / turns)
        if (produces)
            produce(x, chunk);
        else
            consume(x, chunk, shared);
    if (last_block(x.ended))
        for (uint32_t i = this_thread(); i < x.chunks; i += block_threads())
            x.ready[i * FLAG_WORDS] = 0;
    log_end(log);
}

arguments_type layout(const struct gt_gpu_launch *launch)
{
    uint32_t chunks = (uint32_t)launch_argument(launch, 0), chunk = (uint32_t)launch_argument(launch, 1);
    char *at = (char *)launch->scratch;
    float *sums = (float *)(at + HEAD_BYTES + scratch_array(chunks * FLAG_WORDS * sizeof(uint32_t)));
    float *values = (float *)((char *)sums + scratch_array(chunks * sizeof *sums));
    return {(uint32_t *)at, (uint32_t *)(at + HEAD_BYTES), sums, values, values + (uint64_t)chunks * chunk, chunks,
            chunk, (uint32_t)launch_argument(launch, 2), (uint32_t)launch_argument(launch, 3)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    arguments_type x = layout(launch);
    return (size_t)((char *)(x.made + (uint64_t)x.chunks * x.chunk) - (char *)launch->scratch);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (layout(launch).part != BOTH || launch_blocks(launch) % 2 == 0)
        return 0;
    return gt_error_set(error, "%llu blocks; give an even number, half of them for each part",
                        (unsigned long long)launch_blocks(launch));
}

/* What consumers alone sum up is random as it is. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    arguments_type x = layout(launch);
    uint64_t count = (uint64_t)x.chunks * x.chunk;
    cudaError_t status = cudaMemsetAsync(launch->scratch, 0, (size_t)((char *)x.sums - (char *)launch->scratch),
                                         launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.values, count, seed, -1, 1, launch->stream);
    if (status == cudaSuccess && x.part == CONSUME)
        status = fill_floats(x.made, count, seed, -1, 1, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    arguments_type x = layout(launch);
    uint64_t count = x.part == PRODUCE ? (uint64_t)x.chunks * x.chunk : x.chunks;
    return reference_compare(
        x.part == PRODUCE ? x.made : x.sums, count, gt_reference_sample(count, x.part == PRODUCE ? 16 : x.chunk * 16, seed),
        TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
            double expected = 0;
            for (uint64_t i = 0; x.part != PRODUCE && i < x.chunk; i++)
                expected += worked(random_float(seed, at * x.chunk + i, -1, 1), x.part == CONSUME ? 0 : x.work);
            if (x.part == PRODUCE)
                expected = worked(random_float(seed, at, -1, 1), x.work);
            gt_reference_add(norm, got[at], expected);
        }, error);
}

const char *const parts[] = {"both", "produce", "consume"};
const struct gt_kernel_parameter parameters[] = {
    {"chunks", "", "that are made and summed up", 1, 1 << 20, 1024, nullptr},
    {"chunk", "", "numbers of one", 1, 1 << 20, 4096, nullptr},
    {"work", "", "steps of arithmetic to make a number; few, for they are chaotic", 0, 8, 4, nullptr},
    {"part", "", "what this launch does of it", 0, 2, 0, parts},
};

}

extern "C" const struct gt_library_kernel gt_kernel_produce_consume = {
    .name = "produce_consume",
    .help = "blocks that make chunks of numbers and blocks that sum them up in one kernel; checked by norm",
    .restriction = "an even number of blocks where they do both, all resident at once",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<produce_consume>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<produce_consume>, layout>,
    .verify = verify,
};
