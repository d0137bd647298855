/* deques.h - a deque of tasks for each worker: its owner takes the newest, others the oldest. */
#ifndef GRIDTIDE_SIM_TASKS_DEQUES_H
#define GRIDTIDE_SIM_TASKS_DEQUES_H

#include "sim/workload/task_graph.h"

struct gt_task_deque {
    gt_task_index oldest, newest; /* GT_NONE: empty */
    gt_task_index tasks;
    uint32_t claims;  /* workers that are about to take one, which may come too late */
    uint32_t changes; /* so often: who wants to take must have seen the latest one */
};

struct gt_task_deques {
    struct gt_task_deque *of;     /* by worker */
    gt_task_index *older, *newer; /* of each task in its deque; `newer` is the caller's array */
    /* Bit w of all words: worker w's has tasks; it has more than it has claims; fewer, but some. */
    uint64_t *filled, *free, *claimed;
    gt_worker_index workers, free_count, claimed_count;
};

/* All empty; gt_task_deques_free() ends them. */
void gt_task_deques_make(struct gt_task_deques *deques, gt_worker_index workers, gt_task_index tasks,
                         gt_task_index *newer);
void gt_task_deques_free(struct gt_task_deques *deques);

void gt_task_deque_put(struct gt_task_deques *deques, gt_worker_index worker, gt_task_index task);
/* From a deque that is not empty. */
gt_task_index gt_task_deque_take_newest(struct gt_task_deques *deques, gt_worker_index worker);
gt_task_index gt_task_deque_take_oldest(struct gt_task_deques *deques, gt_worker_index worker);

/* Somebody is about to take one of its tasks, 1; or not any more, -1. */
void gt_task_deque_claim(struct gt_task_deques *deques, gt_worker_index worker, int by);

static inline bool gt_task_deque_is_filled(const struct gt_task_deques *deques, gt_worker_index worker)
{
    return deques->of[worker].tasks > 0;
}

/* A bit for each of so many deques, at most 32, from `first` on, round the grid, as `words`, one of the above, has it. */
static inline uint64_t gt_task_deques_window(const struct gt_task_deques *deques, const uint64_t *words,
                                             gt_worker_index first, gt_worker_index count)
{
    gt_worker_index here = deques->workers - first < count ? deques->workers - first : count;
    uint64_t bits = words[first / 64] >> first % 64;

    if (first % 64 + here > 64)
        bits |= words[first / 64 + 1] << (64 - first % 64);
    bits &= (UINT64_C(1) << here) - 1;
    return here == count ? bits : bits | (words[0] & ((UINT64_C(1) << (count - here)) - 1)) << here;
}

/* Are there 32 workers side by side with `least` claimed deques?  May say so where there are not. */
bool gt_task_deques_may_be_claimed(const struct gt_task_deques *deques, uint32_t least);

#endif
