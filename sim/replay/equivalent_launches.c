#include "config.h"

#include "sim/replay/equivalent_launches.h"

#include <stdlib.h>

#include "sim/base/sort.h"

static int by_stream(const void *left, const void *right, void *user)
{
    const struct gt_op *ops = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    GT_ORDER(ops[a].stream, ops[b].stream);
    GT_ORDER(a, b);
    return 0;
}

/* The launches are sorted so that those of the same nodes stand together. */
struct ordered {
    const struct gt_workload *w;
    const uint32_t *order;
    const bool *queued;
};

static int by_nodes(const void *left, const void *right, void *user)
{
    const struct ordered *ordered = user;
    gt_call_index a = *(const gt_call_index *)left, b = *(const gt_call_index *)right;
    const struct gt_call *one = &ordered->w->calls[a], *other = &ordered->w->calls[b];

    GT_ORDER(one->ops, other->ops);
    GT_ORDER(ordered->queued[a], ordered->queued[b]);
    for (uint32_t i = 0; i < one->ops; i++) {
        const struct gt_op *x = &ordered->w->ops[ordered->order[one->first_op + i]];
        const struct gt_op *y = &ordered->w->ops[ordered->order[other->first_op + i]];

        GT_ORDER(x->stream, y->stream);
        GT_ORDER(x->kind, y->kind);
        GT_ORDER(x->kernel, y->kernel);
        GT_ORDER(x->bytes, y->bytes);
    }
    return 0;
}

static int compare(const void *left, const void *right, void *user)
{
    int nodes = by_nodes(left, right, user);

    if (nodes != 0)
        return nodes;
    GT_ORDER(*(const gt_call_index *)left, *(const gt_call_index *)right);
    return 0;
}

void gt_equivalent_launches_visit(const struct gt_workload *w, const bool *queued, gt_call_index *calls,
                                  uint32_t count, gt_equivalent_visitor *visit, void *user)
{
    uint32_t *order = gt_calloc(w->op_count, sizeof *order);
    struct ordered ordered = { w, order, queued };

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_call *call = &w->calls[calls[i]];

        for (uint32_t op = call->first_op; op < call->first_op + call->ops; op++)
            order[op] = op;
        qsort_r(order + call->first_op, call->ops, sizeof *order, by_stream, w->ops);
    }
    qsort_r(calls, count, sizeof *calls, compare, &ordered);
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && by_nodes(&calls[first], &calls[next], &ordered) == 0;)
            next++;
        visit(user,
              &(struct gt_equivalent_launches){ .calls = calls + first, .count = next - first, .order = order });
    }
    free(order);
}
