/* executor.cuh - how a block walks a task graph (executor.h says what it does); what the tasks do is the caller's. */
#ifndef GRIDTIDE_KERNELS_EXECUTOR_EXECUTOR_CUH
#define GRIDTIDE_KERNELS_EXECUTOR_EXECUTOR_CUH

#include "kernels/base/gpu_atomics.cuh"
#include "kernels/base/kernel.cuh"
#include "kernels/executor/executor.h"

/* Of dynamic shared memory, from its beginning on, which the walk has for itself: static memory would change how
 * many blocks an SM takes. */
enum { EXECUTOR_SHARED_BYTES = 16 };
enum : uint32_t { NO_TASK = UINT32_MAX };
/* A poll takes some 150 ns at least: after seconds in vain it is a deadlock, and a GPU that hangs helps nobody. */
enum { MOST_POLLS = 1 << 25 };

/* What the first warp knows of its worker; `record` is lane 0's. */
struct executor_worker {
    uint32_t number, lane, lanes, mask;
    uint32_t next, end;                  /* of its own list */
    uint32_t newest;                     /* end of its own deque */
    uint64_t turns;                      /* in which it looked at others */
    uint32_t signal;                     /* the lane's first counter to signal, fetched early */
    struct gt_executor_task what;        /* the task at hand */
    struct gt_executor_log record;
};

__device__ inline uint32_t *executor_counter(const struct gt_executor &x, uint32_t counter)
{
    return x.counters + (uint64_t)counter * (GT_EXECUTOR_COUNTER_BYTES / sizeof(uint32_t));
}

__device__ inline uint64_t *executor_deque(const struct gt_executor &x, uint32_t worker)
{
    return x.deques + (uint64_t)worker * (GT_EXECUTOR_COUNTER_BYTES / sizeof(uint64_t));
}

/* Until the word is at least so much, which it then is; 0: for ever. */
__device__ inline uint32_t executor_poll(const struct gt_executor &x, const uint32_t *word, uint32_t least)
{
    for (int polls = 0; polls < MOST_POLLS; polls++) {
        uint32_t value = load_acquire(word);
        if (value >= least)
            return value;
    }
    *x.gave_up = 1;
    return 0;
}

/* ---- Taking: the whole first warp calls, all its lanes get the task ---- */

__device__ inline uint32_t executor_ticket(const struct gt_executor &x, const struct executor_worker &w)
{
    uint32_t ticket = 0;
    if (w.lane == 0)
        ticket = add_relaxed(x.head, 1);
    return __shfl_sync(w.mask, ticket, 0);
}

__device__ inline uint32_t executor_take_listed(const struct gt_executor &x, struct executor_worker &w)
{
    return w.next < w.end ? x.list[w.next++] : NO_TASK;
}

__device__ inline uint32_t executor_take_shared(const struct gt_executor &x, const struct executor_worker &w)
{
    uint32_t ticket = executor_ticket(x, w);
    if (ticket >= x.order_count)
        return NO_TASK;
    return x.policy == GT_EXECUTOR_SHARED ? ticket : x.order[ticket];
}

__device__ inline uint32_t executor_take_ready(const struct gt_executor &x, const struct executor_worker &w)
{
    uint32_t ticket = executor_ticket(x, w), task = 0;
    if (ticket >= x.task_count)
        return NO_TASK;
    if (w.lane == 0)
        task = executor_poll(x, &x.slots[ticket], 1);
    return __shfl_sync(w.mask, task, 0) - 1;
}

/* Of the deque's two ends, the newest and the oldest: one lane alone calls. */
__device__ inline uint32_t executor_take_end(const struct gt_executor &x, uint32_t worker, uint64_t ends, bool newest)
{
    while ((uint32_t)(ends >> 32) > (uint32_t)ends) {
        uint64_t less = newest ? ends - (UINT64_C(1) << 32) : ends + 1;
        uint64_t seen = swap_if(executor_deque(x, worker), ends, less);
        if (seen == ends)
            return load_relaxed(&x.entries[(uint64_t)worker * x.task_count +
                                           (newest ? (uint32_t)(less >> 32) : (uint32_t)ends)]);
        ends = seen;
    }
    return NO_TASK;
}

__device__ inline uint32_t executor_take_own(const struct gt_executor &x, struct executor_worker &w)
{
    uint32_t task = NO_TASK;
    if (w.lane == 0)
        task = executor_take_end(x, w.number, load_acquire(executor_deque(x, w.number)), true);
    task = __shfl_sync(w.mask, task, 0);
    w.newest -= task != NO_TASK;
    return task;
}

/* Of those whose deques the lanes look at, from `first` in the turn on. */
__device__ inline uint32_t executor_steal_one(const struct gt_executor &x, const struct executor_worker &w,
                                              uint32_t turn, uint32_t first)
{
    uint32_t place = first + w.lane, victim = (uint32_t)((turn + (uint64_t)place) % x.workers);
    uint64_t ends = place < x.workers && victim != w.number ? load_acquire(executor_deque(x, victim)) : 0;
    unsigned some = __ballot_sync(w.mask, (uint32_t)(ends >> 32) > (uint32_t)ends);
    while (some != 0) {
        int lane = __ffs((int)some) - 1;
        uint32_t task = NO_TASK;
        if ((int)w.lane == lane)
            task = executor_take_end(x, victim, ends, false);
        task = __shfl_sync(w.mask, task, lane);
        if (task != NO_TASK)
            return task;
        some &= some - 1;
    }
    return NO_TASK;
}

__device__ inline uint32_t executor_steal(const struct gt_executor &x, struct executor_worker &w)
{
    for (int polls = 0; polls < MOST_POLLS; polls++) {
        uint32_t turn = (uint32_t)(random_bits(x.seed + w.number, w.turns++) % x.workers);
        for (uint32_t first = 0; first < x.workers; first += w.lanes) {
            uint32_t task = executor_steal_one(x, w, turn, first);
            if (task != NO_TASK)
                return task;
        }
        uint32_t all = 0;
        if (w.lane == 0)
            all = load_relaxed(x.taken) == x.task_count;
        if (__shfl_sync(w.mask, all, 0))
            return NO_TASK;
    }
    *x.gave_up = 1;
    return NO_TASK;
}

__device__ inline uint32_t executor_take_deque(const struct gt_executor &x, struct executor_worker &w)
{
    uint32_t task = executor_take_own(x, w);
    w.record.stolen = task == NO_TASK;
    if (task == NO_TASK)
        task = executor_steal(x, w);
    if (w.lane == 0 && task != NO_TASK)
        add_relaxed(x.taken, 1);
    return task;
}

__device__ inline uint32_t executor_take(const struct gt_executor &x, struct executor_worker &w)
{
    uint32_t task = NO_TASK;
    switch (x.policy) {
    case GT_EXECUTOR_SHARED: return executor_take_shared(x, w);
    case GT_EXECUTOR_READY: return executor_take_ready(x, w);
    case GT_EXECUTOR_STEAL: return executor_take_deque(x, w);
    case GT_EXECUTOR_MIXED: task = executor_take_listed(x, w);
        return task != NO_TASK ? task : executor_take_shared(x, w);
    default: return executor_take_listed(x, w);
    }
}

/* ---- Waiting ---- */

/* The policies that poll; the others take what is ready only. */
__device__ inline bool executor_polls(const struct gt_executor &x)
{
    return x.policy != GT_EXECUTOR_READY && x.policy != GT_EXECUTOR_STEAL;
}

/* Until all the task's counters are there. */
__device__ inline void executor_wait(const struct gt_executor &x, const struct executor_worker &w)
{
    for (uint32_t i = w.lane; i < w.what.waits; i += w.lanes) {
        struct gt_executor_wait wait = x.waits[w.what.first_wait + i];
        if (wait.threshold > 0)
            executor_poll(x, executor_counter(x, wait.counter), wait.threshold);
    }
    __syncwarp(w.mask);
}

/* The next task, about to begin. */
__device__ inline uint32_t executor_next(const struct gt_executor &x, struct executor_worker &w)
{
    if (w.lane == 0)
        w.record.asked_cycles = (uint64_t)clock64();
    uint32_t task = executor_take(x, w);
    if (task == NO_TASK)
        return NO_TASK;
    if (w.lane == 0)
        w.record.taken_cycles = (uint64_t)clock64();
    w.what = x.tasks[task];
    w.signal = w.lane < w.what.signals ? x.signals[w.what.first_signal + w.lane] : 0;
    if (executor_polls(x))
        executor_wait(x, w);
    if (w.lane == 0)
        w.record.start_cycles = (uint64_t)clock64();
    return task;
}

/* ---- Telling ---- */

/* Each lane's task, or NO_TASK, waits for one thing less; those that wait for nothing more are pushed. */
__device__ inline void executor_let_go(const struct gt_executor &x, struct executor_worker &w, uint32_t task)
{
    bool ready = task != NO_TASK && add_both(&x.missing[task], UINT32_MAX) == 1;
    unsigned all = __ballot_sync(w.mask, ready);
    uint32_t rank = (uint32_t)__popc(all & ((1u << w.lane) - 1)), count = (uint32_t)__popc(all), base = 0;
    if (count == 0)
        return;
    if (x.policy == GT_EXECUTOR_READY) {
        if (w.lane == 0)
            base = add_relaxed(x.tail, count);
        base = __shfl_sync(w.mask, base, 0);
        if (ready)
            store_release(&x.slots[base + rank], task + 1);
        return;
    }
    if (ready)
        x.entries[(uint64_t)w.number * x.task_count + w.newest + rank] = task;
    w.newest += count;
    __syncwarp(w.mask);
    if (w.lane == 0)
        add_release(executor_deque(x, w.number), (uint64_t)count << 32);
}

__device__ inline void executor_let_all_go(const struct gt_executor &x, struct executor_worker &w,
                                           const uint32_t *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += w.lanes)
        executor_let_go(x, w, i + w.lane < count ? tasks[i + w.lane] : NO_TASK);
}

/* Counters up, and whoever waited for what they come to; then those that exist from now on. */
__device__ inline void executor_release(const struct gt_executor &x, struct executor_worker &w)
{
    for (uint32_t i = 0; i < w.what.signals; i += w.lanes) {
        uint32_t begin = 0, end = 0, own = i + w.lane;
        if (own < w.what.signals) {
            uint32_t counter = i == 0 ? w.signal : x.signals[w.what.first_signal + own];
            uint32_t base = x.counter_base[counter];
            uint32_t value = add_both(executor_counter(x, counter), 1) + 1;
            begin = x.release_first[base + value];
            end = x.release_first[base + value + 1];
        }
        for (uint32_t lane = 0; lane < w.lanes && i + lane < w.what.signals; lane++) {
            uint32_t first = __shfl_sync(w.mask, begin, lane), behind = __shfl_sync(w.mask, end, lane);
            executor_let_all_go(x, w, x.released + first, behind - first);
        }
    }
    executor_let_all_go(x, w, x.made + w.what.first_made, w.what.made);
}

__device__ inline void executor_tell(const struct gt_executor &x, struct executor_worker &w, uint32_t task)
{
    if (w.lane == 0)
        w.record.end_cycles = (uint64_t)clock64();
    __syncwarp(w.mask);
    if (!executor_polls(x)) {
        executor_release(x, w);
    } else {
        for (uint32_t i = w.lane; i < w.what.signals; i += w.lanes) {
            uint32_t counter = i < w.lanes ? w.signal : x.signals[w.what.first_signal + i];
            add_release(executor_counter(x, counter), 1);
        }
    }
    if (w.lane == 0 && x.log)
        x.log[task] = w.record;  /* behind the signals: they would have to wait for it */
    __syncwarp(w.mask);
}

/* ---- The walk ---- */

__device__ inline struct executor_worker executor_begin(const struct gt_executor &x)
{
    struct executor_worker w = {};
    w.number = (uint32_t)this_block();
    w.lanes = block_threads() < warpSize ? block_threads() : warpSize;
    w.lane = this_thread();
    w.mask = w.lanes < warpSize ? (1u << w.lanes) - 1 : 0xffffffffu;
    w.record.worker = w.number;
    if (x.policy == GT_EXECUTOR_STATIC || x.policy == GT_EXECUTOR_MIXED) {
        w.next = x.list_first[w.number];
        w.end = x.list_first[w.number + 1];
    }
    if (x.policy == GT_EXECUTOR_STEAL) /* nobody else moves the newest end */
        w.newest = (uint32_t)(load_acquire(executor_deque(x, w.number)) >> 32);
    return w;
}

/* All threads of all blocks call it, once. work(task, what, start_cycles) is called by all threads of a block for
 * each of its tasks; start_cycles is thread 0's to know. `shared`: EXECUTOR_SHARED_BYTES of the block's. */
template <typename WORK>
__device__ inline void executor_walk(const struct gt_executor &x, uint32_t *shared, WORK work)
{
    bool first_warp = this_thread() < warpSize;
    struct executor_worker w = executor_begin(x);
    for (;;) {
        if (first_warp) {
            uint32_t next = executor_next(x, w);
            if (w.lane == 0)
                *shared = next;
        }
        __syncthreads();
        uint32_t task = *shared;
        if (task == NO_TASK)
            return;
        work(task, x.tasks[task], w.record.start_cycles);
        __syncthreads();
        if (first_warp)
            executor_tell(x, w, task);
    }
}

#endif
