/* What a trace recorded, as the records of a run. */
#include <stdlib.h>

#include "traces/store/store.h"

/* One measured call or operation; sorted by end, then calls first, then by number. */
struct item {
    gt_time_ps end_ps;
    uint32_t index;
    bool op;
};

static bool measured(gt_time_ps start_ps, gt_time_ps duration_ps)
{
    return start_ps != GT_TIME_NONE && duration_ps != GT_TIME_NONE;
}

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    if (a->op != b->op)
        return a->op ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static uint64_t collect_ops(const struct gt_workload *workload, struct item *items)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < workload->op_count; i++) {
        const struct gt_op *op = &workload->ops[i];

        if (measured(op->start_ps, op->duration_ps))
            items[count++] = (struct item){ op->start_ps + op->duration_ps, i, true };
    }
    return count;
}

/* A call that an importer made up was not measured, whatever times it was given. */
static uint64_t collect_calls(const struct gt_workload *workload, struct item *items)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        if (measured(call->start_ps, call->duration_ps) && (call->flags & GT_CALL_INFERRED) == 0)
            items[count++] = (struct item){ call->start_ps + call->duration_ps, i, false };
    }
    return count;
}

static int send_op(const struct gt_workload *workload, const struct item *item, const struct gt_probe *probe,
                   struct gt_error *error)
{
    const struct gt_op *op = &workload->ops[item->index];
    /* clang-format off */
    struct gt_op_record record = {
        .op = item->index, .submit_ps = GT_TIME_NONE, .start_ps = op->start_ps, .end_ps = item->end_ps,
        .cause = GT_CAUSE_NONE, .cause_index = GT_NONE,
    };
    /* clang-format on */

    if (op->call != GT_NONE && (workload->calls[op->call].flags & GT_CALL_INFERRED) == 0)
        record.submit_ps = workload->calls[op->call].start_ps;
    return probe->op != NULL ? probe->op(probe->user, &record, error) : 0;
}

static int send_call(const struct gt_workload *workload, const struct item *item, const struct gt_probe *probe,
                     struct gt_error *error)
{
    struct gt_call_record record = {
        .call = item->index,
        .start_ps = workload->calls[item->index].start_ps,
        .end_ps = item->end_ps,
        .cause_op = GT_NONE,
    };

    return probe->call != NULL ? probe->call(probe->user, &record, error) : 0;
}

int64_t gt_measured_play(const struct gt_workload *workload, const struct gt_probe *probe, struct gt_error *error)
{
    struct item *items = gt_realloc(NULL, (uint64_t)workload->op_count + workload->call_count, sizeof *items);
    uint64_t ops = collect_ops(workload, items), count = ops;
    int result = 0;

    if (ops > 0)
        count += collect_calls(workload, items + ops);
    qsort(items, count, sizeof *items, compare_items);
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = (items[i].op ? send_op : send_call)(workload, &items[i], probe, error);
    free(items);
    return result == 0 ? (int64_t)ops : -1;
}
