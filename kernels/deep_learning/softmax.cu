/* softmax.cu - exp(x - max) / sum of them, a row to a block. */
#include <math.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/reference.h"

namespace {

const float LOW = -8, HIGH = 8;
const double TOLERANCE = 1e-5;

struct softmax_arguments {
    const float *from;
    float *to;
    uint64_t rows, columns;
};

__global__ void softmax(struct softmax_arguments arguments, struct gt_block_log *log)
{
    __shared__ float shared[32];
    log_begin(log);
    for (uint64_t row = this_block(); row < arguments.rows; row += grid_blocks()) {
        const float *from = arguments.from + row * arguments.columns;
        float *to = arguments.to + row * arguments.columns;
        float greatest = -INFINITY, sum = 0;
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            greatest = fmaxf(greatest, from[i]);
        greatest = block_reduce<greatest_of>(greatest, shared);
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            sum += expf(from[i] - greatest);
        float scale = 1.0f / block_reduce<sum_of>(sum, shared);
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            to[i] = expf(from[i] - greatest) * scale;
    }
    log_end(log);
}

struct softmax_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 0), columns = launch_argument(launch, 1);
    char *at = (char *)launch->scratch;
    return {(float *)at, (float *)(at + scratch_array(rows * columns * sizeof(float))), rows, columns};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(launch_argument(launch, 0) * launch_argument(launch, 1) * sizeof(float));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct softmax_arguments arrays = layout(launch);
    return fill_floats((float *)arrays.from, arrays.rows * arrays.columns, seed, LOW, HIGH, launch->stream);
}

/* No maximum is subtracted here: doubles hold e to the 8th and the sums of such. */
void add_row(struct gt_reference_norm *norm, const float *got, uint64_t row, uint64_t columns, uint64_t seed)
{
    double sum = 0;
    for (uint64_t i = 0; i < columns; i++)
        sum += exp((double)random_float(seed, row * columns + i, LOW, HIGH));
    for (uint64_t i = 0; i < columns; i++)
        gt_reference_add(norm, got[row * columns + i],
                         exp((double)random_float(seed, row * columns + i, LOW, HIGH)) / sum);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t EXP_COST = 40;  /* operations that two exponentials are worth */
    struct softmax_arguments arrays = layout(launch);
    return reference_compare(
        arrays.to, arrays.rows * arrays.columns,
        gt_reference_sample(arrays.rows, arrays.columns * EXP_COST, seed), TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t row) {
            add_row(norm, got, row, arrays.columns, seed);
        }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"rows", "", "each the work of one block", 1, 1e6, 4096, nullptr},
    {"columns", "", "values in a row, FP32", 1, 1e5, 1024, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_softmax = {
    .name = "softmax",
    .help = "softmax of each row of a matrix, a row to a block; checked by norm against FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<softmax>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<softmax>, layout>,
    .verify = verify,
};
