/* gemm_tasks.cu - C = A B in FP32, a tile a task, and four ways to hand the tasks out: a block each, as kernels usually
 * do; or blocks that stay, with one queue, a list each, or a queue each that others steal from. */
#include "kernels/base/persistent.cuh"
#include "kernels/deep_learning/gemm.cuh"

namespace {

enum { TILE = 32, HEAD_BYTES = 256 };
enum handing { BLOCK, SHARED, STATIC, STEAL };
enum : uint32_t { NO_TILE = UINT32_MAX };
const double TOLERANCE = 1e-5;

struct arguments_type {
    struct gemm_arguments<float> g;
    uint32_t *head, *taken, *ended;  /* 0 between launches */
    uint64_t *ranges;                /* a block's own tiles: end << 32 | begin */
    uint32_t tiles, handing;
};

/* One tile of C; `a` and `b` are the block's. */
__device__ void multiply_tile(const struct gemm_arguments<float> &g, uint32_t tile, float (*a)[TILE],
                              float (*b)[TILE], float (*c)[TILE])
{
    uint32_t row = tile / (g.n / TILE) * TILE, column = tile % (g.n / TILE) * TILE;
    for (unsigned i = this_thread(); i < TILE * TILE; i += block_threads())
        c[i / TILE][i % TILE] = 0;
    for (uint32_t depth = 0; depth < g.k; depth += TILE) {
        __syncthreads();
        for (unsigned i = this_thread(); i < TILE * TILE; i += block_threads()) {
            unsigned y = i / TILE, x = i % TILE;
            a[y][x] = g.a[(uint64_t)(row + y) * g.k + depth + x];
            b[y][x] = g.b[(uint64_t)(depth + y) * g.n + column + x];
        }
        __syncthreads();
        for (unsigned i = this_thread(); i < TILE * TILE; i += block_threads()) {
            float sum = c[i / TILE][i % TILE];
            for (int k = 0; k < TILE; k++)
                sum = fmaf(a[i / TILE][k], b[k][i % TILE], sum);
            c[i / TILE][i % TILE] = sum;
        }
    }
    __syncthreads();
    for (unsigned i = this_thread(); i < TILE * TILE; i += block_threads())
        g.c[(uint64_t)(row + i / TILE) * g.n + column + i % TILE] = c[i / TILE][i % TILE];
}

/* The first of a range's tiles, or the last one for thieves: both ends are one word. */
__device__ uint32_t take_of(uint64_t *range, bool first)
{
    uint64_t seen = load_acquire(range);
    while ((uint32_t)(seen >> 32) > (uint32_t)seen) {
        uint64_t less = first ? seen + 1 : seen - (UINT64_C(1) << 32), before = swap_if(range, seen, less);
        if (before == seen)
            return first ? (uint32_t)seen : (uint32_t)(less >> 32);
        seen = before;
    }
    return NO_TILE;
}

__device__ uint32_t steal(const arguments_type &x)
{
    uint32_t blocks = (uint32_t)grid_blocks(), block = (uint32_t)this_block();
    do
        for (uint32_t i = 0; i < blocks; i++) {
            uint32_t tile = take_of(&x.ranges[(block + i) % blocks], i == 0);
            if (tile != NO_TILE) {
                add_relaxed(x.taken, 1);
                return tile;
            }
        }
    while (load_relaxed(x.taken) < x.tiles);
    return NO_TILE;
}

/* The next tile; `turn` counts the block's. */
__device__ uint32_t next_tile(const arguments_type &x, uint32_t turn)
{
    uint32_t tile = (uint32_t)this_block();
    switch (x.handing) {
    case SHARED: tile = add_relaxed(x.head, 1); break;
    case STATIC: tile += turn * (uint32_t)grid_blocks(); break;
    case STEAL: return steal(x);
    default: return turn == 0 ? tile : NO_TILE;
    }
    return tile < x.tiles ? tile : NO_TILE;
}

__global__ void gemm_tasks(arguments_type x, struct gt_block_log *log)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE], c[TILE][TILE];
    log_begin(log);
    if (x.handing == STEAL && this_thread() == 0) {
        uint64_t blocks = grid_blocks(), block = this_block();
        atomicExch((unsigned long long *)&x.ranges[block],
                   (x.tiles * (block + 1) / blocks) << 32 | x.tiles * block / blocks);
    }
    for (uint32_t turn = 0;; turn++) {
        uint32_t tile = tell_block(this_thread() == 0 ? next_tile(x, turn) : 0);
        if (tile == NO_TILE)
            break;
        multiply_tile(x.g, tile, a, b, c);
    }
    if (x.handing != BLOCK && last_block(x.ended) && this_thread() == 0)
        *x.head = *x.taken = 0;
    log_end(log);
}

arguments_type layout(const struct gt_gpu_launch *launch)
{
    struct gemm_arguments<float> g = gemm_layout<float>(launch);
    char *head = (char *)launch->scratch + gemm_scratch_bytes<float>(launch);
    uint32_t *words = (uint32_t *)head;
    return {g, words, words + 16, words + 32, (uint64_t *)(head + HEAD_BYTES), g.m / TILE * (g.n / TILE),
            (uint32_t)launch_argument(launch, 3)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return gemm_scratch_bytes<float>(launch) + HEAD_BYTES + launch_blocks(launch) * sizeof(uint64_t);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    arguments_type x = layout(launch);
    if (x.g.m % TILE || x.g.n % TILE || x.g.k % TILE)
        return gt_error_set(error, "m, n and k are %u, %u and %u; give multiples of %d", x.g.m, x.g.n, x.g.k, TILE);
    if (x.handing == BLOCK && launch_blocks(launch) < x.tiles)
        return gt_error_set(error, "%llu blocks; a block a tile takes %u", (unsigned long long)launch_blocks(launch),
                            x.tiles);
    return 0;
}

/* Ranges are empty until their blocks fill them. */
cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    cudaError_t status = gemm_fill<float>(launch, seed, fill_floats);
    if (status == cudaSuccess)
        status = cudaMemsetAsync(layout(launch).head, 0, HEAD_BYTES + launch_blocks(launch) * sizeof(uint64_t),
                                 launch->stream);
    return status;
}

double as_it_is(float value)
{
    return value;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    return gemm_verify<float>(launch, seed, as_it_is, TOLERANCE, error);
}

const char *const handings[] = {"block", "shared", "static", "steal"};
const struct gt_kernel_parameter parameters[] = {
    {"m", "", "rows of A and C", 32, 65536, 1024, nullptr},
    {"n", "", "columns of B and C", 32, 65536, 1024, nullptr},
    {"k", "", "columns of A, rows of B", 32, 65536, 1024, nullptr},
    {"handing", "", "a tile a block; or blocks that stay, with one queue, a list each, a queue each and stealing", 0, 3,
     1, handings},
};

}

extern "C" const struct gt_library_kernel gt_kernel_gemm_tasks = {
    .name = "gemm_tasks",
    .help = "C = A B in FP32, 32 x 32 tiles handed out to blocks in four ways; checked by norm against FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<gemm_tasks>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<gemm_tasks>, layout>,
    .verify = verify,
};
