/* host_nodes.c - host functions that are nodes of graphs: each launch has one from the end of all that it comes after to
 * the start of the first that comes after it, as far as these are operations. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/recorded/internal.h"

enum { HOST_NODE = 3 }; /* CU_GRAPH_NODE_TYPE_HOST */

/* An operation of a graph's launch. */
struct node_op {
    uint32_t correlation;
    uint64_t node; /* the original */
    const struct gt_record_op *op;
};

static int compare_node_ops(const void *left, const void *right)
{
    const struct node_op *a = left, *b = right;

    GT_ORDER(a->correlation, b->correlation);
    GT_ORDER(a->node, b->node);
    return 0;
}

static struct node_op *collect(const struct gt_recorded_process *process, uint32_t *count)
{
    const struct gt_recorded_list *ops = &process->lists[GT_RECORDED_OP];
    struct node_op *nodes = NULL;
    uint32_t room = 0;

    for (uint32_t i = 0; i < ops->count; i++) {
        const struct gt_record_op *op = ops->items[i];

        if (op == NULL || op->node == 0)
            continue;
        gt_array_grow(nodes, *count, room);
        nodes[(*count)++] = (struct node_op){ op->correlation, gt_recorded_original(process, op->node), op };
    }
    if (*count > 1)
        qsort(nodes, *count, sizeof *nodes, compare_node_ops);
    return nodes;
}

static const struct gt_record_op *find(const struct node_op *nodes, uint32_t count, uint32_t correlation,
                                       uint64_t node)
{
    const struct node_op key = { .correlation = correlation, .node = node };
    const struct node_op *found = count == 0 ? NULL : bsearch(&key, nodes, count, sizeof key, compare_node_ops);

    return found == NULL ? NULL : found->op;
}

static void add(struct gt_recorded *recorded, struct gt_recorded_process *process,
                const struct gt_record_call *launch, uint64_t node, uint64_t before_ns, uint64_t next_ns)
{
    uint32_t stream = gt_recorded_stream_meant(recorded, process, launch);

    if (stream == GT_NONE)
        return;
    gt_recorded_add_host_op(recorded, process, launch, stream, before_ns, next_ns);
    gt_array_grow(process->host_nodes, process->host_node_count, process->host_node_room);
    process->host_nodes[process->host_node_count++] =
        (struct gt_recorded_host_node){ node, launch->correlation, recorded->import.op_count - 1 };
}

static void add_node(struct gt_recorded *recorded, struct gt_recorded_process *process,
                     const struct gt_record_call *launch, uint64_t node, const struct node_op *nodes, uint32_t count)
{
    const struct gt_recorded_list *edges = &process->lists[GT_RECORDED_EDGE];
    uint64_t start_ns = 0, end_ns = UINT64_MAX;

    for (uint32_t i = 0; i < edges->count; i++) {
        const struct gt_record_edge *edge = edges->items[i];
        const struct gt_record_op *before =
            edge->to == node ? find(nodes, count, launch->correlation, edge->from) : NULL;
        const struct gt_record_op *after =
            edge->from == node ? find(nodes, count, launch->correlation, edge->to) : NULL;

        if (before != NULL && before->end_ns > start_ns)
            start_ns = before->end_ns;
        if (after != NULL && after->start_ns < end_ns)
            end_ns = after->start_ns;
    }
    if (start_ns == 0) /* the graph begins with it */
        start_ns = launch->end_ns;
    add(recorded, process, launch, node, start_ns, end_ns == UINT64_MAX ? start_ns : end_ns);
}

void gt_recorded_add_host_nodes(struct gt_recorded *recorded, struct gt_recorded_process *process)
{
    const struct gt_recorded_list *calls = &process->lists[GT_RECORDED_CALL],
                                  *records = &process->lists[GT_RECORDED_NODE];
    uint64_t *hosts = NULL;
    struct node_op *nodes;
    uint32_t count = 0, host_count = 0, room = 0;

    for (uint32_t i = 0; i < records->count; i++)
        if (((const struct gt_record_node *)records->items[i])->kind == HOST_NODE) {
            gt_array_grow(hosts, host_count, room);
            hosts[host_count++] = i;
        }
    nodes = host_count > 0 ? collect(process, &count) : NULL;
    for (uint32_t i = 0; host_count > 0 && i < calls->count; i++) {
        const struct gt_record_call *call = calls->items[i];
        const struct gt_record_graph *graph =
            call->what == GT_DID_GRAPH_LAUNCH && call->result == 0 ? gt_recorded_graph(process, call->a) : NULL;

        for (uint32_t n = 0; graph != NULL && n < host_count; n++) {
            const struct gt_record_node *host = records->items[hosts[n]];

            if (host->graph == graph->graph)
                add_node(recorded, process, call, host->node, nodes, count);
        }
    }
    free(nodes);
    free(hosts);
}
