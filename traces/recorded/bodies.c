/* bodies.c - operations in the bodies of conditional nodes (IF, WHILE, SWITCH): CUPTI knows the executable graph that they
 * were of, and not its launch.
 *
 * Launches of one executable graph run one after the other, so that their times tell.
 */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

struct launch {
    uint32_t executable, correlation;
    uint64_t start_ns; /* of the first operation that is known to be of it, else of its call */
};

struct launches {
    struct launch *items;
    uint32_t count, room;
};

static int compare_launches(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

static bool is_in_body(const struct gt_record_op *op)
{
    return op->node != 0 && op->correlation == 0 && op->graph != 0;
}

static void collect(const struct gt_recorded_process *process, struct launches *launches)
{
    const struct gt_recorded_list *calls = &process->lists[GT_RECORDED_CALL];

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct gt_record_call *call = calls->items[i];

        if (call->what != GT_DID_GRAPH_LAUNCH || call->result != 0 || call->head.flags & GT_RECORDED_CAPTURED ||
            call->a > UINT32_MAX)
            continue;
        gt_array_grow(launches->items, launches->count, launches->room);
        launches->items[launches->count++] = (struct launch){ (uint32_t)call->a, call->correlation, call->start_ns };
    }
    if (launches->count > 1)
        qsort(launches->items, launches->count, sizeof *launches->items, compare_launches);
}

static void take_starts(const struct gt_recorded_process *process, struct launches *launches)
{
    const struct gt_recorded_list *ops = &process->lists[GT_RECORDED_OP];
    bool *seen = gt_calloc(launches->count, sizeof *seen);

    for (uint32_t i = 0; i < ops->count; i++) {
        const struct gt_record_op *op = ops->items[i];
        const struct launch key = { op->graph, op->correlation, 0 };
        struct launch *found = op->node == 0 || op->correlation == 0
                                   ? NULL
                                   : bsearch(&key, launches->items, launches->count, sizeof key, compare_launches);

        if (found == NULL || (seen[found - launches->items] && found->start_ns <= op->start_ns))
            continue;
        seen[found - launches->items] = true;
        found->start_ns = op->start_ns;
    }
    free(seen);
}

static int compare_starts(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

/* The last launch of the graph that had begun then, or the first of all; 0: it has none. */
static uint32_t launch_at(const struct launches *launches, uint32_t executable, uint64_t time_ns)
{
    uint32_t low = 0, high = launches->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct launch *at = &launches->items[middle];

        if (at->executable < executable || (at->executable == executable && at->start_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && launches->items[low - 1].executable == executable)
        return launches->items[low - 1].correlation;
    return low < launches->count && launches->items[low].executable == executable ? launches->items[low].correlation
                                                                                  : 0;
}

static int compare_numbers(const void *left, const void *right)
{
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

bool gt_recorded_has_body(const struct gt_recorded_process *process, uint32_t correlation)
{
    return process->with_body_count > 0 && bsearch(&correlation, process->with_bodies, process->with_body_count,
                                                   sizeof correlation, compare_numbers) != NULL;
}

void gt_recorded_find_bodies(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const struct gt_recorded_list *ops = &process->lists[GT_RECORDED_OP];
    struct launches launches = { .count = 0 };
    uint64_t count = 0;

    for (uint32_t i = 0; i < ops->count; i++)
        count += is_in_body(ops->items[i]);
    if (count == 0)
        return;
    collect(process, &launches);
    take_starts(process, &launches);
    if (launches.count > 1)
        qsort(launches.items, launches.count, sizeof *launches.items, compare_starts);
    for (uint32_t i = 0; i < ops->count; i++) {
        struct gt_record_op *op = (struct gt_record_op *)ops->items[i]; /* the process's own bytes */

        if (!is_in_body(op))
            continue;
        op->correlation = launch_at(&launches, op->graph, op->start_ns);
        if (op->correlation == 0)
            continue;
        gt_array_grow(process->with_bodies, process->with_body_count, process->with_body_room);
        process->with_bodies[process->with_body_count++] = op->correlation;
    }
    if (process->with_body_count > 1)
        qsort(process->with_bodies, process->with_body_count, sizeof *process->with_bodies, compare_numbers);
    gt_import_warn(recorded->import.workload, "graph-conditions", count);
    free(launches.items);
}
