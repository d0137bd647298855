#include "sim/stream/thread_lock.h"

#include <stdlib.h>

#include "sim/base/sort.h"

/* One thread with a lock, while they are numbered. */
struct holder {
    uint64_t process;
    uint32_t name;
    gt_thread_index thread;
};

static int by_lock(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    GT_ORDER(a->name, b->name);
    GT_ORDER(a->process, b->process);
    GT_ORDER(a->thread, b->thread);
    return 0;
}

void gt_thread_locks_build(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    struct holder *holders = gt_calloc(w->thread_count + 1ull, sizeof *holders);
    uint32_t count = 0, locks = 0;

    for (uint32_t i = 0; i < w->thread_count; i++) {
        m->threads[i].lock = GT_NONE;
        if (w->threads[i].lock != GT_NONE)
            holders[count++] = (struct holder){ w->threads[i].process, w->threads[i].lock, i };
    }
    qsort(holders, count, sizeof *holders, by_lock);
    for (uint32_t i = 0; i < count; i++) {
        locks += i == 0 || holders[i].name != holders[i - 1].name || holders[i].process != holders[i - 1].process;
        m->threads[holders[i].thread].lock = locks - 1;
    }
    m->locks = gt_calloc(locks, sizeof *m->locks);
    for (uint32_t i = 0; i < locks; i++)
        m->locks[i].head = GT_NONE;
    free(holders);
}

void gt_thread_locks_free(struct gt_machine *m)
{
    free(m->locks);
}

bool gt_thread_lock_take(struct gt_machine *m, gt_thread_index thread)
{
    struct gt_thread_state *state = &m->threads[thread];
    struct gt_lock_state *lock;

    if (state->lock == GT_NONE || !gt_call_needs_lock(m->workload, state->calls[state->next]))
        return true;
    lock = &m->locks[state->lock];
    state->has_lock = true;
    if (!lock->taken) {
        lock->taken = true;
        return true;
    }
    m->fired[GT_RULE_LOCK]++;
    state->lock_next = GT_NONE;
    if (lock->head == GT_NONE)
        lock->head = thread;
    else
        m->threads[lock->tail].lock_next = thread;
    lock->tail = thread;
    return false;
}

void gt_thread_lock_give(struct gt_machine *m, gt_thread_index thread, gt_time_ps end_ps)
{
    struct gt_thread_state *state = &m->threads[thread];

    if (!state->has_lock)
        return;
    state->has_lock = false;
    gt_engine_schedule(&m->engine, end_ps, GT_PHASE_HOST, GT_HANDLE_LOCK, state->lock, 0);
}

int gt_thread_lock_handler(void *machine, uint32_t index, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_lock_state *lock = &m->locks[index];
    gt_thread_index next = lock->head;

    (void)stamp;
    (void)error;
    if (next == GT_NONE) {
        lock->taken = false;
        return 0;
    }
    lock->head = m->threads[next].lock_next;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->device->lock_ps, GT_PHASE_HOST, GT_HANDLE_THREAD, next,
                       GT_THREAD_HAS_LOCK);
    return 0;
}
