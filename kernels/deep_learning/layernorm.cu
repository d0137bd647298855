/* layernorm.cu - (x - mean) / deviation * scale + shift, a row to a block. */

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/reference.h"

namespace {

const float EPSILON = 1e-5f, LOW = -1, HIGH = 3;
const double TOLERANCE = 1e-5;

struct layernorm_arguments {
    const float *from, *scale, *shift;  /* scale and shift: one for each column */
    float *to;
    uint64_t rows, columns;
};

__global__ void layernorm(struct layernorm_arguments arguments, struct gt_block_log *log)
{
    __shared__ float shared[32];
    log_begin(log);
    for (uint64_t row = this_block(); row < arguments.rows; row += grid_blocks()) {
        const float *from = arguments.from + row * arguments.columns;
        float *to = arguments.to + row * arguments.columns;
        float sum = 0, squares = 0;
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            sum += from[i];
        float mean = block_reduce<sum_of>(sum, shared) / arguments.columns;
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            squares = fmaf(from[i] - mean, from[i] - mean, squares);
        float scale = rsqrtf(block_reduce<sum_of>(squares, shared) / arguments.columns + EPSILON);
        for (uint64_t i = this_thread(); i < arguments.columns; i += block_threads())
            to[i] = fmaf((from[i] - mean) * scale, arguments.scale[i], arguments.shift[i]);
    }
    log_end(log);
}

struct layernorm_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 0), columns = launch_argument(launch, 1);
    size_t matrix = scratch_array(rows * columns * sizeof(float));
    size_t line = scratch_array(columns * sizeof(float));
    char *at = (char *)launch->scratch;
    return {(float *)at, (float *)(at + matrix), (float *)(at + matrix + line),
            (float *)(at + matrix + 2 * line), rows, columns};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 0), columns = launch_argument(launch, 1);
    return 2 * scratch_array(rows * columns * sizeof(float)) + 2 * scratch_array(columns * sizeof(float));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct layernorm_arguments arrays = layout(launch);
    cudaError_t status = fill_floats((float *)arrays.from, arrays.rows * arrays.columns, seed, LOW, HIGH,
                                     launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)arrays.scale, arrays.columns, seed + 1, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)arrays.shift, arrays.columns, seed + 2, -1, 1, launch->stream);
    return status;
}

void add_row(struct gt_reference_norm *norm, const float *got, uint64_t row, uint64_t columns, uint64_t seed)
{
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < columns; i++)
        sum += random_float(seed, row * columns + i, LOW, HIGH);
    double mean = sum / columns;
    for (uint64_t i = 0; i < columns; i++) {
        double x = random_float(seed, row * columns + i, LOW, HIGH) - mean;
        squares += x * x;
    }
    double scale = 1 / sqrt(squares / columns + EPSILON);
    for (uint64_t i = 0; i < columns; i++)
        gt_reference_add(norm, got[row * columns + i],
                         (random_float(seed, row * columns + i, LOW, HIGH) - mean) * scale *
                         random_float(seed + 1, i, -1, 1) + random_float(seed + 2, i, -1, 1));
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t VALUE_COST = 40;  /* operations that five inputs are worth */
    struct layernorm_arguments arrays = layout(launch);
    return reference_compare(
        arrays.to, arrays.rows * arrays.columns,
        gt_reference_sample(arrays.rows, arrays.columns * VALUE_COST, seed), TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t row) {
            add_row(norm, got, row, arrays.columns, seed);
        }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"rows", "", "each the work of one block", 1, 1e6, 4096, nullptr},
    {"columns", "", "values in a row, FP32", 1, 1e5, 1024, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_layernorm = {
    .name = "layernorm",
    .help = "each row of a matrix to mean 0 and deviation 1, then scaled and shifted by column, a row to a"
            " block; checked by norm against FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<layernorm>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<layernorm>, layout>,
    .verify = verify,
};
