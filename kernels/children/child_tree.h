/* child_tree.h - grids that spin and whose blocks launch further ones (CUDA dynamic parallelism): which, when and into
 * what stands in tables on the GPU, so that any trace's launches by blocks can be played.
 *
 * The grids of one launch by the host, and all that follow from it, are a tree.  All tables are device memory.
 */
#ifndef GRIDTIDE_KERNELS_CHILDREN_CHILD_TREE_H
#define GRIDTIDE_KERNELS_CHILDREN_CHILD_TREE_H

#include <stdbool.h>

#include "kernels/base/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Into what: in the order of enum gt_launch_into. */
enum gt_tree_into { GT_TREE_NULL, GT_TREE_STREAM, GT_TREE_FIRE_AND_FORGET, GT_TREE_TAIL };

struct gt_tree_grid {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t block_cycles_length;
    const uint64_t *block_cycles;    /* block i occupies its SM for [i % length], and its launches besides */
    struct gt_block_log *log;        /* a record a block; NULL: none */
    const uint32_t *launch_of_block; /* of launches: block i makes those from [i] to [i + 1]; NULL: none does */
};

struct gt_tree_launch {
    double at;       /* share of the block's own time */
    uint32_t grid;   /* of the tree's */
    uint32_t into;   /* gt_tree_into */
    uint32_t stream; /* GT_TREE_STREAM: place in `streams` */
};

struct gt_tree_launch_log {
    uint64_t before_ns, after_ns; /* of the launching thread, around the launch: global timer */
    uint32_t error;               /* cudaGetLastError() then */
};

struct gt_child_tree {
    const struct gt_tree_grid *grids;
    const struct gt_tree_launch *launches;
    unsigned long long *streams;    /* 0 before the launch: whoever comes first makes the stream */
    struct gt_tree_launch_log *log; /* as launches; NULL: none */
};

/* Most registers a thread that such grids take. */
enum { GT_TREE_REGISTERS = 64 };

/* Can this program launch kernels from kernels? It cannot where it was built without CUDA's device runtime. */
bool gt_child_tree_built(void);
/* Allow so much dynamic shared memory, and have the code loaded. */
cudaError_t gt_child_tree_prepare(uint32_t dynamic_shared_bytes);
/* Launch grid number `index` of the tree, which `grid` says once more to the host. */
cudaError_t gt_child_tree_start(const struct gt_child_tree *tree, const struct gt_tree_grid *grid, uint32_t index,
                                cudaStream_t stream);
/* Resources of the code. */
cudaError_t gt_child_tree_attributes(struct cudaFuncAttributes *attributes);

#ifdef __cplusplus
}
#endif
#endif
