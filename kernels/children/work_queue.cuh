/* work_queue.cuh - a queue in global memory that the blocks of one grid take items from and put items into: how a kernel
 * without launches of its own does work that makes work.
 *
 * All zero is a queue with one item, number 0, which the caller knows.  The last block to leave makes it so again. */
#ifndef GRIDTIDE_KERNELS_CHILDREN_WORK_QUEUE_CUH
#define GRIDTIDE_KERNELS_CHILDREN_WORK_QUEUE_CUH

#include "kernels/base/kernel.cuh"

template <typename ITEM>
struct work_queue {
    uint32_t taken, pushed, done, left;  /* tickets; items beside number 0; items done; blocks that have gone */
};

template <typename ITEM>
struct work_queue_arrays {
    struct work_queue<ITEM> *queue;
    uint32_t *ready;  /* by item: it can be read */
    ITEM *items;
    uint32_t room;
};

__device__ inline uint32_t read_now(const uint32_t *word)
{
    return *(const volatile uint32_t *)word;
}

/* One thread: is there room for an item? Then it is put in. */
template <typename ITEM>
__device__ bool queue_push(const struct work_queue_arrays<ITEM> &arrays, const ITEM &item)
{
    if (read_now(&arrays.queue->pushed) + (uint32_t)grid_blocks() * 4 + 4 >= arrays.room)
        return false;
    uint32_t number = atomicAdd(&arrays.queue->pushed, 1u) + 1;
    arrays.items[number] = item;
    __threadfence();
    atomicExch(&arrays.ready[number], 1u);
    return true;
}

/* One thread: the next item, or false when all are done. `first` is number 0. */
template <typename ITEM>
__device__ bool queue_take(const struct work_queue_arrays<ITEM> &arrays, const ITEM &first, ITEM *item)
{
    uint32_t ticket = atomicAdd(&arrays.queue->taken, 1u);
    if (ticket == 0) {
        *item = first;
        return true;
    }
    for (;;) {
        if (ticket < arrays.room && atomicAdd(&arrays.ready[ticket], 0u) == 1) {
            __threadfence();
            *item = arrays.items[ticket];
            return true;
        }
        uint32_t done = atomicAdd(&arrays.queue->done, 0u);  /* first: what is done was pushed before */
        if (done == atomicAdd(&arrays.queue->pushed, 0u) + 1)
            return false;
        __nanosleep(200);
    }
}

/* One thread: the item is done, and all that it led to has been pushed. */
template <typename ITEM>
__device__ void queue_done(const struct work_queue_arrays<ITEM> &arrays)
{
    __threadfence();
    atomicAdd(&arrays.queue->done, 1u);
}

/* One thread of each block, at its end. */
template <typename ITEM>
__device__ void queue_leave(const struct work_queue_arrays<ITEM> &arrays)
{
    __threadfence();
    if (atomicAdd(&arrays.queue->left, 1u) + 1 < grid_blocks())
        return;
    uint32_t pushed = atomicAdd(&arrays.queue->pushed, 0u);
    for (uint32_t i = 1; i <= pushed && i < arrays.room; i++)
        arrays.ready[i] = 0;
    *arrays.queue = {};
}

#endif
