/* givers.c - who gave an operation its parameters: its call, or its node of an executable graph as that was at its launch.
 *
 * An executable graph's node is changed by itself, or the whole of it is updated to another graph of the same shape: nodes
 * are then taken for each other in the order in which they were made.
 */
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

static int compare_givers(const struct gt_recorded_giver *a, const struct gt_recorded_giver *b)
{
    GT_ORDER(a->node, b->node);
    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

/* Of launches and pieces: both have it behind their heads. */
static const struct gt_recorded_giver *giver_of(const void *record)
{
    return (const void *)((const struct gt_record_head *)record + 1);
}

static int compare_records(const void *left, const void *right)
{
    return compare_givers(giver_of(*(const void *const *)left), giver_of(*(const void *const *)right));
}

static int compare_by_graph(const void *left, const void *right)
{
    const struct gt_record_node *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->graph, b->graph);
    GT_ORDER(a->node, b->node);
    return 0;
}

static void sort(struct gt_recorded_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

/* Each once, however often its graph was instantiated. */
static void sort_nodes(struct gt_recorded_process *process)
{
    const struct gt_recorded_list *nodes = &process->lists[GT_RECORDED_NODE];
    uint32_t kept = 0;

    process->by_graph = gt_realloc(NULL, nodes->count + 1ull, sizeof *process->by_graph);
    for (uint32_t i = 0; i < nodes->count; i++)
        process->by_graph[i] = nodes->items[i];
    if (nodes->count > 1)
        qsort(process->by_graph, nodes->count, sizeof *process->by_graph, compare_by_graph);
    for (uint32_t i = 0; i < nodes->count; i++)
        if (i == 0 || compare_by_graph(&process->by_graph[i], &process->by_graph[kept - 1]) != 0)
            process->by_graph[kept++] = process->by_graph[i];
    process->by_graph_count = kept;
}

void gt_recorded_sort_givers(struct gt_recorded_process *process)
{
    sort(&process->lists[GT_RECORDED_LAUNCH], compare_records);
    sort(&process->lists[GT_RECORDED_PIECE], compare_records);
    sort_nodes(process);
}

/* How many come before `giver`, or (`with`) up to it. */
static uint32_t count_before(const struct gt_recorded_list *list, const struct gt_recorded_giver *giver, bool with)
{
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_givers(giver_of(list->items[middle]), giver);

        if (order < 0 || (with && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gt_recorded_given(const struct gt_recorded_process *process, enum gt_recorded_kind kind,
                           const struct gt_recorded_giver *giver, uint32_t *first)
{
    const struct gt_recorded_list *list = &process->lists[kind];
    uint32_t end = count_before(list, giver, true);
    const struct gt_recorded_giver *last = end > 0 ? giver_of(list->items[end - 1]) : NULL;

    if (last == NULL || last->node != giver->node || last->executable != giver->executable ||
        (giver->node == 0 && last->correlation != giver->correlation))
        return 0;
    *first = count_before(list, last, false);
    return end - *first;
}

/* How many nodes are of graphs before this one, or (`with`) up to it. */
static uint32_t nodes_before(const struct gt_recorded_process *process, uint32_t graph, bool with)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, process->by_graph_count,
                                  process->by_graph[middle]->graph < graph ||
                                      (with && process->by_graph[middle]->graph == graph));
    return low;
}

/* The graph's first node in `by_graph`; how many it has into *count. */
static uint32_t nodes_of(const struct gt_recorded_process *process, uint32_t graph, uint32_t *count)
{
    uint32_t first = nodes_before(process, graph, false);

    *count = nodes_before(process, graph, true) - first;
    return first;
}

/* Have the two graphs the same nodes, in the order in which these were made? */
static bool are_alike(struct gt_recorded_process *process, uint32_t one, uint32_t other)
{
    uint32_t one_count, other_count, one_first, other_first;

    if (process->alike.one == one && process->alike.other == other)
        return process->alike.yes; /* asked for all operations of a launch */
    one_first = nodes_of(process, one, &one_count);
    other_first = nodes_of(process, other, &other_count);
    process->alike.one = one;
    process->alike.other = other;
    process->alike.yes = one_count == other_count;
    for (uint32_t i = 0; process->alike.yes && i < one_count; i++)
        process->alike.yes = process->by_graph[one_first + i]->kind == process->by_graph[other_first + i]->kind;
    return process->alike.yes;
}

/* The node of `to` that stands where `node` does in its own graph; 0: they are not alike. */
static uint64_t counterpart(struct gt_recorded_process *process, const struct gt_record_node *node, uint32_t to)
{
    uint32_t count, first = nodes_of(process, node->graph, &count), low = 0, high = count;

    if (!are_alike(process, node->graph, to))
        return 0;
    low = GT_LOWER_BOUND(middle, low, high, process->by_graph[first + middle]->node < node->node);
    return process->by_graph[nodes_of(process, to, &count) + low]->node;
}

/* The graph that the executable one was updated to last before that call; NULL: it was not. */
static const struct gt_record_graph *updated_to(const struct gt_recorded_process *process, uint32_t executable,
                                                uint32_t correlation)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_GRAPH];
    const struct gt_record_graph *found = NULL;

    for (uint32_t i = gt_recorded_first_graph(process, executable) + 1; i < list->count; i++) {
        const struct gt_record_graph *graph = list->items[i];

        if (graph->executable != executable || graph->correlation > correlation)
            break; /* they are in the order of their calls */
        found = graph;
    }
    return found;
}

bool gt_recorded_giver_of(struct gt_recorded_process *process, const struct gt_record_op *op,
                          struct gt_recorded_giver *giver)
{
    const struct gt_record_call *call = gt_recorded_find_call(process, op->correlation);
    const struct gt_record_graph *update;
    const struct gt_record_node *node;

    *giver = (struct gt_recorded_giver){ .correlation = op->correlation };
    if (op->node == 0)
        return true;
    giver->node = gt_recorded_original(process, op->node);
    if (call == NULL || call->what != GT_DID_GRAPH_LAUNCH || call->a > UINT32_MAX)
        return true; /* nothing is known of it */
    giver->executable = (uint32_t)call->a;
    update = updated_to(process, giver->executable, giver->correlation);
    node = update != NULL ? gt_recorded_node(process, giver->node) : NULL;
    if (node == NULL)
        return update == NULL;
    giver->node = counterpart(process, node, update->graph);
    return giver->node != 0;
}
