/* child_tree_absent.c - child_tree.h without CUDA's device runtime: nothing launches from the GPU. */
#include "kernels/children/child_tree.h"

bool gt_child_tree_built(void)
{
    return false;
}

cudaError_t gt_child_tree_prepare(uint32_t dynamic_shared_bytes)
{
    (void)dynamic_shared_bytes;
    return cudaErrorNotSupported;
}

cudaError_t gt_child_tree_start(const struct gt_child_tree *tree, const struct gt_tree_grid *grid, uint32_t index,
                                cudaStream_t stream)
{
    (void)tree;
    (void)grid;
    (void)index;
    (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t gt_child_tree_attributes(struct cudaFuncAttributes *attributes)
{
    (void)attributes;
    return cudaErrorNotSupported;
}
