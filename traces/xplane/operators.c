/* operators.c - operators of XLA: ranges that it names after them, or the calls that launched their kernels. */
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/xplane/internal.h"

/* A range that is an operator of XLA, by thread and start. */
struct known {
    uint64_t thread;
    int64_t start_ns, end_ns;
    uint32_t name;
};

static int by_correlation(const void *left, const void *right)
{
    const struct xplane_operator *a = left, *b = right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->name, b->name);
    return 0;
}

static int by_start(const void *left, const void *right)
{
    const struct known *a = left, *b = right;

    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(b->end_ns, a->end_ns);
    return 0;
}

/* XLA has an annotation around what it does for an operator, of the operator's name.  The number found. */
static uint32_t find_annotations(struct xplane *xplane, struct known *known)
{
    struct gt_import *import = &xplane->import;
    bool *is_operator = gt_calloc(gt_name_count(import->workload) + 1ull, sizeof *is_operator);
    uint32_t count = 0;

    for (uint32_t i = 0; i < xplane->operator_count; i++)
        is_operator[xplane->operators[i].name] = true;
    for (uint32_t i = 0; i < import->range_count; i++) {
        struct gt_import_range *range = &import->ranges[i];

        if (range->kind != GT_RANGE_ANNOTATION || !is_operator[range->name])
            continue;
        range->kind = GT_RANGE_OPERATOR;
        known[count++] =
            (struct known){ import->range_threads[range->thread].id, range->start_ns, range->end_ns, range->name };
    }
    qsort(known, count, sizeof *known, by_start);
    free(is_operator);
    return count;
}

/* Is the last that began before the call of that name, and had it not ended? */
static bool is_in(const struct known *known, uint32_t count, uint64_t thread, const struct gt_import_call *call,
                  uint32_t name)
{
    uint32_t end = GT_LOWER_BOUND(middle, 0, count,
                                  known[middle].thread < thread ||
                                      (known[middle].thread == thread && known[middle].start_ns <= call->start_ns));

    return end > 0 && known[end - 1].thread == thread && known[end - 1].name == name &&
           known[end - 1].end_ns >= call->start_ns;
}

/* XLA names the operator (hlo_op) at the kernel.  Where it has no annotation, its range is the call that launched it.  A call that
 * launched kernels of several operators, a graph's, belongs to none. */
void xplane_add_operators(struct xplane *xplane)
{
    const struct gt_import *import = &xplane->import;
    const struct xplane_operator *operators = xplane->operators;
    struct known *known;
    uint32_t count;

    if (xplane->operator_count == 0)
        return;
    known = gt_calloc(import->range_count + 1ull, sizeof *known);
    count = find_annotations(xplane, known);
    qsort(xplane->operators, xplane->operator_count, sizeof *xplane->operators, by_correlation);
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct gt_import_call *call = &import->calls[i];
        uint64_t thread = import->workload->threads[call->thread].id;
        uint32_t first =
            GT_LOWER_BOUND(middle, 0, xplane->operator_count, operators[middle].correlation < call->correlation);
        uint32_t end =
            GT_LOWER_BOUND(middle, first, xplane->operator_count, operators[middle].correlation <= call->correlation);

        if (first < end && operators[first].name == operators[end - 1].name &&
            !is_in(known, count, thread, call, operators[first].name))
            xplane_add_range(xplane, thread, call->start_ns, call->end_ns, operators[first].name, GT_RANGE_OPERATOR);
    }
    free(known);
}
