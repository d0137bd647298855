/* child_tree.cu - blocks that spin and launch kernels meanwhile: compiled as relocatable device code. */
#include "kernels/base/kernel.cuh"
#include "kernels/children/child_tree.h"

namespace {

enum { SLEEP_NS = 500, AWAKE_CYCLES = 4000, STREAM_IN_THE_MAKING = 1 };

__device__ inline void spin_until(long long began, uint64_t cycles)
{
    while ((uint64_t)(clock64() - began) + AWAKE_CYCLES < cycles)
        __nanosleep(SLEEP_NS);
    while ((uint64_t)(clock64() - began) < cycles)
        ;
}

/* Streams are the grid's: the first block that needs one makes it, the others wait for that. */
__device__ inline cudaStream_t stream_of(unsigned long long *place)
{
    unsigned long long stream = atomicCAS(place, 0ull, (unsigned long long)STREAM_IN_THE_MAKING);
    if (stream == 0) {
        cudaStream_t made;
        cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
        stream = (unsigned long long)made;
        __threadfence();
        atomicExch(place, stream);
    }
    while (stream == STREAM_IN_THE_MAKING)
        stream = atomicAdd(place, 0ull);
    return (cudaStream_t)stream;
}

__global__ void __launch_bounds__(1024) child_tree(struct gt_child_tree tree, uint32_t index);

__device__ inline void launch(const struct gt_child_tree &tree, uint32_t number)
{
    const struct gt_tree_launch what = tree.launches[number];
    const struct gt_tree_grid *child = &tree.grids[what.grid];
    dim3 grid(child->grid[0], child->grid[1], child->grid[2]);
    dim3 block(child->block[0], child->block[1], child->block[2]);
    uint32_t bytes = child->dynamic_shared_bytes;
    uint64_t before_ns = global_ns();
    switch (what.into) {
    case GT_TREE_NULL: child_tree<<<grid, block, bytes>>>(tree, what.grid); break;
    case GT_TREE_STREAM: child_tree<<<grid, block, bytes, stream_of(tree.streams + what.stream)>>>(tree, what.grid); break;
    case GT_TREE_FIRE_AND_FORGET: child_tree<<<grid, block, bytes, cudaStreamFireAndForget>>>(tree, what.grid); break;
    default: child_tree<<<grid, block, bytes, cudaStreamTailLaunch>>>(tree, what.grid); break;
    }
    if (tree.log) {
        tree.log[number].before_ns = before_ns;
        tree.log[number].after_ns = global_ns();
        tree.log[number].error = (uint32_t)cudaGetLastError();
    }
}

/* Thread 0 watches the clock and launches; what launches take prolongs the block. */
__global__ void __launch_bounds__(1024) child_tree(struct gt_child_tree tree, uint32_t index)
{
    long long began = clock64();
    const struct gt_tree_grid *own = &tree.grids[index];
    log_begin(own->log);
    if (this_thread() == 0) {
        uint64_t block = this_block(), cycles = own->block_cycles[block % own->block_cycles_length], launching = 0;
        uint32_t at = own->launch_of_block ? own->launch_of_block[block] : 0;
        uint32_t end = own->launch_of_block ? own->launch_of_block[block + 1] : 0;
        for (; at < end; at++) {
            spin_until(began, (uint64_t)(tree.launches[at].at * (double)cycles) + launching);
            long long before = clock64();
            launch(tree, at);
            launching += (uint64_t)(clock64() - before);
        }
        spin_until(began, cycles + launching);
    }
    __syncthreads();
    log_end(own->log);
}

}

/* libcudadevrt's side on the host, which nobody calls, guards static variables by these two functions of the C++
 * runtime (Itanium C++ ABI, 3.3.3); nothing else here needs that. */
extern "C" __attribute__((weak)) int __cxa_guard_acquire(uint64_t *guard)
{
    return *(char *)guard == 0;
}

extern "C" __attribute__((weak)) void __cxa_guard_release(uint64_t *guard)
{
    *(char *)guard = 1;
}

extern "C" bool gt_child_tree_built(void)
{
    return true;
}

extern "C" cudaError_t gt_child_tree_attributes(struct cudaFuncAttributes *attributes)
{
    return cudaFuncGetAttributes(attributes, (const void *)child_tree);
}

extern "C" cudaError_t gt_child_tree_prepare(uint32_t dynamic_shared_bytes)
{
    return cudaFuncSetAttribute((const void *)child_tree, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)dynamic_shared_bytes);
}

extern "C" cudaError_t gt_child_tree_start(const struct gt_child_tree *tree, const struct gt_tree_grid *grid,
                                           uint32_t index, cudaStream_t stream)
{
    void *pointers[] = {(void *)tree, &index};
    return cudaLaunchKernel((const void *)child_tree, dim3(grid->grid[0], grid->grid[1], grid->grid[2]),
                            dim3(grid->block[0], grid->block[1], grid->block[2]), pointers,
                            grid->dynamic_shared_bytes, stream);
}
