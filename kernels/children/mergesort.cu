/* mergesort.cu - both halves, then a merge: by grids that launch each other, the merge as a tail launch, which starts when
 * both halves have ended; or by the blocks of one grid that take pieces in order and wait for those they need. */
#include "kernels/children/flat_twin.cuh"
#include "kernels/children/sort_small.cuh"

namespace {

enum { HEAD_BYTES = 256, MOST_LEVELS = 10 };

/* Pieces are of GT_SORT_SMALL words. Level 0 sorts each; level l merges runs of 2^(l-1) pieces. What level l leaves is in
 * buffer (levels - l) % 2, so that the last one is in `data`. */
struct mergesort_arguments {
    uint32_t *data, *other;
    uint32_t levels;  /* 2^levels pieces */
    uint32_t *state;  /* flat: pieces taken, blocks that have left; then pieces done by level and run */
};

__device__ inline uint32_t *buffer_of(const struct mergesort_arguments &arguments, uint32_t level)
{
    return (arguments.levels - level) % 2 ? arguments.other : arguments.data;
}

/* How many of the first `place` words of two merged runs of `length` come from the first. */
__device__ inline uint32_t merge_path(const uint32_t *a, const uint32_t *b, uint32_t length, uint32_t place)
{
    uint32_t low = place > length ? place - length : 0, high = min(place, length);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (a[middle] <= b[place - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All threads: piece `piece` of what level `level` leaves. */
__device__ void do_piece(const struct mergesort_arguments &arguments, uint32_t level, uint32_t piece, uint32_t *words)
{
    uint32_t first = piece * GT_SORT_SMALL;
    uint32_t *to = buffer_of(arguments, level);
    if (level == 0) {
        sort_small(words, arguments.data + first, to + first, GT_SORT_SMALL);
        return;
    }
    uint32_t length = GT_SORT_SMALL << (level - 1), run = first / (2 * length) * (2 * length);
    const uint32_t *a = buffer_of(arguments, level - 1) + run, *b = a + length;
    uint32_t each = (GT_SORT_SMALL + block_threads() - 1) / block_threads();
    uint32_t place = first - run + this_thread() * each, end = min(place + each, first - run + GT_SORT_SMALL);
    if (this_thread() * each < GT_SORT_SMALL) {
        uint32_t from_a = merge_path(a, b, length, place), from_b = place - from_a;
        for (; place < end; place++) {
            bool take_a = from_b >= length || (from_a < length && a[from_a] <= b[from_b]);
            to[run + place] = take_a ? a[from_a++] : b[from_b++];
        }
    }
    __syncthreads();
}

__global__ void __launch_bounds__(1024) merge(struct mergesort_arguments arguments, uint32_t level, uint32_t first_piece)
{
    __shared__ uint32_t words[GT_SORT_SMALL];
    do_piece(arguments, level, first_piece + (uint32_t)this_block(), words);
}

/* One run of 2^level pieces: its halves, then their merge. */
__global__ void __launch_bounds__(1024) mergesort_run(struct mergesort_arguments arguments, uint32_t level,
                                                      uint32_t first_piece)
{
    __shared__ uint32_t words[GT_SORT_SMALL];
    dim3 block(blockDim.x, blockDim.y, blockDim.z);
    if (level == 0) {
        do_piece(arguments, 0, first_piece, words);
        return;
    }
    if (this_thread() != 0)
        return;
    mergesort_run<<<1, block, 0, cudaStreamFireAndForget>>>(arguments, level - 1, first_piece);
    mergesort_run<<<1, block, 0, cudaStreamFireAndForget>>>(arguments, level - 1, first_piece + (1u << (level - 1)));
    merge<<<1u << level, block, 0, cudaStreamTailLaunch>>>(arguments, level, first_piece);
}

__global__ void __launch_bounds__(1024) mergesort(struct mergesort_arguments arguments, struct gt_block_log *log)
{
    __shared__ uint32_t words[GT_SORT_SMALL];
    dim3 block(blockDim.x, blockDim.y, blockDim.z);
    log_begin(log);
    if (arguments.levels == 0) {
        do_piece(arguments, 0, 0, words);
    } else if (this_thread() == 0) {
        uint32_t half = 1u << (arguments.levels - 1);
        mergesort_run<<<1, block, 0, cudaStreamFireAndForget>>>(arguments, arguments.levels - 1, 0);
        mergesort_run<<<1, block, 0, cudaStreamFireAndForget>>>(arguments, arguments.levels - 1, half);
        merge<<<2 * half, block, 0, cudaStreamTailLaunch>>>(arguments, arguments.levels, 0);
    }
    log_end(log);
}

/* Pieces done of run `run` of 2^level pieces, at that level. */
__device__ inline uint32_t *done_of(const struct mergesort_arguments &arguments, uint32_t level, uint32_t run)
{
    return arguments.state + 2 + (level << arguments.levels) + run;
}

/* One thread: a merge's two runs, done by level - 1, are there. */
__device__ void wait_for_runs(const struct mergesort_arguments &arguments, uint32_t level, uint32_t piece)
{
    uint32_t run = piece >> level << 1, pieces = 1u << (level - 1);
    for (uint32_t i = 0; level > 0 && i < 2; i++)
        while (atomicAdd(done_of(arguments, level - 1, run + i), 0u) < pieces)
            __nanosleep(100);
    __threadfence();
}

/* The last block to leave makes it as it was. */
__device__ void reset(const struct mergesort_arguments &arguments)
{
    if (atomicAdd(&arguments.state[1], 1u) + 1 < grid_blocks())
        return;
    for (uint32_t i = 0; i < 2 + ((arguments.levels + 1) << arguments.levels); i++)
        arguments.state[i] = 0;
}

__global__ void __launch_bounds__(1024) mergesort_flat(struct mergesort_arguments arguments, struct gt_block_log *log)
{
    __shared__ uint32_t words[GT_SORT_SMALL];
    __shared__ uint32_t ticket;
    uint32_t pieces = 1u << arguments.levels;
    log_begin(log);
    for (;;) {
        if (this_thread() == 0) {
            ticket = atomicAdd(&arguments.state[0], 1u);
            if (ticket < pieces * (arguments.levels + 1))
                wait_for_runs(arguments, ticket / pieces, ticket % pieces);
        }
        __syncthreads();
        uint32_t level = ticket / pieces, piece = ticket % pieces;
        if (level > arguments.levels)
            break;
        do_piece(arguments, level, piece, words);
        if (this_thread() == 0) {
            __threadfence();
            atomicAdd(done_of(arguments, level, piece >> level), 1u);
        }
        __syncthreads();
    }
    if (this_thread() == 0)
        reset(arguments);
    log_end(log);
}

uint32_t words_of(const struct gt_gpu_launch *launch)
{
    return (uint32_t)GT_SORT_SMALL << launch_argument(launch, 0);
}

struct mergesort_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    uint64_t bytes = scratch_array(words_of(launch) * sizeof(uint32_t));
    return {(uint32_t *)at, (uint32_t *)(at + bytes), (uint32_t)launch_argument(launch, 0), (uint32_t *)(at + 2 * bytes)};
}

size_t state_bytes(const struct gt_gpu_launch *launch)
{
    uint32_t levels = (uint32_t)launch_argument(launch, 0);
    return scratch_array((2 + ((uint64_t)(levels + 1) << levels)) * sizeof(uint32_t));
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(words_of(launch) * sizeof(uint32_t)) + state_bytes(launch);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct mergesort_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.state, 0, state_bytes(launch), launch->stream);
    return status != cudaSuccess ? status : fill_words(arrays.data, words_of(launch), seed, launch->stream);
}

void (*function(const struct gt_gpu_launch *launch))(struct mergesort_arguments, struct gt_block_log *)
{
    return launch_argument(launch, 1) == HOW_FLAT ? mergesort_flat : mergesort;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    return verify_sorted(layout(launch).data, words_of(launch), seed, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"levels", "", "of merges: 1024 words times 2 to this are sorted", 0, MOST_LEVELS - 1, 7, nullptr},
    {"how", "", "blocks launch both halves and, as a tail launch, their merge; or take pieces in order", 0, 1, 0, hows},
};

}

extern "C" const struct gt_library_kernel gt_kernel_mergesort = {
    .name = "mergesort",
    .help = "sorts words: launched kernels sort halves, tail launches merge (or blocks take pieces in order); checked whole",
    .restriction = "one block with children",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts_twin<1>,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
