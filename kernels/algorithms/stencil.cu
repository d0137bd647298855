/* stencil.cu - each point from itself and its neighbours: 5 points on a plane, or 7 in space, where threads
 * march along z and keep three points of it in registers. Points on the edge are copied. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum dimensions { PLANE, SPACE, DIMENSIONS };
const float MIDDLE = 0.4f, NEIGHBOUR = 0.15f;
const double TOLERANCE = 1e-6;

struct stencil_arguments {
    const float *from;  /* x runs fastest, then y, then z */
    float *to;
    uint32_t width, height, depth;
};

/* A column of points along z, from (x, y, 0); with depth 1 it is the plane's one point. */
template <enum dimensions IN>
__device__ void march(const stencil_arguments &s, uint32_t x, uint32_t y)
{
    uint64_t plane = (uint64_t)s.width * s.height, i = (uint64_t)y * s.width + x;
    bool edge = x == 0 || y == 0 || x == s.width - 1 || y == s.height - 1;
    float below = 0, here = s.from[i];
    for (uint32_t z = 0; z < s.depth; z++, i += plane) {
        float above = z + 1 < s.depth ? s.from[i + plane] : 0;
        if (edge || (IN == SPACE && (z == 0 || z == s.depth - 1))) {
            s.to[i] = here;
        } else {
            float around = s.from[i - 1] + s.from[i + 1] + s.from[i - s.width] + s.from[i + s.width];
            s.to[i] = fmaf(MIDDLE, here, NEIGHBOUR * (IN == SPACE ? around + below + above : around));
        }
        below = here;
        here = above;
    }
}

/* Tiles of x and y as large as the block; threads in z count as more of y. */
template <enum dimensions IN>
__global__ void stencil(stencil_arguments s, struct gt_block_log *log)
{
    log_begin(log);
    uint32_t tile_height = blockDim.y * blockDim.z;
    uint32_t across = (s.width + blockDim.x - 1) / blockDim.x;
    uint32_t down = (s.height + tile_height - 1) / tile_height;
    for (uint64_t tile = this_block(); tile < (uint64_t)across * down; tile += grid_blocks()) {
        uint32_t at = (uint32_t)tile;  /* there are at most 2^32: width and height are limited so */
        uint32_t x = at % across * blockDim.x + threadIdx.x;
        uint32_t y = at / across * tile_height + threadIdx.z * blockDim.y + threadIdx.y;
        if (x < s.width && y < s.height)
            march<IN>(s, x, y);
    }
    log_end(log);
}

typedef void (*stencil_function)(stencil_arguments, struct gt_block_log *);
const stencil_function functions[DIMENSIONS] = {stencil<PLANE>, stencil<SPACE>};

stencil_function function(const struct gt_gpu_launch *launch)
{
    return functions[launch_argument(launch, 0)];
}

uint64_t points(const struct gt_gpu_launch *launch)
{
    return launch_argument(launch, 1) * launch_argument(launch, 2) * launch_argument(launch, 3);
}

stencil_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    return {(float *)at, (float *)(at + scratch_array(points(launch) * sizeof(float))),
            (uint32_t)launch_argument(launch, 1), (uint32_t)launch_argument(launch, 2),
            (uint32_t)launch_argument(launch, 3)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(points(launch) * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_argument(launch, 0) == PLANE && launch_argument(launch, 3) != 1)
        return gt_error_set(error, "depth is %llu on a plane; give 1, or points=7",
                            (unsigned long long)launch_argument(launch, 3));
    return 0;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return fill_floats((float *)layout(launch).from, points(launch), seed, -1, 1, launch->stream);
}

double reference_point(const stencil_arguments *s, bool space, uint64_t i, uint64_t seed)
{
    uint64_t plane = (uint64_t)s->width * s->height;
    uint64_t x = i % s->width, y = i / s->width % s->height, z = i / plane;
    double here = random_float(seed, i, -1, 1);
    if (x == 0 || y == 0 || x == s->width - 1 || y == s->height - 1 ||
        (space && (z == 0 || z == s->depth - 1)))
        return here;
    const uint64_t steps[3] = {1, s->width, plane};
    double around = 0;
    for (int axis = 0; axis < (space ? 3 : 2); axis++)
        around += (double)random_float(seed, i - steps[axis], -1, 1) +
                  random_float(seed, i + steps[axis], -1, 1);
    return MIDDLE * here + NEIGHBOUR * around;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t POINT_COST = 64;  /* operations that seven inputs are worth */
    stencil_arguments arrays = layout(launch);
    bool space = launch_argument(launch, 0) == SPACE;
    return reference_compare(
        arrays.to, points(launch), gt_reference_sample(points(launch), POINT_COST, seed), TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
            gt_reference_add(norm, got[at], reference_point(&arrays, space, at, seed));
        }, error);
}

const char *const dimension_names[DIMENSIONS] = {"5", "7"};
const struct gt_kernel_parameter parameters[] = {
    {"points", "", "that make one: 5 on a plane, 7 in space", 0, DIMENSIONS - 1, PLANE, dimension_names},
    {"width", "points", "FP32", 1, 65536, 4096, nullptr},
    {"height", "points", "", 1, 65536, 4096, nullptr},
    {"depth", "points", "1 on a plane", 1, 65536, 1, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_stencil = {
    .name = "stencil",
    .help = "each point from its neighbours, 5 points on a plane or 7 in space; checked by norm against FP64",
    .restriction = nullptr,
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
