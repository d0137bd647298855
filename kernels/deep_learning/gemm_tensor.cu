/* gemm_tensor.cu - C = A B on the tensor cores, FP16 in and FP32 out: 64 x 64 tiles of C, four warps of
 * 32 x 32 each, A and B through shared memory. */
#include <mma.h>

#include "kernels/base/tensor.cuh"
#include "kernels/deep_learning/gemm.cuh"

namespace {

using namespace nvcuda;

enum {
    TILE = 64, DEPTH = 32, FRAGMENT = 16, THREADS = 128, WARP_TILE = 32, FRAGMENTS = WARP_TILE / FRAGMENT,
    VECTOR = 8,   /* halves in 16 bytes */
    PADDING = 8   /* between rows, against bank conflicts */
};
const double TOLERANCE = 1e-4;     /* tensor cores cut off where they add, rather than round */

typedef struct gemm_arguments<__half> arguments_type;
typedef wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, __half, wmma::row_major> left_fragment;
typedef wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, __half, wmma::row_major> right_fragment;
typedef wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float> sum_fragment;

/* `rows` x `columns` halves from a matrix of `pitch` columns, 16 bytes at a time. */
template <int ROWS, int COLUMNS>
__device__ void load_tile(const __half *from, uint32_t pitch, __half (*to)[COLUMNS + PADDING])
{
    for (unsigned i = this_thread(); i < ROWS * COLUMNS / VECTOR; i += THREADS) {
        unsigned y = i / (COLUMNS / VECTOR), x = i % (COLUMNS / VECTOR) * VECTOR;
        *(uint4 *)&to[y][x] = *(const uint4 *)&from[(uint64_t)y * pitch + x];
    }
}

__device__ void multiply(const __half (*a)[DEPTH + PADDING], const __half (*b)[TILE + PADDING], unsigned row,
                         unsigned column, sum_fragment (*sums)[FRAGMENTS])
{
    for (int depth = 0; depth < DEPTH; depth += FRAGMENT) {
        left_fragment left[FRAGMENTS];
        right_fragment right[FRAGMENTS];
        for (int i = 0; i < FRAGMENTS; i++) {
            wmma::load_matrix_sync(left[i], &a[row + i * FRAGMENT][depth], DEPTH + PADDING);
            wmma::load_matrix_sync(right[i], &b[depth][column + i * FRAGMENT], TILE + PADDING);
        }
        for (int y = 0; y < FRAGMENTS; y++)
            for (int x = 0; x < FRAGMENTS; x++)
                wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
    }
}

__global__ void __launch_bounds__(THREADS) gemm_tensor(arguments_type g, struct gt_block_log *log)
{
    __shared__ __align__(32) __half a[TILE][DEPTH + PADDING], b[DEPTH][TILE + PADDING];
    log_begin(log);
    unsigned warp = this_thread() / warpSize;
    unsigned warp_row = warp / 2 * WARP_TILE, warp_column = warp % 2 * WARP_TILE;
    uint32_t across = g.n / TILE;
    uint64_t tiles = (uint64_t)across * (g.m / TILE);
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        uint32_t row = (uint32_t)(tile / across) * TILE, column = (uint32_t)(tile % across) * TILE;
        sum_fragment sums[FRAGMENTS][FRAGMENTS];
        for (int i = 0; i < FRAGMENTS * FRAGMENTS; i++)
            wmma::fill_fragment(sums[i / FRAGMENTS][i % FRAGMENTS], 0.0f);
        for (uint32_t depth = 0; depth < g.k; depth += DEPTH) {
            load_tile<TILE, DEPTH>(g.a + (uint64_t)row * g.k + depth, g.k, a);
            load_tile<DEPTH, TILE>(g.b + (uint64_t)depth * g.n + column, g.n, b);
            __syncthreads();
            multiply(a, b, warp_row, warp_column, sums);
            __syncthreads();
        }
        for (int y = 0; y < FRAGMENTS; y++)
            for (int x = 0; x < FRAGMENTS; x++)
                wmma::store_matrix_sync(g.c + (uint64_t)(row + warp_row + y * FRAGMENT) * g.n + column +
                                        warp_column + x * FRAGMENT, sums[y][x], g.n, wmma::mem_row_major);
    }
    log_end(log);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    return gemm_accepts<__half>(launch, THREADS, TILE, DEPTH, error);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return gemm_fill<__half>(launch, seed, fill_halves);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    return gemm_verify<__half>(launch, seed, as_half, TOLERANCE, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"m", "", "rows of A and C; a multiple of 64", 64, 65536, 2048, nullptr},
    {"n", "", "columns of B and C; a multiple of 64", 64, 65536, 2048, nullptr},
    {"k", "", "columns of A, rows of B; a multiple of 32", 32, 65536, 2048, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gemm_tensor = {
    .name = "gemm_tensor",
    .help = "C = A B, FP16 to FP32 on tensor cores, a 64 x 64 tile to a block; checked by norm against FP64",
    .restriction = "blocks of 128 threads",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<gemm_tensor>>,
    .scratch_bytes = gemm_scratch_bytes<__half>,
    .fill = fill,
    .launch = launch_of<only<gemm_tensor>, gemm_layout<__half>>,
    .verify = verify,
};
