/* transpose.cu - rows into columns through tiles in shared memory, so that both sides are read and written
 * in rows. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { TILE = 32 };

struct transpose_arguments {
    const float *from;  /* rows x columns */
    float *to;          /* columns x rows */
    uint64_t rows, columns;
};

__global__ void transpose(struct transpose_arguments arguments, struct gt_block_log *log)
{
    __shared__ float tile[TILE][TILE + 1];  /* one more: a column then lies in 32 banks */
    log_begin(log);
    uint64_t across = (arguments.columns + TILE - 1) / TILE, down = (arguments.rows + TILE - 1) / TILE;
    for (uint64_t i = this_block(); i < across * down; i += grid_blocks()) {
        uint64_t row = i / across * TILE, column = i % across * TILE;
        for (unsigned y = threadIdx.y; y < TILE; y += blockDim.y)
            if (row + y < arguments.rows && column + threadIdx.x < arguments.columns)
                tile[y][threadIdx.x] = arguments.from[(row + y) * arguments.columns + column + threadIdx.x];
        __syncthreads();
        for (unsigned y = threadIdx.y; y < TILE; y += blockDim.y)
            if (column + y < arguments.columns && row + threadIdx.x < arguments.rows)
                arguments.to[(column + y) * arguments.rows + row + threadIdx.x] = tile[threadIdx.x][y];
        __syncthreads();
    }
    log_end(log);
}

struct transpose_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t rows = launch_argument(launch, 0), columns = launch_argument(launch, 1);
    char *at = (char *)launch->scratch;
    return {(float *)at, (float *)(at + scratch_array(rows * columns * sizeof(float))), rows, columns};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(launch_argument(launch, 0) * launch_argument(launch, 1) * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch->block[0] == TILE && launch->block[2] == 1)
        return 0;
    return gt_error_set(error, "a block of %ux%ux%u threads; give %d by 1 to 32", launch->block[0],
                        launch->block[1], launch->block[2], TILE);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct transpose_arguments arrays = layout(launch);
    return fill_floats((float *)arrays.from, arrays.rows * arrays.columns, seed, -1, 1, launch->stream);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct transpose_arguments arrays = layout(launch);
    return reference_check_all(arrays.to, arrays.rows * arrays.columns, [&](const float *got, uint64_t i) {
        uint64_t row = i % arrays.rows, column = i / arrays.rows;
        float expected = random_float(seed, row * arrays.columns + column, -1, 1);
        return got[i] == expected
            ? 0 : gt_error_set(error, "row %llu of the result holds %g in column %llu instead of %g",
                               (unsigned long long)column, got[i], (unsigned long long)row, expected);
    }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"rows", "", "of the matrix, FP32", 1, 1e5, 4096, nullptr},
    {"columns", "", "of the matrix", 1, 1e5, 4096, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_transpose = {
    .name = "transpose",
    .help = "rows into columns through tiles in shared memory; checked value by value",
    .restriction = "blocks of 32 x 1 to 32 x 32 threads",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<transpose>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<transpose>, layout>,
    .verify = verify,
};
