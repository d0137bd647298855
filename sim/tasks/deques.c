#include "sim/tasks/deques.h"

#include <stdlib.h>

void gt_task_deques_make(struct gt_task_deques *deques, gt_worker_index workers, gt_task_index tasks,
                         gt_task_index *newer)
{
    size_t words = workers / 64 + 1ull;

    *deques = (struct gt_task_deques){ .workers = workers, .newer = newer };
    deques->of = gt_realloc(NULL, workers, sizeof *deques->of);
    deques->older = gt_realloc(NULL, tasks, sizeof *deques->older);
    deques->filled = gt_calloc(words, sizeof *deques->filled);
    deques->free = gt_calloc(words, sizeof *deques->free);
    deques->claimed = gt_calloc(words, sizeof *deques->claimed);
    for (gt_worker_index i = 0; i < workers; i++)
        deques->of[i] = (struct gt_task_deque){ .oldest = GT_NONE, .newest = GT_NONE };
}

void gt_task_deques_free(struct gt_task_deques *deques)
{
    free(deques->of);
    free(deques->older);
    free(deques->filled);
    free(deques->free);
    free(deques->claimed);
}

static void set_bit(uint64_t *words, gt_worker_index worker, bool to, gt_worker_index *count)
{
    uint64_t bit = UINT64_C(1) << worker % 64, *word = &words[worker / 64];

    if (((*word & bit) != 0) == to)
        return;
    *word ^= bit;
    *count += to ? 1 : -1u;
}

/* Its tasks or claims have changed. */
static void note(struct gt_task_deques *deques, gt_worker_index worker)
{
    const struct gt_task_deque *deque = &deques->of[worker];
    gt_worker_index filled = 0;

    set_bit(deques->filled, worker, deque->tasks > 0, &filled);
    set_bit(deques->free, worker, deque->tasks > deque->claims, &deques->free_count);
    set_bit(deques->claimed, worker, deque->tasks > 0 && deque->tasks <= deque->claims, &deques->claimed_count);
}

void gt_task_deque_claim(struct gt_task_deques *deques, gt_worker_index worker, int by)
{
    deques->of[worker].claims += (uint32_t)by;
    note(deques, worker);
}

/* Workers side by side stand in two halves of words at most; the last ones stand beside the first. */
bool gt_task_deques_may_be_claimed(const struct gt_task_deques *deques, uint32_t least)
{
    gt_worker_index words = deques->workers / 64 + 1, behind = deques->workers < 32 ? deques->workers : 32;
    uint32_t before;

    if (deques->claimed_count < least)
        return false;
    before = (uint32_t)__builtin_popcountll(
        gt_task_deques_window(deques, deques->claimed, deques->workers - behind, behind));
    for (gt_worker_index i = 0; i < words; i++) {
        uint32_t low, high;

        if (deques->claimed[i] == 0) {
            before = 0;
            continue;
        }
        low = (uint32_t)__builtin_popcountll(deques->claimed[i] & UINT32_MAX);
        high = (uint32_t)__builtin_popcountll(deques->claimed[i] >> 32);
        if (before + low >= least || low + high >= least)
            return true;
        before = high;
    }
    return false;
}

void gt_task_deque_put(struct gt_task_deques *deques, gt_worker_index worker, gt_task_index task)
{
    struct gt_task_deque *deque = &deques->of[worker];

    deques->older[task] = deque->newest;
    deques->newer[task] = GT_NONE;
    if (deque->newest == GT_NONE)
        deque->oldest = task;
    else
        deques->newer[deque->newest] = task;
    deque->newest = task;
    deque->tasks++;
    deque->changes++;
    note(deques, worker);
}

gt_task_index gt_task_deque_take_newest(struct gt_task_deques *deques, gt_worker_index worker)
{
    struct gt_task_deque *deque = &deques->of[worker];
    gt_task_index task = deque->newest;

    deque->newest = deques->older[task];
    if (deque->newest == GT_NONE)
        deque->oldest = GT_NONE;
    else
        deques->newer[deque->newest] = GT_NONE;
    deque->tasks--;
    deque->changes++;
    note(deques, worker);
    return task;
}

gt_task_index gt_task_deque_take_oldest(struct gt_task_deques *deques, gt_worker_index worker)
{
    struct gt_task_deque *deque = &deques->of[worker];
    gt_task_index task = deque->oldest;

    if (task == deque->newest)
        return gt_task_deque_take_newest(deques, worker);
    deque->oldest = deques->newer[task];
    deques->older[deque->oldest] = GT_NONE;
    deque->tasks--;
    deque->changes++;
    note(deques, worker);
    return task;
}
