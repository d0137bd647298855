/* quicksort.cu - a block divides its part by a pivot and hands both sides on: to grids that it launches (CUDA dynamic
 * parallelism), or to a queue that all blocks of one grid take parts from. */
#include "kernels/children/flat_twin.cuh"
#include "kernels/children/sort_small.cuh"
#include "kernels/children/work_queue.cuh"

namespace {

enum { DEEPEST = 18, STACK = 64, HEAD_BYTES = 256 };

struct part {
    uint32_t begin, end;
    uint32_t buffer;  /* 0: in `data`, 1: in `other` */
    uint32_t depth;
};

struct quicksort_arguments {
    uint32_t *data, *other;
    uint32_t count;
    struct work_queue_arrays<struct part> queue;
};

struct block_state {
    uint32_t words[GT_SORT_SMALL];
    uint32_t less, greater;
    struct part stack[STACK], sides[2];
    uint32_t height, side_count;
};

__device__ inline uint32_t middle_of(uint32_t a, uint32_t b, uint32_t c)
{
    return max(min(a, b), min(max(a, b), c));
}

/* All threads: smaller words to the front, larger ones to the back of the other buffer, the pivot between them where it
 * belongs for good. Sides with something in them are state->sides. */
__device__ void divide(const struct quicksort_arguments &arguments, const struct part &part, struct block_state *state)
{
    const uint32_t *from = (part.buffer ? arguments.other : arguments.data) + part.begin;
    uint32_t *to = (part.buffer ? arguments.data : arguments.other) + part.begin;
    uint32_t count = part.end - part.begin;
    uint32_t pivot = middle_of(from[count / 4], from[count / 2], from[count - count / 4 - 1]);
    if (this_thread() == 0)
        state->less = state->greater = state->side_count = 0;
    __syncthreads();
    for (uint32_t i = this_thread(); i < count; i += block_threads()) {
        uint32_t word = from[i];
        if (word < pivot)
            to[atomicAdd(&state->less, 1u)] = word;
        else if (word > pivot)
            to[count - 1 - atomicAdd(&state->greater, 1u)] = word;
    }
    __syncthreads();
    for (uint32_t i = state->less + this_thread(); i < count - state->greater; i += block_threads())
        arguments.data[part.begin + i] = pivot;
    if (this_thread() == 0) {
        if (state->less > 0)
            state->sides[state->side_count++] = {part.begin, part.begin + state->less, !part.buffer, part.depth + 1};
        if (state->greater > 0)
            state->sides[state->side_count++] = {part.end - state->greater, part.end, !part.buffer, part.depth + 1};
    }
    __syncthreads();
}

/* All threads: what nobody else takes, this block does, part after part. */
__device__ void sort_stack(const struct quicksort_arguments &arguments, struct block_state *state)
{
    while (state->height > 0) {
        struct part part = state->stack[state->height - 1];
        __syncthreads();
        if (this_thread() == 0)
            state->height--;
        __syncthreads();
        if (part.end - part.begin <= GT_SORT_SMALL) {
            sort_small(state->words, (part.buffer ? arguments.other : arguments.data) + part.begin,
                       arguments.data + part.begin, part.end - part.begin);
            continue;
        }
        divide(arguments, part, state);
        if (this_thread() == 0) {
            /* The larger one first, so that the smaller one is done next and the stack stays low. */
            uint32_t larger = state->side_count == 2 && state->sides[1].end - state->sides[1].begin >
                                                            state->sides[0].end - state->sides[0].begin;
            for (uint32_t i = 0; i < state->side_count; i++)
                state->stack[state->height++] = state->sides[state->side_count == 2 ? (i == 0 ? larger : !larger) : i];
        }
        __syncthreads();
    }
}

__global__ void quicksort_child(struct quicksort_arguments arguments, struct part part, struct gt_block_log *log);

/* One thread. False: it could not be launched. */
__device__ bool launch_side(const struct quicksort_arguments &arguments, const struct part &side)
{
    if (side.depth > DEEPEST)
        return false;
    quicksort_child<<<1, dim3(blockDim.x, blockDim.y, blockDim.z), 0, cudaStreamFireAndForget>>>(arguments, side, nullptr);
    return cudaGetLastError() == cudaSuccess;
}

/* All threads: one part; sides are handed on, where they are large and somebody takes them. */
template <bool CHILDREN>
__device__ void sort_part(const struct quicksort_arguments &arguments, const struct part &part, struct block_state *state)
{
    if (this_thread() == 0)
        state->height = 0;
    __syncthreads();
    if (part.end - part.begin <= GT_SORT_SMALL) {
        if (this_thread() == 0)
            state->stack[state->height++] = part;
        __syncthreads();
        sort_stack(arguments, state);
        return;
    }
    divide(arguments, part, state);
    if (this_thread() == 0) {
        __threadfence();
        for (uint32_t i = 0; i < state->side_count; i++) {
            const struct part side = state->sides[i];
            bool taken = side.end - side.begin > GT_SORT_SMALL &&
                         (CHILDREN ? launch_side(arguments, side) : queue_push(arguments.queue, side));
            if (!taken)
                state->stack[state->height++] = side;
        }
    }
    __syncthreads();
    sort_stack(arguments, state);
}

__global__ void __launch_bounds__(1024) quicksort_child(struct quicksort_arguments arguments, struct part part,
                                                        struct gt_block_log *log)
{
    __shared__ struct block_state state;
    log_begin(log);
    sort_part<true>(arguments, part, &state);
    log_end(log);
}

__global__ void __launch_bounds__(1024) quicksort(struct quicksort_arguments arguments, struct gt_block_log *log)
{
    __shared__ struct block_state state;
    log_begin(log);
    sort_part<true>(arguments, {0, arguments.count, 0, 0}, &state);
    log_end(log);
}

__global__ void __launch_bounds__(1024) quicksort_flat(struct quicksort_arguments arguments, struct gt_block_log *log)
{
    __shared__ struct block_state state;
    __shared__ struct part part;
    __shared__ bool more;
    log_begin(log);
    for (;;) {
        if (this_thread() == 0)
            more = queue_take(arguments.queue, {0, arguments.count, 0, 0}, &part);
        __syncthreads();
        if (!more)
            break;
        sort_part<false>(arguments, part, &state);
        __syncthreads();
        if (this_thread() == 0)
            queue_done(arguments.queue);
    }
    if (this_thread() == 0)
        queue_leave(arguments.queue);
    log_end(log);
}

uint32_t queue_room(const struct gt_gpu_launch *launch)
{
    return (uint32_t)(launch_argument(launch, 0) / 64 + 4 * launch_blocks(launch) + 64);
}

struct quicksort_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    uint64_t bytes = scratch_array(launch_argument(launch, 0) * sizeof(uint32_t));
    uint32_t room = queue_room(launch);
    char *queue = at + 2 * bytes;
    return {(uint32_t *)at, (uint32_t *)(at + bytes), (uint32_t)launch_argument(launch, 0),
            {(struct work_queue<struct part> *)queue, (uint32_t *)(queue + HEAD_BYTES),
             (struct part *)(queue + HEAD_BYTES + scratch_array(room * sizeof(uint32_t))), room}};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t room = queue_room(launch);
    return 2 * scratch_array(launch_argument(launch, 0) * sizeof(uint32_t)) + HEAD_BYTES +
           scratch_array(room * sizeof(uint32_t)) + scratch_array(room * sizeof(struct part));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct quicksort_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.queue.queue, 0, HEAD_BYTES + scratch_array(arrays.queue.room * sizeof(uint32_t)),
                                         launch->stream);
    return status != cudaSuccess ? status : fill_words(arrays.data, arrays.count, seed, launch->stream);
}

void (*function(const struct gt_gpu_launch *launch))(struct quicksort_arguments, struct gt_block_log *)
{
    return launch_argument(launch, 1) == HOW_FLAT ? quicksort_flat : quicksort;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct quicksort_arguments arrays = layout(launch);
    return verify_sorted(arrays.data, arrays.count, seed, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"count", "words", "that are sorted", 1, 1 << 24, 1 << 20, nullptr},
    {"how", "", "blocks launch the kernels that sort the two sides, or put them into a queue", 0, 1, 0, hows},
};

}

extern "C" const struct gt_library_kernel gt_kernel_quicksort = {
    .name = "quicksort",
    .help = "sorts words: a block divides, launched kernels (or blocks that take from a queue) go on; checked whole",
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
