/* mandelbrot_adaptive.cu - the Mandelbrot set by squares (Mariani and Silver): a square whose border takes the same steps all
 * round is filled, a small one worked out point by point, any other divided into four, which launched kernels do, or blocks
 * that take squares from a queue. */
#include "kernels/algorithms/mandelbrot.cuh"
#include "kernels/children/flat_twin.cuh"
#include "kernels/children/work_queue.cuh"

namespace {

enum { HEAD_BYTES = 256, STACK = 64 };

struct square {
    uint32_t x, y, side;
};

struct adaptive_arguments {
    const float *corner;
    uint32_t *steps;
    uint32_t side, limit, least;
    struct work_queue_arrays<struct square> queue;
};

struct block_state {
    uint32_t first, differs;
    struct square stack[STACK];
    uint32_t height;
};

/* Point number `i` of the border of a square of that side, which has 4 * (side - 1). */
__host__ __device__ inline void border_point(const struct square &square, uint32_t i, uint32_t *x, uint32_t *y)
{
    uint32_t edge = i / (square.side - 1), at = i % (square.side - 1), last = square.side - 1;
    *x = square.x + (edge == 0 ? at : edge == 1 ? last : edge == 2 ? last - at : 0);
    *y = square.y + (edge == 0 ? 0 : edge == 1 ? at : edge == 2 ? last : last - at);
}

/* All threads: do the border; is it the same all round? */
__device__ bool same_border(const struct adaptive_arguments &arguments, const struct mandelbrot_view &view,
                            const struct square &square, struct block_state *state)
{
    if (this_thread() == 0) {
        state->first = mandelbrot_steps(square.x, square.y, view);
        state->differs = 0;
    }
    __syncthreads();
    for (uint32_t i = this_thread(); i < 4 * (square.side - 1); i += block_threads()) {
        uint32_t x, y;
        border_point(square, i, &x, &y);
        uint32_t steps = mandelbrot_steps(x, y, view);
        arguments.steps[(uint64_t)y * arguments.side + x] = steps;
        if (steps != state->first)
            state->differs = 1;
    }
    __syncthreads();
    return state->differs == 0;
}

/* All threads: what is within the border, filled or point by point. */
__device__ void do_inside(const struct adaptive_arguments &arguments, const struct mandelbrot_view &view,
                          const struct square &square, bool fill, uint32_t value)
{
    uint32_t inside = square.side - 2;
    for (uint32_t i = this_thread(); i < inside * inside; i += block_threads()) {
        uint32_t x = square.x + 1 + i % inside, y = square.y + 1 + i / inside;
        arguments.steps[(uint64_t)y * arguments.side + x] = fill ? value : mandelbrot_steps(x, y, view);
    }
}

__global__ void adaptive_child(struct adaptive_arguments arguments, struct square first, struct gt_block_log *log);

/* One thread: somebody else does the four quarters, or all of them go on the block's own stack. */
template <bool CHILDREN>
__device__ void divide(const struct adaptive_arguments &arguments, const struct square &square, struct block_state *state)
{
    uint32_t half = square.side / 2;
    if (CHILDREN) {
        dim3 block(blockDim.x, blockDim.y, blockDim.z);
        const struct square first = {square.x, square.y, half};
        adaptive_child<<<dim3(2, 2), block, 0, cudaStreamFireAndForget>>>(arguments, first, nullptr);
        if (cudaGetLastError() == cudaSuccess)
            return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        const struct square quarter = {square.x + i % 2 * half, square.y + i / 2 * half, half};
        if (CHILDREN || !queue_push(arguments.queue, quarter))
            state->stack[state->height++] = quarter;
    }
}

/* All threads: one square, and what nobody else takes of it. */
template <bool CHILDREN>
__device__ void do_square(const struct adaptive_arguments &arguments, const struct square &whole, struct block_state *state)
{
    const struct mandelbrot_view view = {arguments.corner[0], arguments.corner[1], arguments.side, arguments.side,
                                         arguments.limit};
    if (this_thread() == 0) {
        state->height = 1;
        state->stack[0] = whole;
    }
    __syncthreads();
    while (state->height > 0) {
        struct square square = state->stack[state->height - 1];
        __syncthreads();
        if (this_thread() == 0)
            state->height--;
        __syncthreads();
        bool same = same_border(arguments, view, square, state);
        if (same || square.side <= arguments.least)
            do_inside(arguments, view, square, same, state->first);
        else if (this_thread() == 0)
            divide<CHILDREN>(arguments, square, state);
        __syncthreads();
    }
}

/* Block (i, j) does the square that far to the right of, and below, the first one. */
__global__ void __launch_bounds__(1024) adaptive_child(struct adaptive_arguments arguments, struct square first,
                                                       struct gt_block_log *log)
{
    __shared__ struct block_state state;
    log_begin(log);
    do_square<true>(arguments, {first.x + blockIdx.x * first.side, first.y + blockIdx.y * first.side, first.side}, &state);
    log_end(log);
}

__global__ void __launch_bounds__(1024) adaptive(struct adaptive_arguments arguments, struct gt_block_log *log)
{
    __shared__ struct block_state state;
    log_begin(log);
    do_square<true>(arguments, {0, 0, arguments.side}, &state);
    log_end(log);
}

__global__ void __launch_bounds__(1024) adaptive_flat(struct adaptive_arguments arguments, struct gt_block_log *log)
{
    __shared__ struct block_state state;
    __shared__ struct square square;
    __shared__ bool more;
    log_begin(log);
    for (;;) {
        if (this_thread() == 0)
            more = queue_take(arguments.queue, {0, 0, arguments.side}, &square);
        __syncthreads();
        if (!more)
            break;
        do_square<false>(arguments, square, &state);
        if (this_thread() == 0)
            queue_done(arguments.queue);
    }
    if (this_thread() == 0)
        queue_leave(arguments.queue);
    log_end(log);
}

uint32_t side_of(const struct gt_gpu_launch *launch)
{
    return 1u << launch_argument(launch, 0);
}

uint32_t queue_room(const struct gt_gpu_launch *launch)
{
    uint32_t across = side_of(launch) / (uint32_t)launch_argument(launch, 2) + 1;
    return 2 * across * across + (uint32_t)(4 * launch_blocks(launch)) + 64;
}

struct adaptive_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    uint32_t side = side_of(launch), room = queue_room(launch);
    char *queue = at + HEAD_BYTES + scratch_array((uint64_t)side * side * sizeof(uint32_t));
    return {(float *)at, (uint32_t *)(at + HEAD_BYTES), side, (uint32_t)launch_argument(launch, 1),
            (uint32_t)launch_argument(launch, 2),
            {(struct work_queue<struct square> *)queue, (uint32_t *)(queue + HEAD_BYTES),
             (struct square *)(queue + HEAD_BYTES + scratch_array(room * sizeof(uint32_t))), room}};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t side = side_of(launch), room = queue_room(launch);
    return 2 * HEAD_BYTES + scratch_array(side * side * sizeof(uint32_t)) + scratch_array(room * sizeof(uint32_t)) +
           scratch_array(room * sizeof(struct square));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct adaptive_arguments arrays = layout(launch);
    cudaError_t status = cudaMemsetAsync(arrays.queue.queue, 0,
                                         HEAD_BYTES + scratch_array(arrays.queue.room * sizeof(uint32_t)), launch->stream);
    return status != cudaSuccess ? status : mandelbrot_fill((float *)arrays.corner, seed, launch->stream);
}

void (*function(const struct gt_gpu_launch *launch))(struct adaptive_arguments, struct gt_block_log *)
{
    return launch_argument(launch, 3) == HOW_FLAT ? adaptive_flat : adaptive;
}

/* The squares that the GPU fills, on the CPU. */
void expect_square(const struct mandelbrot_view &view, const struct square &square, uint32_t least, uint32_t *steps)
{
    uint32_t first = mandelbrot_steps(square.x, square.y, view), inside = square.side - 2, half = square.side / 2;
    bool same = true;
    for (uint32_t i = 0; i < 4 * (square.side - 1); i++) {
        uint32_t x, y;
        border_point(square, i, &x, &y);
        uint32_t took = mandelbrot_steps(x, y, view);
        steps[(uint64_t)y * view.width + x] = took;
        same &= took == first;
    }
    for (uint32_t i = 0; (same || square.side <= least) && i < inside * inside; i++) {
        uint32_t x = square.x + 1 + i % inside, y = square.y + 1 + i / inside;
        steps[(uint64_t)y * view.width + x] = same ? first : mandelbrot_steps(x, y, view);
    }
    for (uint32_t i = 0; !same && square.side > least && i < 4; i++)
        expect_square(view, {square.x + i % 2 * half, square.y + i / 2 * half, half}, least, steps);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct adaptive_arguments arrays = layout(launch);
    return verify_words(
        arrays.steps, (uint64_t)arrays.side * arrays.side,
        [&](uint32_t *expected) {
            expect_square(mandelbrot_view_of(seed, arrays.side, arrays.side, arrays.limit), {0, 0, arrays.side},
                          arrays.least, expected);
        },
        "point %llu takes %u steps instead of %u", error);
}

const struct gt_kernel_parameter parameters[] = {
    {"levels", "", "2 to this are the points of a side", 3, 13, 10, nullptr},
    {"limit", "steps", "after which a point counts as inside", 1, 1e6, 256, nullptr},
    {"least", "points", "a square of that side, or less, is not divided", 4, 1024, 32, nullptr},
    {"how", "", "blocks launch the kernels that do the quarters, or put them into a queue", 0, 1, 0, hows},
};

}

extern "C" const struct gt_library_kernel gt_kernel_mandelbrot_adaptive = {
    .name = "mandelbrot_adaptive",
    .help = "the Mandelbrot set by squares that launched kernels (or blocks that take from a queue) divide; checked to the step",
    .restriction = "one block with children",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts_twin<3>,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
