/* gemm_cp_async.cu - C = A B on the tensor cores, FP16 in and FP32 out: 128 x 128 tiles of C, eight warps of
 * 64 x 32 each; steps of A and B are fetched with cp.async, some ahead of the one being multiplied. */
#include "kernels/base/tensor.cuh"
#include "kernels/deep_learning/gemm.cuh"

namespace {

enum {
    TILE = 128, DEPTH = 32, THREADS = 256, MATRIX = 16, FEWEST_STAGES = 2, MOST_STAGES = 5,
    WARP_ROWS = 64, WARP_COLUMNS = 32, DOWN = WARP_ROWS / MATRIX, ACROSS = WARP_COLUMNS / MATRIX,
    A_CHUNKS = DEPTH / CHUNK_HALVES, B_CHUNKS = TILE / CHUNK_HALVES,  /* in a row of a tile */
    STAGE_CHUNKS = TILE * A_CHUNKS + DEPTH * B_CHUNKS, STAGE_BYTES = STAGE_CHUNKS * 16
};
const double TOLERANCE = 1e-4;  /* tensor cores cut off where they add, rather than round */

typedef struct gemm_arguments<__half> arguments_type;
typedef float sums_type[DOWN][2 * ACROSS][4];  /* of a warp: 16 x 8 each */

/* A and B of the tile at (row, column), DEPTH deep from `depth`. */
__device__ void fetch_step(const arguments_type &g, uint32_t row, uint32_t column, uint32_t depth,
                           uint4 *stage)
{
    const __half *a = g.a + (uint64_t)row * g.k + depth, *b = g.b + (uint64_t)depth * g.n + column;
    fetch_tile<TILE, A_CHUNKS, THREADS>(stage, (const uint4 *)a, g.k / CHUNK_HALVES, this_thread());
    fetch_tile<DEPTH, B_CHUNKS, THREADS>(stage + TILE * A_CHUNKS, (const uint4 *)b, g.n / CHUNK_HALVES,
                                         this_thread());
}

/* One step of this warp's part, which starts at (row, column) of the tile. */
__device__ void multiply_step(const uint4 *stage, unsigned row, unsigned column, sums_type &sums)
{
    const uint4 *b = stage + TILE * A_CHUNKS;
#pragma unroll
    for (int depth = 0; depth < DEPTH; depth += MATRIX) {
        uint32_t left[DOWN][4], right[ACROSS][4];
#pragma unroll
        for (int y = 0; y < DOWN; y++)
            load_left<A_CHUNKS>(left[y], stage, row + y * MATRIX, depth / CHUNK_HALVES);
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            load_right_by_rows<B_CHUNKS>(right[x], b, depth, (column + x * MATRIX) / CHUNK_HALVES);
#pragma unroll
        for (int y = 0; y < DOWN; y++)
#pragma unroll
            for (int x = 0; x < 2 * ACROSS; x++)
                multiply_add(sums[y][x], left[y], right[x / 2][x % 2 * 2], right[x / 2][x % 2 * 2 + 1]);
    }
}

__device__ void store(const arguments_type &g, uint32_t row, uint32_t column, const sums_type &sums)
{
    unsigned lane = this_thread() % 32;
    float *c = g.c + (uint64_t)(row + lane / 4) * g.n + column + lane % 4 * 2;
#pragma unroll
    for (int y = 0; y < DOWN; y++)
#pragma unroll
        for (int x = 0; x < 2 * ACROSS; x++) {
            float *to = c + (uint64_t)y * MATRIX * g.n + x * 8;
            *(float2 *)to = make_float2(sums[y][x][0], sums[y][x][1]);
            *(float2 *)(to + 8 * (uint64_t)g.n) = make_float2(sums[y][x][2], sums[y][x][3]);
        }
}

/* A group of copies is committed for each step, an empty one beyond the last: the group of the step to be
 * multiplied is then always the STAGES - 1st but last. */
template <int STAGES>
__device__ void multiply_tile(const arguments_type &g, uint32_t row, uint32_t column, uint4 *stages)
{
    unsigned warp = this_thread() / 32;
    unsigned warp_row = warp / 4 * WARP_ROWS, warp_column = warp % 4 * WARP_COLUMNS;
    uint32_t steps = g.k / DEPTH;
    sums_type sums = {};
    for (uint32_t step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            fetch_step(g, row, column, step * DEPTH, stages + step * STAGE_CHUNKS);
        __pipeline_commit();
    }
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t ahead = step + STAGES - 1;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  /* all have the step's data, and none reads the one before any more */
        if (ahead < steps)
            fetch_step(g, row, column, ahead * DEPTH, stages + ahead % STAGES * STAGE_CHUNKS);
        __pipeline_commit();
        multiply_step(stages + step % STAGES * STAGE_CHUNKS, warp_row, warp_column, sums);
    }
    store(g, row + warp_row, column + warp_column, sums);
    __syncthreads();
}

template <int STAGES>
__global__ void __launch_bounds__(THREADS) gemm_cp_async(arguments_type g, struct gt_block_log *log)
{
    extern __shared__ uint4 stages[];
    log_begin(log);
    uint32_t across = g.n / TILE;
    uint64_t tiles = (uint64_t)across * (g.m / TILE);
    for (uint64_t tile = this_block(); tile < tiles; tile += grid_blocks())
        multiply_tile<STAGES>(g, (uint32_t)(tile / across) * TILE, (uint32_t)(tile % across) * TILE, stages);
    log_end(log);
}

typedef void (*gemm_function)(arguments_type, struct gt_block_log *);
const gemm_function functions[MOST_STAGES - FEWEST_STAGES + 1] = {gemm_cp_async<2>, gemm_cp_async<3>,
                                                                  gemm_cp_async<4>, gemm_cp_async<5>};

gemm_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 3) - FEWEST_STAGES];
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (gemm_accepts<__half>(launch, THREADS, TILE, DEPTH, error) != 0)
        return -1;
    return accepts_shared(launch, (uint32_t)launch_argument(launch, 3) * STAGE_BYTES, error);
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
    {"m", "", "rows of A and C; a multiple of 128", 128, 65536, 2048, nullptr},
    {"n", "", "columns of B and C; a multiple of 128", 128, 65536, 2048, nullptr},
    {"k", "", "columns of A, rows of B; a multiple of 32", 32, 65536, 2048, nullptr},
    {"stages", "", "steps in shared memory, one being multiplied", FEWEST_STAGES, MOST_STAGES, 3, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gemm_cp_async = {
    .name = "gemm_cp_async",
    .help = "C = A B, FP16 to FP32 on tensor cores, steps fetched ahead with cp.async, a 128 x 128 tile to a"
            " block; checked by norm against FP64",
    .restriction = "blocks of 256 threads with 16,384 bytes of dynamic shared memory a stage",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<function>,
    .scratch_bytes = gemm_scratch_bytes<__half>,
    .fill = fill,
    .launch = launch_of<function, gemm_layout<__half>>,
    .verify = verify,
};
