/* spmv.cu - y = A x, A sparse with compressed rows (CSR) of uneven length; a row to a thread or a warp. */

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/reference.h"

namespace {

enum method { SCALAR, VECTOR, METHODS };
enum { WARP = 32 };
const double TOLERANCE = 1e-5;

struct spmv_arguments {
    const uint32_t *starts;   /* rows + 1 */
    const uint32_t *columns;  /* of each value */
    const float *values, *x;
    float *y;
    uint32_t rows, width, average;
};

/* Rows start at even distances, each put off by less than one of them at random: rows have 1 to 2 average - 1
 * values, and nothing need be summed to find one. */
__host__ __device__ inline uint32_t start_of(uint64_t row, const spmv_arguments &s, uint64_t seed)
{
    uint64_t off = row == 0 || row == s.rows ? 0 : random_bits(seed, row) % s.average;
    return (uint32_t)(row * s.average + off);
}

__host__ __device__ inline uint32_t column_of(uint64_t value, const spmv_arguments &s, uint64_t seed)
{
    return (uint32_t)(random_bits(seed + 1, value) % s.width);
}

__global__ void scalar(spmv_arguments s, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t step = grid_blocks() * block_threads();
    for (uint64_t row = this_block() * block_threads() + this_thread(); row < s.rows; row += step) {
        float sum = 0;
        for (uint32_t i = s.starts[row]; i < s.starts[row + 1]; i++)
            sum = fmaf(s.values[i], s.x[s.columns[i]], sum);
        s.y[row] = sum;
    }
    log_end(log);
}

__global__ void vector(spmv_arguments s, struct gt_block_log *log)
{
    log_begin(log);
    unsigned lane = this_thread() % WARP, warps = block_threads() / WARP;
    uint64_t step = grid_blocks() * warps;
    for (uint64_t row = this_block() * warps + this_thread() / WARP; row < s.rows; row += step) {
        float sum = 0;
        for (uint32_t i = s.starts[row] + lane; i < s.starts[row + 1]; i += WARP)
            sum = fmaf(s.values[i], s.x[s.columns[i]], sum);
        sum = warp_reduce<sum_of>(sum, WARP);
        if (lane == 0)
            s.y[row] = sum;
    }
    log_end(log);
}

__global__ void fill_matrix(uint32_t *starts, uint32_t *columns, spmv_arguments s, uint64_t seed)
{
    uint64_t first = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (uint64_t row = first; row <= s.rows; row += step)
        starts[row] = start_of(row, s, seed);
    for (uint64_t i = first; i < (uint64_t)s.rows * s.average; i += step)
        columns[i] = column_of(i, s, seed);
}

typedef void (*spmv_function)(spmv_arguments, struct gt_block_log *);
const spmv_function functions[METHODS] = {scalar, vector};

spmv_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 0)];
}

spmv_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 1), width = launch_argument(launch, 2);
    uint64_t average = launch_argument(launch, 3);
    size_t values = scratch_array(rows * average * sizeof(float));
    char *starts = (char *)launch->scratch, *columns = starts + scratch_array((rows + 1) * sizeof(uint32_t));
    char *x = columns + 2 * values, *y = x + scratch_array(width * sizeof(float));
    return {(uint32_t *)starts, (uint32_t *)columns, (float *)(columns + values), (float *)x, (float *)y,
            (uint32_t)rows, (uint32_t)width, (uint32_t)average};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 1), width = launch_argument(launch, 2);
    return scratch_array((rows + 1) * sizeof(uint32_t)) +
           2 * scratch_array(rows * launch_argument(launch, 3) * sizeof(float)) +
           scratch_array(width * sizeof(float)) + scratch_array(rows * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    uint64_t values = launch_argument(launch, 1) * launch_argument(launch, 3);
    if (launch_argument(launch, 0) == VECTOR && launch_block_threads(launch) % WARP)
        return gt_error_set(error, "%u threads a block; give whole warps, or method=scalar",
                            launch_block_threads(launch));
    if (values > UINT32_MAX)
        return gt_error_set(error, "%llu values; at most %u can be counted", (unsigned long long)values,
                            UINT32_MAX);
    return 0;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    const unsigned BLOCKS = 1024, THREADS = 256;
    spmv_arguments s = layout(launch);
    fill_matrix<<<BLOCKS, THREADS, 0, launch->stream>>>((uint32_t *)s.starts, (uint32_t *)s.columns, s, seed);
    cudaError_t status = cudaGetLastError();
    uint64_t values = (uint64_t)s.rows * s.average;
    if (status == cudaSuccess)
        status = fill_floats((float *)s.values, values, seed + 2, -1, 1, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)s.x, s.width, seed + 3, -1, 1, launch->stream);
    return status;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t VALUE_COST = 32;  /* operations that three inputs are worth */
    spmv_arguments s = layout(launch);
    return reference_compare(
        s.y, s.rows, gt_reference_sample(s.rows, s.average * VALUE_COST, seed), TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t row) {
            double sum = 0;
            for (uint64_t i = start_of(row, s, seed); i < start_of(row + 1, s, seed); i++)
                sum += (double)random_float(seed + 2, i, -1, 1) *
                       random_float(seed + 3, column_of(i, s, seed), -1, 1);
            gt_reference_add(norm, got[row], sum);
        }, error);
}

const char *const method_names[METHODS] = {"scalar", "vector"};
const struct gt_kernel_parameter parameters[] = {
    {"method", "", "a row to a thread (scalar) or to a warp (vector)", 0, METHODS - 1, VECTOR, method_names},
    {"rows", "", "of the matrix", 1, 1 << 28, 1 << 18, nullptr},
    {"columns", "", "of the matrix, entries of x", 1, 1 << 28, 1 << 18, nullptr},
    {"average", "values", "in a row, FP32; rows have 1 to twice as many less 1", 1, 65536, 32, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_spmv = {
    .name = "spmv",
    .help = "sparse matrix (CSR, random columns, uneven rows) times a vector; checked by norm against FP64",
    .restriction = "whole warps where a warp takes a row",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
