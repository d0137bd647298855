/* conv_bn.cu - a 3 x 3 convolution and the batch normalisation behind it, as one queue of tasks of two kinds; or one of
 * the two alone, as a launch each would do them. */
#include <stdlib.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/persistent.cuh"
#include "kernels/base/reference.h"

namespace {

enum { BAND = 8, HEAD_BYTES = 256, COUNTER_WORDS = 8 };
enum part { BOTH, CONVOLUTION, NORMALISATION };
const double TOLERANCE = 1e-4;
const float EPSILON = 1e-5f;

struct arguments_type {
    uint32_t *head, *ended, *bands_done;  /* 0 between launches; the latter by channel, COUNTER_WORDS apart */
    const float *input, *weights;         /* inputs x side x side; channels x inputs x 3 x 3 */
    float *between, *output;              /* channels x side x side */
    uint32_t inputs, channels, side, part;
};

__host__ __device__ inline uint32_t bands_of(uint32_t side)
{
    return (side + BAND - 1) / BAND;
}

/* One place of one channel; zeros beyond the edges. */
__device__ inline float convolve(const arguments_type &x, const float *weights, uint32_t row, uint32_t column)
{
    float sum = 0;
    for (uint32_t i = 0; i < x.inputs; i++)
        for (uint32_t j = 0; j < 9; j++) {
            uint32_t y = row + j / 3 - 1, z = column + j % 3 - 1;
            if (y < x.side && z < x.side)
                sum = fmaf(weights[i * 9 + j], x.input[((uint64_t)i * x.side + y) * x.side + z], sum);
        }
    return sum;
}

/* BAND rows of a channel. */
__device__ void do_convolution(const arguments_type &x, uint32_t channel, uint32_t band)
{
    const float *weights = x.weights + (uint64_t)channel * x.inputs * 9;
    uint32_t begin = band * BAND * x.side, end = min((band + 1) * BAND, x.side) * x.side;
    for (uint32_t i = begin + this_thread(); i < end; i += block_threads())
        x.between[(uint64_t)channel * x.side * x.side + i] = convolve(x, weights, i / x.side, i % x.side);
}

__device__ void do_normalisation(const arguments_type &x, uint32_t channel, float *shared)
{
    uint32_t count = x.side * x.side;
    const float *from = x.between + (uint64_t)channel * count;
    float sum = 0, squares = 0;
    for (uint32_t i = this_thread(); i < count; i += block_threads())
        sum += __ldcg(from + i);
    float mean = block_reduce<sum_of>(sum, shared) / count;
    for (uint32_t i = this_thread(); i < count; i += block_threads())
        squares += (__ldcg(from + i) - mean) * (__ldcg(from + i) - mean);
    float scale = rsqrtf(block_reduce<sum_of>(squares, shared) / count + EPSILON);
    for (uint32_t i = this_thread(); i < count; i += block_threads())
        x.output[(uint64_t)channel * count + i] = (__ldcg(from + i) - mean) * scale;
}

/* All convolutions, channel by channel, before all normalisations: who takes one of these may have to wait, but only
 * for what somebody has taken already. */
__device__ void do_task(const arguments_type &x, uint32_t task, float *shared)
{
    uint32_t bands = bands_of(x.side), convolutions = x.part == NORMALISATION ? 0 : x.channels * bands;
    uint32_t *done = x.bands_done + (task < convolutions ? task / bands : task - convolutions) * COUNTER_WORDS;
    if (task < convolutions) {
        do_convolution(x, task / bands, task % bands);
        __syncthreads();
        if (this_thread() == 0)
            add_release(done, 1);
        return;
    }
    if (x.part == BOTH && this_thread() == 0)
        while (load_acquire(done) < bands)
            ;
    __syncthreads();
    do_normalisation(x, task - convolutions, shared);
}

__global__ void conv_bn(arguments_type x, struct gt_block_log *log)
{
    __shared__ float shared[32];
    log_begin(log);
    uint32_t tasks = (x.part == NORMALISATION ? 0 : x.channels * bands_of(x.side)) +
                     (x.part == CONVOLUTION ? 0 : x.channels);
    for (;;) {
        uint32_t task = tell_block(this_thread() == 0 ? add_relaxed(x.head, 1) : 0);
        if (task >= tasks)
            break;
        do_task(x, task, shared);
    }
    if (last_block(x.ended)) {
        for (uint32_t i = this_thread(); i < x.channels; i += block_threads())
            x.bands_done[i * COUNTER_WORDS] = 0;
        if (this_thread() == 0)
            *x.head = 0;
    }
    log_end(log);
}

arguments_type layout(const struct gt_gpu_launch *launch)
{
    uint32_t inputs = (uint32_t)launch_argument(launch, 0), channels = (uint32_t)launch_argument(launch, 1);
    uint32_t side = (uint32_t)launch_argument(launch, 2);
    uint64_t place = (uint64_t)side * side;
    char *at = (char *)launch->scratch;
    float *input = (float *)(at + HEAD_BYTES + scratch_array(channels * COUNTER_WORDS * sizeof(uint32_t)));
    float *weights = input + inputs * place, *between = weights + (uint64_t)channels * inputs * 9;
    uint32_t *words = (uint32_t *)at;
    return {words, words + 16, (uint32_t *)(at + HEAD_BYTES), input, weights, between, between + channels * place,
            inputs, channels, side, (uint32_t)launch_argument(launch, 3)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    arguments_type x = layout(launch);
    return (size_t)((char *)(x.output + (uint64_t)x.channels * x.side * x.side) - (char *)launch->scratch);
}

/* What the convolution would leave is random too, for the normalisation alone. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    arguments_type x = layout(launch);
    uint64_t place = (uint64_t)x.side * x.side;
    cudaError_t status = cudaMemsetAsync(launch->scratch, 0, (size_t)((char *)x.input - (char *)launch->scratch),
                                         launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.input, x.inputs * place, seed, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.weights, (uint64_t)x.channels * x.inputs * 9, seed + 1, -1, 1, launch->stream);
    if (status == cudaSuccess && x.part == NORMALISATION)
        status = fill_floats(x.between, x.channels * place, seed + 2, -1, 1, launch->stream);
    return status;
}

/* ---- Checking ---- */

double convolved(const arguments_type &x, uint64_t seed, uint32_t channel, uint32_t i)
{
    uint32_t row = i / x.side, column = i % x.side;
    double sum = 0;
    for (uint32_t input = 0; input < x.inputs; input++)
        for (uint32_t j = 0; j < 9; j++) {
            uint32_t y = row + j / 3 - 1, z = column + j % 3 - 1;
            if (y < x.side && z < x.side)
                sum += (double)random_float(seed + 1, ((uint64_t)channel * x.inputs + input) * 9 + j, -1, 1) *
                       random_float(seed, ((uint64_t)input * x.side + y) * x.side + z, -1, 1);
        }
    return sum;
}

/* A channel as it should be; `values` has room for one. */
void expect_channel(const arguments_type &x, uint64_t seed, uint32_t channel, double *values)
{
    uint32_t count = x.side * x.side;
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = x.part == NORMALISATION ? random_float(seed + 2, (uint64_t)channel * count + i, -1, 1)
                                            : convolved(x, seed, channel, i);
        mean += values[i] / count;
    }
    if (x.part == CONVOLUTION)
        return;
    for (uint32_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean) / count;
    for (uint32_t i = 0; i < count; i++)
        values[i] = (values[i] - mean) / sqrt(variance + EPSILON);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    arguments_type x = layout(launch);
    uint32_t count = x.side * x.side;
    float *got = reference_fetch(x.part == CONVOLUTION ? x.between : x.output, (uint64_t)x.channels * count, error);
    double *values = (double *)gt_calloc(count, sizeof *values);
    struct gt_reference_norm norm = {};
    struct gt_reference_sample sample = gt_reference_sample(x.channels, (uint64_t)count * x.inputs * 72, seed);
    for (uint64_t i = 0; got && i < sample.count; i++) {
        uint32_t channel = (uint32_t)gt_reference_place(&sample, i);
        expect_channel(x, seed, channel, values);
        for (uint32_t j = 0; j < count; j++)
            gt_reference_add(&norm, got[(uint64_t)channel * count + j], values[j]);
    }
    int result = got ? gt_reference_verdict(&norm, TOLERANCE, error) : -1;
    free(values);
    free(got);
    return result;
}

const char *const parts[] = {"both", "convolution", "normalisation"};
const struct gt_kernel_parameter parameters[] = {
    {"inputs", "", "channels that go in", 1, 4096, 16, nullptr},
    {"channels", "", "channels that come out", 1, 4096, 64, nullptr},
    {"side", "", "rows and columns of an image", 1, 4096, 56, nullptr},
    {"part", "", "what this launch does of it", 0, 2, 0, parts},
};

}

extern "C" const struct gt_library_kernel gt_kernel_conv_bn = {
    .name = "conv_bn",
    .help = "3 x 3 convolution and batch normalisation, one queue of tasks of two kinds; checked by norm against FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<conv_bn>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<conv_bn>, layout>,
    .verify = verify,
};
