/* hosts.c - host functions (cudaLaunchHostFunc): CUPTI does not time them.
 *
 * A stream goes on when its host function has returned, so it lasted, with the time until a thread of the driver
 * picked it up, from the end of what the stream ran before to the start of what it ran next.  Where that started as soon
 * as it was asked for nothing tells when the function had ended: it takes no time then.  The time until it is picked up
 * is the device's (latency.host_function_us).
 */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

/* What starts within so long of its call's end waited for nothing. */
enum { SOON_NS = 8000 };

/* A call that put something into a stream. */
struct item {
    uint32_t stream;
    const struct gt_record_call *call;
    uint64_t start_ns, end_ns; /* of what it put there; UINT64_MAX, 0: a host function, or nothing seen of it */
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    GT_ORDER(a->stream, b->stream);
    GT_ORDER(a->call->start_ns, b->call->start_ns);
    GT_ORDER(a->call->correlation, b->call->correlation);
    return 0;
}

static bool puts_something(const struct gt_record_call *call)
{
    return call->what >= GT_DID_LAUNCH && call->what <= GT_DID_GRAPH_LAUNCH && call->result == 0 &&
           call->head.flags & GT_RECORDED_IN_STREAM && !(call->head.flags & GT_RECORDED_CAPTURED);
}

static int compare_ops(const void *left, const void *right)
{
    const struct gt_record_op *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

/* Operations by correlation; malloced. */
static const struct gt_record_op **sorted_ops(const struct gt_recorded_process *process, uint32_t *count)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_OP];
    const struct gt_record_op **ops = gt_realloc(NULL, list->count + 1ull, sizeof *ops);

    *count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] != NULL)
            ops[(*count)++] = list->items[i];
    if (*count > 1)
        qsort(ops, *count, sizeof *ops, compare_ops);
    return ops;
}

static void set_times(struct item *item, const struct gt_record_op *const *ops, uint32_t count)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, ops[middle]->correlation < item->call->correlation);
    for (; low < count && ops[low]->correlation == item->call->correlation; low++) {
        item->start_ns = ops[low]->start_ns < item->start_ns ? ops[low]->start_ns : item->start_ns;
        item->end_ns = ops[low]->end_ns > item->end_ns ? ops[low]->end_ns : item->end_ns;
    }
}

struct gt_import_op *gt_recorded_add_host_op(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                                             const struct gt_record_call *call, uint32_t stream, uint64_t before_ns,
                                             uint64_t next_ns)
{
    struct gt_import_op *op = gt_import_add_op(&recorded->import);
    uint64_t whole_ns = next_ns > before_ns ? next_ns - before_ns : 0;
    uint64_t start_ns = before_ns + (whole_ns < recorded->pick_up_ns ? whole_ns : recorded->pick_up_ns);

    op->start_ns = (int64_t)start_ns;
    op->end_ns = (int64_t)(before_ns + whole_ns);
    op->process = process->key;
    op->correlation = call->correlation;
    op->stream = stream;
    op->kind = GT_OP_HOST_FUNCTION;
    return op;
}

/* Host functions `from` to `next` - 1 of a stream that stand behind each other. */
static void add_functions(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                          const struct item *items, uint32_t from, uint32_t next, uint64_t before_ns, uint32_t count)
{
    bool told = next < count && items[next].stream == items[from].stream && items[next].start_ns != UINT64_MAX;
    uint64_t start_ns = items[from].call->end_ns > before_ns ? items[from].call->end_ns : before_ns;
    uint64_t end_ns = start_ns;

    if (told && items[next].start_ns > start_ns && items[next].start_ns > items[next].call->end_ns + SOON_NS)
        end_ns = items[next].start_ns;
    for (uint32_t i = from; i < next; i++) {
        uint64_t part_ns = (end_ns - start_ns) / (next - from);

        gt_recorded_add_host_op(recorded, process, items[i].call, items[i].stream, start_ns + (i - from) * part_ns,
                                i + 1 == next ? end_ns : start_ns + (i + 1 - from) * part_ns);
    }
}

static void add_all(struct gt_recorded *recorded, const struct gt_recorded_process *process, const struct item *items,
                    uint32_t count)
{
    uint64_t before_ns = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = i;

        if (i > 0 && items[i].stream != items[i - 1].stream)
            before_ns = 0;
        while (next < count && items[next].stream == items[i].stream &&
               items[next].call->what == GT_DID_HOST_FUNCTION)
            next++;
        if (next > i) {
            add_functions(recorded, process, items, i, next, before_ns, count);
            i = next - 1;
        } else if (items[i].end_ns > before_ns)
            before_ns = items[i].end_ns;
    }
}

void gt_recorded_add_host_functions(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const struct gt_recorded_list *calls = &process->lists[GT_RECORDED_CALL];
    const struct gt_record_op **ops;
    struct item *items = NULL;
    uint32_t count = 0, room = 0, op_count;

    ops = sorted_ops(process, &op_count);
    for (uint32_t i = 0; i < calls->count; i++) {
        struct item item = { .call = calls->items[i], .start_ns = UINT64_MAX };

        if (!puts_something(item.call))
            continue;
        item.stream = gt_recorded_stream_meant(recorded, process, item.call);
        if (item.stream == GT_NONE)
            continue;
        if (item.call->what != GT_DID_HOST_FUNCTION)
            set_times(&item, ops, op_count);
        gt_array_grow(items, count, room);
        items[count++] = item;
    }
    if (count > 1)
        qsort(items, count, sizeof *items, compare_items);
    add_all(recorded, process, items, count);
    free(items);
    free(ops);
}
