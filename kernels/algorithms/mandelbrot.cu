/* mandelbrot.cu - steps until z = z^2 + c leaves the circle of radius 2, a point to a thread: neighbours in a
 * warp part ways. */

#include "kernels/algorithms/mandelbrot.cuh"
#include "kernels/base/reference.h"

namespace {

enum { HEAD_BYTES = 256 };

struct mandelbrot_arguments {
    const float *shift;  /* two: of the view's left and of its top */
    uint32_t *steps;
    uint32_t width, height, limit;
};

__global__ void mandelbrot(struct mandelbrot_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    const struct mandelbrot_view view = {arguments.shift[0], arguments.shift[1], arguments.width, arguments.height,
                                         arguments.limit};
    uint64_t points = (uint64_t)arguments.width * arguments.height, step = grid_blocks() * block_threads();
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < points; i += step) {
        uint32_t at = (uint32_t)i;  /* there are at most 2^32: width and height are limited so */
        arguments.steps[i] = mandelbrot_steps(at % arguments.width, at / arguments.width, view);
    }
    log_end(log);
}

struct mandelbrot_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    return {(float *)at, (uint32_t *)(at + HEAD_BYTES), (uint32_t)launch_argument(launch, 0),
            (uint32_t)launch_argument(launch, 1), (uint32_t)launch_argument(launch, 2)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return HEAD_BYTES + scratch_array(launch_argument(launch, 0) * launch_argument(launch, 1) *
                                      sizeof(uint32_t));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return mandelbrot_fill((float *)layout(launch).shift, seed, launch->stream);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t STEP_COST = 8;
    struct mandelbrot_arguments arrays = layout(launch);
    uint64_t points = (uint64_t)arrays.width * arrays.height;
    const struct mandelbrot_view view = mandelbrot_view_of(seed, arrays.width, arrays.height, arrays.limit);
    return reference_check(
        arrays.steps, points, gt_reference_sample(points, arrays.limit * STEP_COST, seed),
        [&](const uint32_t *got, uint64_t at) {
            uint64_t x = at % arrays.width, y = at / arrays.width;
            uint32_t expected = mandelbrot_steps((uint32_t)x, (uint32_t)y, view);
            return got[at] == expected
                ? 0 : gt_error_set(error, "point %llu, %llu takes %u steps instead of %u",
                                   (unsigned long long)x, (unsigned long long)y, got[at], expected);
        }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"width", "points", "of the picture", 1, 65536, 2048, nullptr},
    {"height", "points", "of the picture", 1, 65536, 2048, nullptr},
    {"limit", "steps", "after which a point counts as inside", 1, 1e6, 256, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_mandelbrot = {
    .name = "mandelbrot",
    .help = "the Mandelbrot set, whose threads take different numbers of steps; checked to the step",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<mandelbrot>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<mandelbrot>, layout>,
    .verify = verify,
};
