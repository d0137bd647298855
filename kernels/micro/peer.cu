/* peer.cu - memory of another GPU read or written once, 16 bytes at an access; without another GPU, its own. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace
{

enum way { READ, WRITE, WAYS };
enum { VECTOR_BYTES = sizeof(float4), VECTOR_FLOATS = 4 };
const double TOLERANCE = 1e-6;

struct peer_arguments {
    const float4 *from;
    float4 *to;
    uint64_t vectors;
};

__global__ void peer(struct peer_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t step = grid_blocks() * block_threads();
#pragma unroll 4
    for (uint64_t i = this_block() * block_threads() + this_thread(); i < arguments.vectors; i += step)
        arguments.to[i] = arguments.from[i];
    log_end(log);
}

uint64_t array_bytes(const struct gt_gpu_launch *launch)
{
    return launch_argument(launch, 1);
}

/* Here and there: the far one in the scratch, behind the near one, where there is no other GPU. */
struct peer_arguments layout(const struct gt_gpu_launch *launch)
{
    char *here = (char *)launch->scratch;
    char *there = launch->peer != nullptr ? (char *)launch->peer : here + scratch_array(array_bytes(launch));
    bool read = launch_argument(launch, 0) == READ;
    return { (const float4 *)(read ? there : here), (float4 *)(read ? here : there),
             array_bytes(launch) / VECTOR_BYTES };
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return (launch->peer != nullptr ? 1 : 2) * scratch_array(array_bytes(launch));
}

const void *entry(const struct gt_gpu_launch *)
{
    return (const void *)peer;
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (array_bytes(launch) % VECTOR_BYTES == 0)
        return 0;
    return gt_error_set(error, "bytes is %llu; give a multiple of %d", (unsigned long long)array_bytes(launch),
                        VECTOR_BYTES);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct peer_arguments arrays = layout(launch);
    return fill_floats((float *)arrays.from, arrays.vectors * VECTOR_FLOATS, seed, -1, 1, launch->stream);
}

cudaError_t launch_peer(const struct gt_gpu_launch *launch)
{
    return start(launch, peer, layout(launch), launch->log);
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct peer_arguments arrays = layout(launch);
    uint64_t floats = arrays.vectors * VECTOR_FLOATS;
    return reference_compare((float *)arrays.to, floats, gt_reference_sample(floats, 1, seed), TOLERANCE,
                             [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
                                 gt_reference_add(norm, got[at], random_float(seed, at, -1, 1));
                             },
                             error);
}

const char *const way_names[WAYS] = { "read", "write" };
const struct gt_kernel_parameter parameters[] = {
    { "way", "", "read there, write here; or the reverse", 0, WAYS - 1, READ, way_names },
    { "bytes", "bytes", "that it moves; a multiple of 16", 16, 1e11, 64 << 20, nullptr },
};

} // namespace

extern "C" const struct gt_library_kernel gt_kernel_peer = {
    .name = "peer",
    .help = "another GPU's memory read or written once; checked by norm, value by value",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_peer,
    .verify = verify,
};
