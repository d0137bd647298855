/* graphs.c - which operations of a graph's launch come after which: through nodes that leave no record (empty ones,
 * host functions, events, allocations) as well. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

enum { MOST_COPIES = 16 }; /* of copies of a node */

static int compare_clones(const void *left, const void *right)
{
    const struct gt_record_clone *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->copy, b->copy);
    GT_ORDER(a->original, b->original);
    return 0;
}

static int compare_edges(const void *left, const void *right)
{
    const struct gt_record_edge *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->to, b->to);
    GT_ORDER(a->from, b->from);
    return 0;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct gt_record_node *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->node, b->node);
    GT_ORDER(a->graph, b->graph);
    return 0;
}

static int compare_graphs(const void *left, const void *right)
{
    const struct gt_record_graph *a = *(const void *const *)left, *b = *(const void *const *)right;

    GT_ORDER(a->executable, b->executable);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

static void sort(struct gt_recorded_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare);
}

void gt_recorded_sort_graphs(struct gt_recorded_process *process)
{
    sort(&process->lists[GT_RECORDED_CLONE], compare_clones);
    sort(&process->lists[GT_RECORDED_EDGE], compare_edges);
    sort(&process->lists[GT_RECORDED_NODE], compare_nodes);
    sort(&process->lists[GT_RECORDED_GRAPH], compare_graphs);
}

const struct gt_record_node *gt_recorded_node(const struct gt_recorded_process *process, uint64_t node)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_NODE];
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_record_node *at = list->items[middle];

        if (at->node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && ((const struct gt_record_node *)list->items[low])->node == node ? list->items[low]
                                                                                                : NULL;
}

static const struct gt_record_clone *find_clone(const struct gt_recorded_process *process, uint64_t copy)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_CLONE];
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct gt_record_clone *at = list->items[middle];

        if (at->copy < copy)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && ((const struct gt_record_clone *)list->items[low])->copy == copy ? list->items[low]
                                                                                                 : NULL;
}

uint64_t gt_recorded_original(const struct gt_recorded_process *process, uint64_t node)
{
    for (int i = 0; i < MOST_COPIES && gt_recorded_node(process, node) == NULL; i++) {
        const struct gt_record_clone *clone = find_clone(process, node);

        if (clone == NULL)
            break;
        node = clone->original;
    }
    return node;
}

uint32_t gt_recorded_first_graph(const struct gt_recorded_process *process, uint64_t executable)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_GRAPH];
    uint32_t low = GT_LOWER_BOUND(middle, 0, list->count,
                                  ((const struct gt_record_graph *)list->items[middle])->executable < executable);
    return low;
}

const struct gt_record_graph *gt_recorded_graph(const struct gt_recorded_process *process, uint64_t executable)
{
    const struct gt_recorded_list *list = &process->lists[GT_RECORDED_GRAPH];
    uint32_t first = gt_recorded_first_graph(process, executable);

    return first < list->count && ((const struct gt_record_graph *)list->items[first])->executable == executable
               ? list->items[first]
               : NULL;
}

/* A node of a launch: the operation that it was. */
struct place {
    uint64_t node; /* the original; or its copy in the executable graph, where some of these have none */
    uint64_t copy;
    uint32_t correlation; /* of the launch */
    uint32_t op;          /* among the import's */
};

/* One launch, and the walk back from one of its nodes. */
struct walk {
    struct gt_recorded *recorded;
    const struct gt_recorded_process *process;
    const struct place *places;
    uint32_t count;
    uint32_t op;       /* whose edges these are */
    uint64_t *through; /* nodes without a record, which are looked through */
    uint32_t through_count, through_room;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->node, b->node);
    GT_ORDER(a->op, b->op);
    return 0;
}

/* The first of the node's operations; walk->count: it has none. */
static uint32_t find_place(const struct walk *walk, uint64_t node)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, walk->count, walk->places[middle].node < node);
    return low < walk->count && walk->places[low].node == node ? low : walk->count;
}

static void look_through(struct walk *walk, uint64_t node)
{
    for (uint32_t i = 0; i < walk->through_count; i++)
        if (walk->through[i] == node)
            return;
    gt_array_grow(walk->through, walk->through_count, walk->through_room);
    walk->through[walk->through_count++] = node;
}

static void come_after(struct walk *walk, uint32_t before)
{
    if (before != walk->op)
        gt_import_add_edge(&walk->recorded->import, before, walk->op);
}

/* All that lies in the graph that this node is. */
static void come_after_graph(struct walk *walk, uint32_t graph)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct gt_record_node *inner = gt_recorded_node(walk->process, walk->places[i].node);

        if (inner != NULL && inner->graph == graph)
            come_after(walk, walk->places[i].op);
    }
}

static void come_after_node(struct walk *walk, uint64_t node)
{
    const struct gt_record_node *record = gt_recorded_node(walk->process, node);
    uint32_t place = find_place(walk, node);

    if (place == walk->count)
        look_through(walk, node);
    if (record != NULL && record->child != 0)
        come_after_graph(walk, record->child);
    for (; place < walk->count && walk->places[place].node == node; place++)
        come_after(walk, walk->places[place].op);
}

/* The first of the edges to that node; their count: there is none. */
static uint32_t first_edge_to(const struct gt_recorded_process *process, uint64_t node)
{
    const struct gt_recorded_list *edges = &process->lists[GT_RECORDED_EDGE];
    uint32_t low =
        GT_LOWER_BOUND(middle, 0, edges->count, ((const struct gt_record_edge *)edges->items[middle])->to < node);
    return low < edges->count && ((const struct gt_record_edge *)edges->items[low])->to == node ? low : edges->count;
}

/* What the node comes after, and what the graph that it lies in does. */
static void look_back(struct walk *walk, uint64_t node)
{
    const struct gt_recorded_list *edges = &walk->process->lists[GT_RECORDED_EDGE];
    const struct gt_record_node *record = gt_recorded_node(walk->process, node);
    uint32_t low = first_edge_to(walk->process, node);

    for (; low < edges->count && ((const struct gt_record_edge *)edges->items[low])->to == node; low++)
        come_after_node(walk, ((const struct gt_record_edge *)edges->items[low])->from);
    for (uint32_t i = 0; record != NULL && i < walk->process->outer_count; i++)
        if (walk->process->outer[i]->child == record->graph)
            look_through(walk, walk->process->outer[i]->node);
}

static void add_edges_of_launch(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->count; i++) {
        walk->op = walk->places[i].op;
        walk->through_count = 0;
        look_back(walk, walk->places[i].node);
        for (uint32_t n = 0; n < walk->through_count; n++)
            look_back(walk, walk->through[n]);
    }
}

/* Graphs in graphs may be put into the executable one node by node, of which no original is told: such a launch goes by
 * the edges of the executable graph itself.  False: these are not known either. */
static bool choose_nodes(const struct gt_recorded_process *process, struct place *places, uint32_t count)
{
    bool lost = false, edges = false;

    for (uint32_t i = 0; i < count; i++)
        lost |= gt_recorded_node(process, places[i].node) == NULL;
    if (!lost)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        places[i].node = places[i].copy;
        edges |= first_edge_to(process, places[i].node) < GT_RECORD_COUNT(process, GT_RECORDED_EDGE);
    }
    qsort(places, count, sizeof *places, compare_places);
    return edges;
}

/* Of a launch: not all of its edges are told. */
static void forget_edges(struct gt_recorded *recorded, const struct gt_recorded_process *process,
                         uint32_t correlation)
{
    for (uint32_t i = 0; i < recorded->import.call_count; i++)
        if (recorded->import.calls[i].process == process->key && recorded->import.calls[i].correlation == correlation)
            recorded->import.calls[i].edges_known = false;
}

static void find_outer(struct gt_recorded_process *process)
{
    const struct gt_recorded_list *nodes = &process->lists[GT_RECORDED_NODE];
    uint32_t room = 0;

    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct gt_record_node *node = nodes->items[i];

        if (node->child == 0)
            continue;
        gt_array_grow(process->outer, process->outer_count, room);
        process->outer[process->outer_count++] = node;
    }
}

static struct place *find_places(const struct gt_recorded_process *process, uint32_t *count)
{
    const struct gt_recorded_list *ops = &process->lists[GT_RECORDED_OP];
    struct place *places = NULL;
    uint32_t room = 0, number = process->first_op;

    for (uint32_t i = 0; i < ops->count; i++) {
        const struct gt_record_op *op = ops->items[i];

        if (op == NULL)
            continue;
        if (op->node != 0) {
            gt_array_grow(places, *count, room);
            places[(*count)++] =
                (struct place){ gt_recorded_original(process, op->node), op->node, op->correlation, number };
        }
        number++;
    }
    for (uint32_t i = 0; i < process->host_node_count; i++) {
        const struct gt_recorded_host_node *host = &process->host_nodes[i];

        gt_array_grow(places, *count, room);
        places[(*count)++] = (struct place){ host->node, host->node, host->correlation, host->op };
    }
    if (*count > 1)
        qsort(places, *count, sizeof *places, compare_places);
    return places;
}

void gt_recorded_add_edges(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    struct walk walk = { .recorded = recorded, .process = process };
    uint32_t count = 0;
    struct place *places;

    find_outer(process);
    places = find_places(process, &count);
    for (uint32_t from = 0; from < count; from += walk.count) {
        for (walk.count = 1; from + walk.count < count; walk.count++)
            if (places[from + walk.count].correlation != places[from].correlation)
                break;
        if (gt_recorded_has_body(process, places[from].correlation))
            continue; /* said of its call already */
        if (!choose_nodes(process, places + from, walk.count)) {
            forget_edges(recorded, process, places[from].correlation);
            continue;
        }
        walk.places = places + from;
        add_edges_of_launch(&walk);
    }
    free(places);
    free(walk.through);
}
