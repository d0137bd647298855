/* Calls that kept their thread waiting. */
#include <stdlib.h>

#include "traces/explain/explain.h"
#include "traces/explain/full_queue.h"
#include "traces/explain/part.h"

const char *const gt_block_why_names[GT_BLOCK_WHYS] = {
    [GT_BLOCK_SYNC] = "synchronises",
    [GT_BLOCK_PAGEABLE] = "pageable-copy",
    [GT_BLOCK_SYNCHRONOUS] = "synchronous-copy",
    [GT_BLOCK_QUEUE] = "queue-full",
};

static enum gt_block_why why_blocked(const struct gt_loaded_run *t, const struct gt_loaded_call *call)
{
    const struct gt_loaded_op *op = call->cause_op != GT_NONE ? &t->ops[call->cause_op] : NULL;
    bool own = op != NULL && &t->calls[op->call] == call;

    if (call->kind == GT_CALL_COPY && own)
        return op->memory == GT_MEMORY_PINNED ? GT_BLOCK_SYNCHRONOUS : GT_BLOCK_PAGEABLE;
    if (call->kind == GT_CALL_LAUNCH || call->kind == GT_CALL_GRAPH_LAUNCH || call->kind == GT_CALL_MEMSET ||
        call->kind == GT_CALL_COPY || call->kind == GT_CALL_HOST_FUNCTION)
        return GT_BLOCK_QUEUE;
    return GT_BLOCK_SYNC;
}

static int by_time(const void *a, const void *b)
{
    const struct gt_blocked_calls *left = a, *right = b;

    if (left->blocked_ps != right->blocked_ps)
        return left->blocked_ps > right->blocked_ps ? -1 : 1;
    return (left->example > right->example) - (left->example < right->example);
}

struct gt_blocked_calls *gt_blocked_calls(const struct gt_loaded_run *t, size_t *count)
{
    size_t rows = (size_t)t->name_count * GT_BLOCK_WHYS;
    gt_time_ps *queue_waits = gt_full_queue_waits(t);
    struct gt_blocked_calls *calls = gt_calloc(rows + 1, sizeof *calls);
    gt_time_ps *most_ps = gt_calloc(rows + 1, sizeof *most_ps);

    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct gt_loaded_call *call = &t->calls[i];
        gt_time_ps blocked_ps = call->blocked_ps > 0 ? call->blocked_ps : queue_waits[i];
        enum gt_block_why why;
        size_t row;

        if (!call->there || blocked_ps == 0 || !gt_part_has_call(t, i))
            continue;
        why = call->blocked_ps > 0 ? why_blocked(t, call) : GT_BLOCK_QUEUE;
        row = (size_t)call->name * GT_BLOCK_WHYS + why;
        calls[row].name = call->name;
        calls[row].why = why;
        calls[row].times++;
        calls[row].blocked_ps += blocked_ps;
        if (blocked_ps > most_ps[row])
            calls[row].example = i;
        most_ps[row] = blocked_ps > most_ps[row] ? blocked_ps : most_ps[row];
    }
    *count = 0;
    for (size_t i = 0; i < rows; i++)
        if (calls[i].times > 0)
            calls[(*count)++] = calls[i];
    qsort(calls, *count, sizeof *calls, by_time);
    free(most_ps);
    free(queue_waits);
    return calls;
}
