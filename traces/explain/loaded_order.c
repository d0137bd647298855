/* A run's operations and calls by their start. */
#include "traces/explain/loaded_order.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

static int by_op_start(const void *a, const void *b, void *user)
{
    const struct gt_loaded_op *ops = user;
    gt_op_index left = *(const gt_op_index *)a, right = *(const gt_op_index *)b;

    if (ops[left].start_ps != ops[right].start_ps)
        return ops[left].start_ps < ops[right].start_ps ? -1 : 1;
    return (left > right) - (left < right);
}

static void order_ops(struct gt_loaded_run *t)
{
    gt_op_index *last = gt_realloc(NULL, t->stream_count + 1ull, sizeof *last);

    t->by_start = gt_calloc(t->op_count + 1ull, sizeof *t->by_start);
    for (uint32_t i = 0; i < t->op_count; i++)
        if (t->ops[i].there)
            t->by_start[t->started++] = i;
    qsort_r(t->by_start, t->started, sizeof *t->by_start, by_op_start, t->ops);
    memset(last, 0xff, (t->stream_count + 1ull) * sizeof *last); /* GT_NONE */
    for (uint32_t i = 0; i < t->started; i++) {
        struct gt_loaded_op *op = &t->ops[t->by_start[i]];

        op->before = last[op->stream];
        last[op->stream] = t->by_start[i];
    }
    free(last);
}

/* Host functions keep streams waiting, but are no work of the GPU. */
static void drop_host_functions(struct gt_loaded_run *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->started; i++)
        if (t->ops[t->by_start[i]].kind != GT_OP_HOST_FUNCTION)
            t->by_start[kept++] = t->by_start[i];
    t->started = kept;
    t->first_ps = kept > 0 ? t->ops[t->by_start[0]].start_ps : 0;
    for (uint32_t i = 0; i < kept; i++)
        if (t->ops[t->by_start[i]].end_ps > t->last_ps)
            t->last_ps = t->ops[t->by_start[i]].end_ps;
}

/* A thread's calls are numbered in the order in which it makes them. */
static void order_calls(struct gt_loaded_run *t)
{
    uint32_t *next;

    t->thread_first = gt_calloc(t->thread_count + 2ull, sizeof *t->thread_first);
    t->thread_calls = gt_calloc(t->call_count + 1ull, sizeof *t->thread_calls);
    for (uint32_t i = 0; i < t->call_count; i++)
        t->thread_first[t->calls[i].thread + 1] += t->calls[i].there;
    for (uint32_t i = 0; i < t->thread_count; i++)
        t->thread_first[i + 1] += t->thread_first[i];
    next = gt_calloc(t->thread_count + 1ull, sizeof *next);
    for (uint32_t i = 0; i < t->call_count; i++) {
        gt_thread_index thread = t->calls[i].thread;

        if (t->calls[i].there)
            t->thread_calls[t->thread_first[thread] + next[thread]++] = i;
    }
    free(next);
}

void gt_loaded_run_order(struct gt_loaded_run *run)
{
    order_ops(run);
    drop_host_functions(run);
    order_calls(run);
}
