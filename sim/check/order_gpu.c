#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/replay/replay.h"
#include "sim/workload/collective.h"

/* What a stream is asked for: by the default streams' rules, and what operations come after. */

gt_step_index gt_order_last(const struct gt_order *order, gt_stream_index stream)
{
    return order->steps.last[order->streams[stream].line];
}

gt_step_index gt_order_seen(const struct gt_order *order, gt_thread_index thread)
{
    return order->steps.last[order->threads[thread].line];
}

/* The later one of two steps of which it comes after the other. */
static gt_step_index later(gt_step_index one, gt_step_index other)
{
    return one == GT_NONE || (other != GT_NONE && other > one) ? other : one;
}

/* The step comes after `before`, unless its stream is known to. */
static void come_after(struct gt_order *order, gt_step_index *known, gt_step_index before, gt_step_index step)
{
    if (*known == before)
        return;
    gt_steps_order(&order->steps, before, step);
    *known = before;
}

/* What holds the blocking streams of a context: the last of its legacy default stream, or another GPU's copy. */
static gt_step_index held_by(const struct gt_order *order, const struct gt_order_context *context)
{
    return later(context->null_stream != GT_NONE ? gt_order_last(order, context->null_stream) : GT_NONE,
                 context->foreign);
}

/* The step comes after all that the blocking streams of the context were asked for. */
static void hold_context(struct gt_order *order, struct gt_order_context *context, gt_step_index step)
{
    for (uint32_t i = 0; i < context->asked_count; i++) {
        gt_steps_order(&order->steps, gt_order_last(order, context->asked[i]), step);
        order->streams[context->asked[i]].asked = false;
    }
    context->asked_count = 0;
}

static void ask_context(struct gt_order *order, struct gt_order_context *context, gt_stream_index stream)
{
    if (order->streams[stream].asked)
        return;
    gt_array_grow(context->asked, context->asked_count, context->asked_room);
    context->asked[context->asked_count++] = stream;
    order->streams[stream].asked = true;
}

gt_step_index gt_order_ask(struct gt_order *order, gt_thread_index thread, gt_stream_index index,
                           enum gt_step_kind kind, uint32_t what)
{
    struct gt_order_stream *stream = &order->streams[index];
    struct gt_order_context *context = &order->contexts[stream->context];
    gt_step_index held = held_by(order, context), step = gt_steps_add(&order->steps, stream->line, kind, what);

    come_after(order, &stream->after_thread, gt_order_seen(order, thread), step);
    if (order->w->streams[index].flags & GT_STREAM_NON_BLOCKING)
        return step;
    come_after(order, &stream->after_default, held, step);
    if (context->null_stream == index)
        hold_context(order, context, step);
    else
        ask_context(order, context, index);
    return step;
}

void gt_order_hold_peer(struct gt_order *order, const struct gt_op *op, gt_step_index step)
{
    const struct gt_order_stream *stream = &order->streams[op->stream];

    if (op->kind != GT_OP_COPY || op->direction != GT_P2P || op->peer_gpu == GT_NONE ||
        order->contexts[stream->context].null_stream != op->stream)
        return;
    for (uint32_t i = 0; i < order->context_count; i++) {
        struct gt_order_context *context = &order->contexts[i];

        if (context->gpu != op->peer_gpu || context->process != stream->process)
            continue;
        gt_steps_order(&order->steps, held_by(order, context), step);
        hold_context(order, context, step);
        context->foreign = step;
    }
}

enum gt_step_kind gt_order_op_kind(const struct gt_order *order, gt_op_index op)
{
    return gt_collective_kernel(order->w, op) != NULL ? GT_STEP_PART : GT_STEP_OP;
}

void gt_order_op(struct gt_order *order, gt_op_index index, gt_step_index step)
{
    const struct gt_op *op = &order->w->ops[index];
    bool graph = order->w->calls[op->call].kind == GT_CALL_GRAPH_LAUNCH;

    for (uint32_t i = 0; i < op->afters; i++) {
        gt_op_index before = order->w->afters[op->first_after + i];

        if (!graph || order->w->ops[before].call != op->call) /* else it is an edge of its graph */
            gt_steps_order(&order->steps, order->ended[before], step);
    }
    if (order->guesses != NULL && order->guesses[index] != GT_NONE)
        gt_steps_order(&order->steps, order->ended[order->guesses[index]], step);
    order->ended[index] = gt_collective_kernel(order->w, index) != NULL ? gt_order_part(order, index, step) : step;
}

/* Collectives put operations of several GPUs in order: what a rank gives, another one has no sooner than the giver's part
 * began, so all that the part came after is done when the other rank's part ends, whichever stands first in the trace. */

struct gt_order_collectives {
    struct gt_collective_parts parts;
    gt_step_index *begun; /* by instance: all that give have begun; GT_NONE: none has come */
};

struct gt_order_collectives *gt_order_collectives_new(const struct gt_workload *w)
{
    struct gt_order_collectives *all = gt_calloc(1, sizeof *all);

    all->parts = gt_collective_parts(w);
    all->begun = gt_realloc(NULL, all->parts.instances + 1ull, sizeof *all->begun);
    memset(all->begun, 0xff, (all->parts.instances + 1ull) * sizeof *all->begun); /* GT_NONE */
    return all;
}

void gt_order_collectives_free(struct gt_order_collectives *all)
{
    gt_collective_parts_free(&all->parts);
    free(all->begun);
    free(all);
}

/* A broadcast comes from its root, a reduction goes there, a message to the one that it is sent to; else each has something
 * of each. */
static bool gives(const struct gt_collective *collective, const struct gt_collective_part *part)
{
    if (collective->kind == GT_SEND_RECV)
        return part->rank == part->from;
    return collective->kind != GT_BROADCAST || part->rank == collective->root;
}

static bool takes(const struct gt_collective *collective, const struct gt_collective_part *part)
{
    if (collective->kind == GT_SEND_RECV)
        return part->rank == part->to;
    return collective->kind != GT_REDUCE || part->rank == collective->root;
}

gt_step_index gt_order_part(struct gt_order *order, gt_op_index op, gt_step_index step)
{
    const struct gt_collective *collective = &gt_collective_kernel(order->w, op)->collective;
    struct gt_order_collectives *all = order->instances;
    gt_step_index end = gt_steps_add(&order->steps, order->steps.list[step].line, GT_STEP_PLAIN, GT_NONE);
    uint32_t first, parts = gt_collective_parts_of(&all->parts, op, &first);

    for (uint32_t i = first; i < first + parts; i++) {
        const struct gt_collective_part *part = &all->parts.parts[i];
        gt_step_index *begun = &all->begun[part->instance];

        if (*begun == GT_NONE)
            *begun = gt_steps_add(&order->steps, GT_NONE, GT_STEP_PLAIN, GT_NONE);
        if (gives(collective, part))
            gt_steps_order(&order->steps, step, *begun);
        if (takes(collective, part))
            gt_steps_order(&order->steps, *begun, end);
    }
    return end;
}

/* The nodes of a launched graph, in an order in which they can run.
 *
 * A node goes on in the line of one of those it comes after, if no other node has; else it begins a line: the stream's own,
 * or one more of the stream's.  So a chain of nodes is one line, and a graph has as many as it is wide. */

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
