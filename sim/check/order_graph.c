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
    uint32_t count;
    uint32_t *first, *after; /* by node: those that come after it are after[first[i] .. first[i + 1] - 1] */
    uint32_t *left;          /* by node: how many it still has to wait for */
    uint32_t *queue;         /* nodes, in the order in which they are gone through */
    struct gt_line *lines;   /* by node; of one that has not run: what those that have bring together */
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
    for (uint32_t i = 0; i < nodes->count; i++)
        gt_line_free(&nodes->lines[i]);
    free(nodes->first);
    free(nodes->after);
    free(nodes->left);
    free(nodes->queue);
    free(nodes->lines);
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

/* A line that no other node of this launch is on: it comes after what the stream has come to. */
static struct gt_line begin_line(struct nodes *nodes)
{
    struct gt_order_stream *stream = nodes->stream;
    struct gt_line line;

    if (!nodes->own_in_use) {
        nodes->own_in_use = true;
        return gt_line_copy(&stream->line);
    }
    if (nodes->chains == stream->chain_count) {
        uint32_t room = stream->chain_room;

        gt_array_grow(stream->chains, stream->chain_count, stream->chain_room);
        gt_array_grow(stream->reached, stream->chain_count, room);
        stream->chains[stream->chain_count] = nodes->order->line_count++;
        stream->reached[stream->chain_count++] = 0;
    }
    line = gt_line_new(stream->chains[nodes->chains]);
    line.number = stream->reached[nodes->chains++];
    gt_line_join(&line, &stream->line);
    return line;
}

/* The nodes that come after one that has run. */
static void let_go(struct nodes *nodes, uint32_t node)
{
    for (uint32_t i = nodes->first[node]; i < nodes->first[node + 1]; i++) {
        uint32_t after = nodes->after[i];

        if (nodes->goes_on[after] == GT_NONE) {
            nodes->goes_on[after] = node;
            nodes->lines[after] = gt_line_copy(&nodes->lines[node]);
        } else {
            gt_line_join(&nodes->lines[after], &nodes->lines[node]);
        }
    }
}

static void run_node(struct nodes *nodes, uint32_t node)
{
    uint32_t before = nodes->goes_on[node];
    struct gt_line *line = &nodes->lines[node];
    gt_op_index op = nodes->call->first_op + node;
    struct gt_line begun;
    struct gt_stamp stamp;

    if (before == GT_NONE) {
        *line = begin_line(nodes);
    } else if (!nodes->gone_on[before]) {
        nodes->gone_on[before] = true;
    } else {
        struct gt_line own = begin_line(nodes);

        gt_line_join(&own, line);
        gt_line_free(line);
        *line = own;
    }
    gt_order_join_afters(nodes->order, op, line);
    begun = gt_order_begin_part(nodes->order, op, line);
    stamp = gt_line_next(line);
    gt_order_tell(nodes->order, op, line, stamp);
    gt_order_end_part(nodes->order, op, nodes->stream, &begun, line);
}

void gt_order_graph(struct gt_order *order, gt_call_index call, struct gt_order_stream *stream)
{
    struct nodes nodes = { .order = order, .call = &order->w->calls[call], .stream = stream };
    uint32_t queued;

    nodes.count = nodes.call->ops;
    gt_line_next(&stream->line); /* the graph itself: its nodes come after it */
    make(&nodes);
    queued = sort(&nodes);
    for (uint32_t i = 0; i < queued; i++) {
        run_node(&nodes, nodes.queue[i]);
        let_go(&nodes, nodes.queue[i]);
    }
    for (uint32_t i = queued; i-- > 0;)
        gt_line_join(&stream->line, &nodes.lines[nodes.queue[i]]);
    for (uint32_t i = 0; i < nodes.chains; i++)
        stream->reached[i] = gt_line_reached(&stream->line, stream->chains[i]);
    gt_line_next(&stream->line);
    end(&nodes);
}
