/* gemm_tiled.cu - C = A B in FP32: 64 x 64 tiles of C, 4 x 4 values a thread, A and B through shared
 * memory. */
#include "kernels/deep_learning/gemm.cuh"

namespace {

enum { TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE };  /* SIDE x SIDE threads, EACH x EACH values */
const double TOLERANCE = 1e-5;

typedef struct gemm_arguments<float> arguments_type;

/* DEPTH columns of A (turned, so that a thread's values lie side by side) and DEPTH rows of B; zeros beyond
 * the matrices' edges. */
__device__ void load_tiles(const arguments_type &g, uint32_t row, uint32_t column, uint32_t depth,
                           float (*a)[TILE + 4], float (*b)[TILE])
{
    for (unsigned i = this_thread(); i < TILE * DEPTH; i += SIDE * SIDE) {
        unsigned y = i / DEPTH, x = i % DEPTH;
        bool inside = row + y < g.m && depth + x < g.k;
        a[x][y] = inside ? g.a[(uint64_t)(row + y) * g.k + depth + x] : 0.0f;
        y = i / TILE;
        x = i % TILE;
        inside = depth + y < g.k && column + x < g.n;
        b[y][x] = inside ? g.b[(uint64_t)(depth + y) * g.n + column + x] : 0.0f;
    }
}

__device__ void multiply(const float (*a)[TILE + 4], const float (*b)[TILE], float (*sums)[EACH])
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        float4 left = *(const float4 *)&a[k][threadIdx.y * EACH];
        float4 right = *(const float4 *)&b[k][threadIdx.x * EACH];
        const float down[EACH] = {left.x, left.y, left.z, left.w};
        const float across[EACH] = {right.x, right.y, right.z, right.w};
#pragma unroll
        for (int y = 0; y < EACH; y++)
#pragma unroll
            for (int x = 0; x < EACH; x++)
                sums[y][x] = fmaf(down[y], across[x], sums[y][x]);
    }
}

__device__ void store(const arguments_type &g, uint32_t row, uint32_t column, const float (*sums)[EACH])
{
    for (int y = 0; y < EACH; y++)
        for (int x = 0; x < EACH; x++)
            if (row + y < g.m && column + x < g.n)
                g.c[(uint64_t)(row + y) * g.n + column + x] = sums[y][x];
}

__global__ void __launch_bounds__(SIDE * SIDE) gemm_tiled(arguments_type g, struct gt_block_log *log)
{
    __shared__ __align__(16) float a[DEPTH][TILE + 4], b[DEPTH][TILE];
    log_begin(log);
    uint32_t across = (g.n + TILE - 1) / TILE;
    uint64_t tiles = (uint64_t)across * ((g.m + TILE - 1) / TILE);
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks()) {
        uint32_t row = (uint32_t)(tile / across) * TILE, column = (uint32_t)(tile % across) * TILE;
        float sums[EACH][EACH] = {};
        for (uint32_t depth = 0; depth < g.k; depth += DEPTH) {
            load_tiles(g, row, column, depth, a, b);
            __syncthreads();
            multiply(a, b, sums);
            __syncthreads();
        }
        store(g, row + threadIdx.y * EACH, column + threadIdx.x * EACH, sums);
    }
    log_end(log);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch->block[0] == SIDE && launch->block[1] == SIDE && launch->block[2] == 1)
        return 0;
    return gt_error_set(error, "a block of %ux%ux%u threads; give %d by %d", launch->block[0],
                        launch->block[1], launch->block[2], SIDE, SIDE);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return gemm_fill<float>(launch, seed, fill_floats);
}

double as_it_is(float value)
{
    return value;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    return gemm_verify<float>(launch, seed, as_it_is, TOLERANCE, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"m", "", "rows of A and C", 1, 65536, 1024, nullptr},
    {"n", "", "columns of B and C", 1, 65536, 1024, nullptr},
    {"k", "", "columns of A, rows of B", 1, 65536, 1024, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gemm_tiled = {
    .name = "gemm_tiled",
    .help = "C = A B in FP32, a 64 x 64 tile to a block; checked by norm against FP64",
    .restriction = "blocks of 16 x 16 threads",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<gemm_tiled>>,
    .scratch_bytes = gemm_scratch_bytes<float>,
    .fill = fill,
    .launch = launch_of<only<gemm_tiled>, gemm_layout<float>>,
    .verify = verify,
};
