/* The nodes of a launched graph, in an order in which they can run.
 *
 * A node goes on in the line of one of those it comes after, if no other node has; else it begins a line: the stream's own,
 * or one more of the stream's.  So a chain of nodes is one line, and a graph has as many as it is wide. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/replay/replay.h"

struct nodes {
    struct gt_order *order;
    const struct gt_call *call;
    struct gt_order_stream *stream;
    gt_step_index begin; /* of the graph */
    uint32_t count;
    uint32_t *first, *after; /* by node: those that come after it are after[first[i] .. first[i + 1] - 1] */
    uint32_t *left;          /* by node: how many it still has to wait for */
    uint32_t *queue;         /* nodes, in the order in which they are gone through */
    uint32_t *lines;         /* by node */
    gt_step_index *steps;    /* by node: its first one; GT_NONE: it never runs */
    bool *gone_on;           /* by node: another one has its line */
    uint32_t *goes_on;       /* by node: that whose line it may take; GT_NONE */
    uint32_t chains;         /* lines of the stream in use */
    bool own_in_use;
    bool backward; /* an edge leads to a node that stands above */
};

typedef void edge_visitor(struct nodes *nodes, uint32_t before, uint32_t after);

static void visit_chains(struct nodes *nodes, edge_visitor *visit)
{
    const struct gt_workload *w = nodes->order->w;
    uint32_t *last = gt_realloc(NULL, w->stream_count + 1ull, sizeof *last);

    memset(last, 0xff, w->stream_count * sizeof *last); /* GT_NONE */
    for (uint32_t i = 0; i < nodes->count; i++) {
        gt_stream_index stream = w->ops[nodes->call->first_op + i].stream;

        if (last[stream] != GT_NONE)
            visit(nodes, last[stream], i);
        last[stream] = i;
    }
    free(last);
}

static void visit_edges(struct nodes *nodes, edge_visitor *visit)
{
    const struct gt_workload *w = nodes->order->w;

    if (gt_graph_without_edges(w, nodes->call))
        visit_chains(nodes, visit);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct gt_op *op = &w->ops[nodes->call->first_op + i];

        for (uint32_t j = 0; j < op->afters; j++) {
            uint32_t before = w->afters[op->first_after + j] - nodes->call->first_op;

            if (before < nodes->count)
                visit(nodes, before, i);
        }
    }
}

static void tally(struct nodes *nodes, uint32_t before, uint32_t after)
{
    nodes->first[before]++;
    nodes->left[after]++;
    nodes->backward |= before >= after;
}

static void place(struct nodes *nodes, uint32_t before, uint32_t after)
{
    nodes->after[--nodes->first[before]] = after;
}

static void make(struct nodes *nodes)
{
    nodes->first = gt_calloc(nodes->count + 1ull, sizeof *nodes->first);
    nodes->left = gt_calloc(nodes->count, sizeof *nodes->left);
    nodes->queue = gt_calloc(nodes->count, sizeof *nodes->queue);
    nodes->lines = gt_calloc(nodes->count, sizeof *nodes->lines);
    nodes->steps = gt_realloc(NULL, nodes->count, sizeof *nodes->steps);
    memset(nodes->steps, 0xff, nodes->count * sizeof *nodes->steps); /* GT_NONE */
    nodes->gone_on = gt_calloc(nodes->count, sizeof *nodes->gone_on);
    nodes->goes_on = gt_realloc(NULL, nodes->count, sizeof *nodes->goes_on);
    memset(nodes->goes_on, 0xff, nodes->count * sizeof *nodes->goes_on); /* GT_NONE */
    visit_edges(nodes, tally);
    for (uint32_t i = 0; i < nodes->count; i++)
        nodes->first[i + 1] += nodes->first[i];
    nodes->after = gt_calloc(nodes->first[nodes->count] + 1ull, sizeof *nodes->after);
    visit_edges(nodes, place);
}

static void end(struct nodes *nodes)
{
    free(nodes->first);
    free(nodes->after);
    free(nodes->left);
    free(nodes->queue);
    free(nodes->lines);
    free(nodes->steps);
    free(nodes->gone_on);
    free(nodes->goes_on);
}

/* Nodes in the order in which they stand, where no edge is against it; else in one that the edges allow, without those
 * that wait for each other.  Returns how many there are in the queue. */
static uint32_t sort(struct nodes *nodes)
{
    uint32_t queued = 0;

    for (uint32_t i = 0; i < nodes->count; i++)
        if (!nodes->backward || nodes->left[i] == 0)
            nodes->queue[queued++] = i;
    for (uint32_t i = 0; i < queued && nodes->backward; i++)
        for (uint32_t j = nodes->first[nodes->queue[i]]; j < nodes->first[nodes->queue[i] + 1]; j++)
            if (--nodes->left[nodes->after[j]] == 0)
                nodes->queue[queued++] = nodes->after[j];
    return queued;
}

/* A line that no other node of this launch is on. */
static uint32_t begin_line(struct nodes *nodes)
{
    struct gt_order_stream *stream = nodes->stream;

    if (!nodes->own_in_use) {
        nodes->own_in_use = true;
        return stream->line;
    }
    if (nodes->chains == stream->chain_count) {
        gt_array_grow(stream->chains, stream->chain_count, stream->chain_room);
        stream->chains[stream->chain_count++] = gt_steps_add_line(&nodes->order->steps);
    }
    return stream->chains[nodes->chains++];
}

/* The nodes that come after one that has run. */
static void let_go(struct nodes *nodes, uint32_t node)
{
    for (uint32_t i = nodes->first[node]; i < nodes->first[node + 1]; i++)
        if (nodes->goes_on[nodes->after[i]] == GT_NONE)
            nodes->goes_on[nodes->after[i]] = node;
}

static void run_node(struct nodes *nodes, uint32_t node)
{
    struct gt_order *order = nodes->order;
    gt_op_index op = nodes->call->first_op + node;
    uint32_t before = nodes->goes_on[node];

    if (before == GT_NONE || nodes->gone_on[before]) {
        nodes->lines[node] = begin_line(nodes);
    } else {
        nodes->gone_on[before] = true;
        nodes->lines[node] = nodes->lines[before];
    }
    nodes->steps[node] = gt_steps_add(&order->steps, nodes->lines[node], gt_order_op_kind(order, op), op);
    if (before == GT_NONE)
        gt_steps_order(&order->steps, nodes->begin, nodes->steps[node]);
    gt_order_op(order, op, nodes->steps[node]);
}

static void join(struct nodes *nodes, uint32_t before, uint32_t after)
{
    if (nodes->steps[before] != GT_NONE && nodes->steps[after] != GT_NONE)
        gt_steps_order(&nodes->order->steps, nodes->order->ended[nodes->call->first_op + before],
                       nodes->steps[after]);
}

gt_step_index gt_order_graph(struct gt_order *order, const struct gt_call *call, gt_stream_index stream)
{
    struct nodes nodes = {
        .order = order, .call = call, .stream = &order->streams[stream], .begin = gt_order_last(order, stream)
    };
    gt_step_index end_step;
    uint32_t queued;

    nodes.count = call->ops;
    make(&nodes);
    queued = sort(&nodes);
    for (uint32_t i = 0; i < queued; i++) {
        run_node(&nodes, nodes.queue[i]);
        let_go(&nodes, nodes.queue[i]);
    }
    visit_edges(&nodes, join);
    end_step = gt_steps_add(&order->steps, nodes.stream->line, GT_STEP_PLAIN, GT_NONE);
    for (uint32_t i = 0; i < queued; i++)
        if (nodes.backward || nodes.first[nodes.queue[i]] == nodes.first[nodes.queue[i] + 1])
            gt_steps_order(&order->steps, order->ended[call->first_op + nodes.queue[i]], end_step);
    end(&nodes);
    return end_step;
}
