/* nbody.cu - the pull of all bodies on each, a body to a thread, others through tiles in shared memory. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum { MOST_THREADS = 1024 };
const float SOFTENING = 1e-2f;  /* added to squared distances: none is 0 */
const double TOLERANCE = 1e-4;  /* the device's rsqrt is approximate */

struct nbody_arguments {
    const float4 *bodies;  /* x, y, z and mass */
    float4 *pulls;         /* the fourth is 0 */
    uint32_t count;
};

__device__ float3 pulled(float3 pull, float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float scale = rsqrtf(fmaf(x, x, fmaf(y, y, fmaf(z, z, SOFTENING))));
    scale *= scale * scale * other.w;
    return make_float3(fmaf(x, scale, pull.x), fmaf(y, scale, pull.y), fmaf(z, scale, pull.z));
}

/* Beyond the last body lie some without mass, which do not pull. */
__device__ float4 body(const nbody_arguments &arguments, uint64_t i)
{
    return i < arguments.count ? arguments.bodies[i] : make_float4(0, 0, 0, 0);
}

__global__ void nbody(struct nbody_arguments arguments, struct gt_block_log *log)
{
    __shared__ float4 tile[MOST_THREADS];
    log_begin(log);
    unsigned threads = block_threads(), thread = this_thread();
    for (uint64_t mine = this_block() * threads; mine < arguments.count; mine += grid_blocks() * threads) {
        float4 me = body(arguments, mine + thread);
        float3 pull = make_float3(0, 0, 0);
        for (uint64_t other = 0; other < arguments.count; other += threads) {
            tile[thread] = body(arguments, other + thread);
            __syncthreads();
#pragma unroll 8
            for (unsigned i = 0; i < threads; i++)
                pull = pulled(pull, me, tile[i]);
            __syncthreads();
        }
        if (mine + thread < arguments.count)
            arguments.pulls[mine + thread] = make_float4(pull.x, pull.y, pull.z, 0);
    }
    log_end(log);
}

struct nbody_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t count = launch_argument(launch, 0);
    char *at = (char *)launch->scratch;
    return {(float4 *)at, (float4 *)(at + scratch_array(count * sizeof(float4))), (uint32_t)count};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return 2 * scratch_array(launch_argument(launch, 0) * sizeof(float4));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct nbody_arguments arrays = layout(launch);
    return fill_floats((float *)arrays.bodies, (uint64_t)arrays.count * 4, seed, 0, 1, launch->stream);
}

void reference_pull(uint64_t i, uint64_t count, uint64_t seed, double pull[3])
{
    double me[3];
    for (int axis = 0; axis < 3; axis++) {
        me[axis] = random_float(seed, 4 * i + axis, 0, 1);
        pull[axis] = 0;
    }
    for (uint64_t other = 0; other < count; other++) {
        double apart[3], square = SOFTENING, mass = random_float(seed, 4 * other + 3, 0, 1);
        for (int axis = 0; axis < 3; axis++) {
            apart[axis] = random_float(seed, 4 * other + axis, 0, 1) - me[axis];
            square += apart[axis] * apart[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            pull[axis] += mass * apart[axis] / (square * sqrt(square));
    }
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const uint64_t PAIR_COST = 60;  /* operations that four inputs and a root are worth */
    struct nbody_arguments arrays = layout(launch);
    return reference_compare(
        arrays.pulls, arrays.count, gt_reference_sample(arrays.count, arrays.count * PAIR_COST, seed),
        TOLERANCE, [&](struct gt_reference_norm *norm, const float4 *got, uint64_t at) {
            double expected[3];
            reference_pull(at, arrays.count, seed, expected);
            gt_reference_add(norm, got[at].x, expected[0]);
            gt_reference_add(norm, got[at].y, expected[1]);
            gt_reference_add(norm, got[at].z, expected[2]);
        }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"count", "bodies", "each of which all pull at", 2, 1 << 24, 16384, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_nbody = {
    .name = "nbody",
    .help = "the pull of all bodies on each, through tiles in shared memory; checked by norm against FP64",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = nullptr,
    .entry = entry_of<only<nbody>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<nbody>, layout>,
    .verify = verify,
};
