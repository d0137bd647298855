/* chase.cu - loads that each wait for the one before: every thread walks a ring of pointers. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

struct node { struct node *next; };

enum { FILL_THREADS = 256, HEAD_BYTES = 256 };

/* Node i of the ring lies at i * stride and points to node i + 1; the head word holds the node at which
 * thread 0 starts, at random. */
__global__ void make_ring(char *scratch, uint64_t stride, uint64_t nodes, uint64_t start)
{
    char *ring = scratch + HEAD_BYTES;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < nodes; i += gridDim.x * blockDim.x)
        ((struct node *)(ring + i * stride))->next = (struct node *)(ring + (i + 1) % nodes * stride);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *(uint64_t *)scratch = start;
}

struct chase_arguments {
    char *scratch;
    struct node **ends;  /* where each thread arrived */
    uint64_t stride, nodes, steps;
};

__global__ void chase(struct chase_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t thread = this_block() * block_threads() + this_thread();
    uint64_t first = (*(uint64_t *)arguments.scratch + thread) % arguments.nodes;
    struct node *at = (struct node *)(arguments.scratch + HEAD_BYTES + first * arguments.stride);
#pragma unroll 8
    for (uint64_t i = 0; i < arguments.steps; i++)
        at = at->next;
    arguments.ends[thread] = at;
    log_end(log);
}

struct chase_arguments layout(const struct gt_gpu_launch *launch)
{
    uint64_t stride = launch_argument(launch, 0), nodes = launch_argument(launch, 1) / stride;
    char *scratch = (char *)launch->scratch;
    return {scratch, (struct node **)(scratch + HEAD_BYTES + scratch_array(nodes * stride)), stride,
            nodes, launch_argument(launch, 2)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    uint64_t stride = launch_argument(launch, 0), nodes = launch_argument(launch, 1) / stride;
    return HEAD_BYTES + scratch_array(nodes * stride) +
           scratch_array(launch_threads(launch) * sizeof(struct node *));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    uint64_t stride = launch_argument(launch, 0), footprint = launch_argument(launch, 1);
    if (stride % sizeof(struct node) != 0)
        return gt_error_set(error, "stride is %llu; give a multiple of %zu", (unsigned long long)stride,
                            sizeof(struct node));
    if (footprint < stride)
        return gt_error_set(error, "the footprint, %llu bytes, is smaller than the stride, %llu",
                            (unsigned long long)footprint, (unsigned long long)stride);
    return 0;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct chase_arguments ring = layout(launch);
    uint64_t blocks = (ring.nodes + FILL_THREADS - 1) / FILL_THREADS;
    make_ring<<<blocks < 4096 ? (unsigned)blocks : 4096, FILL_THREADS, 0, launch->stream>>>(
        ring.scratch, ring.stride, ring.nodes, random_bits(seed, 0) % ring.nodes);
    return cudaGetLastError();
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct chase_arguments ring = layout(launch);
    return reference_check_all(ring.ends, launch_threads(launch), [&](struct node *const *got, uint64_t i) {
        uint64_t node = (random_bits(seed, 0) % ring.nodes + i + ring.steps) % ring.nodes;
        return (char *)got[i] == ring.scratch + HEAD_BYTES + node * ring.stride
            ? 0 : gt_error_set(error, "thread %llu ended at %p instead of node %llu", (unsigned long long)i,
                               (void *)got[i], (unsigned long long)node);
    }, error);
}

const struct gt_kernel_parameter parameters[] = {
    {"stride", "bytes", "from one load to the next; a multiple of 8", 8, 1 << 30, 128, nullptr},
    {"footprint", "bytes", "of the ring that is walked", 8, 1e11, 1 << 20, nullptr},
    {"steps", "loads", "of each thread", 0, 1e10, 10000, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_chase = {
    .name = "chase",
    .help = "each thread makes loads that depend on one another, around a ring; checked by where it ends",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<chase>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<chase>, layout>,
    .verify = verify,
};
