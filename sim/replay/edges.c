/* Edges between operations: those the trace states, the order of a graph without stated edges,
 * and waits, in graphs and out of them, that the measured times gave away. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/replay/recorded_graphs.h"
#include "sim/replay/replay.h"
#include "sim/workload/workload.h"

/* The order that a recorded graph's streams ran its nodes in, as edges from each node to its stream's next. */

typedef void edge_visitor(void *user, uint32_t before, uint32_t after);

/* Of a recorded graph whose edges are stated: did the one really run after the other? */
static bool ran_behind(const struct gt_workload *w, uint32_t before, uint32_t after)
{
    gt_time_ps end_ps = gt_op_measured_end(&w->ops[before]), start_ps = w->ops[after].start_ps;

    return end_ps == GT_TIME_NONE || start_ps == GT_TIME_NONE || end_ps <= start_ps;
}

static void visit_all(const struct gt_workload *w, const struct gt_call *call, bool stated, uint32_t *last,
                      edge_visitor *visit, void *user)
{
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        last[w->ops[i].stream] = GT_NONE;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        gt_stream_index stream = w->ops[i].stream;

        if (last[stream] != GT_NONE && (!stated || ran_behind(w, last[stream], i)))
            visit(user, last[stream], i);
        last[stream] = i;
    }
}

static void visit_stated(const struct gt_workload *w, const struct gt_call *call, edge_visitor *visit, void *user)
{
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        for (uint32_t j = w->ops[i].first_after; j < w->ops[i].first_after + w->ops[i].afters; j++)
            if (w->afters[j] >= call->first_op)
                visit(user, w->afters[j], i);
}

/* A graph's nodes, by their place in it, and what comes after each. */
struct nodes {
    uint32_t first_op, count;
    uint32_t *first, *after; /* node i leads to after[first[i] .. first[i + 1] - 1] */
    uint32_t *left;          /* how many it waits for */
    uint32_t *place;         /* in an order that all edges allow */
};

static void tally(void *user, uint32_t before, uint32_t after)
{
    struct nodes *nodes = user;

    nodes->first[before - nodes->first_op]++;
    nodes->left[after - nodes->first_op]++;
}

static void put(void *user, uint32_t before, uint32_t after)
{
    struct nodes *nodes = user;

    nodes->after[--nodes->first[before - nodes->first_op]] = after - nodes->first_op;
}

/* Places of the nodes in an order that the edges allow; false where they close a circle. */
static bool find_places(struct nodes *nodes)
{
    uint32_t *queue = gt_calloc(nodes->count + 1ull, sizeof *queue), begin = 0, end = 0;

    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->left[i] == 0)
            queue[end++] = i;
    while (begin < end) {
        uint32_t node = queue[begin];

        nodes->place[node] = begin++;
        for (uint32_t i = nodes->first[node]; i < nodes->first[node + 1]; i++)
            if (--nodes->left[nodes->after[i]] == 0)
                queue[end++] = nodes->after[i];
    }
    free(queue);
    return end == nodes->count;
}

/* By node, malloced; NULL where the edges, with or without the chains, close a circle. */
static uint32_t *places(const struct gt_workload *w, const struct gt_call *call, bool chains, uint32_t *last)
{
    struct nodes nodes = { .first_op = call->first_op, .count = call->ops };
    bool found;

    nodes.first = gt_calloc(call->ops + 1ull, sizeof *nodes.first);
    nodes.left = gt_calloc(call->ops + 1ull, sizeof *nodes.left);
    nodes.place = gt_calloc(call->ops + 1ull, sizeof *nodes.place);
    visit_stated(w, call, tally, &nodes);
    if (chains)
        visit_all(w, call, true, last, tally, &nodes);
    for (uint32_t i = 0; i < call->ops; i++)
        nodes.first[i + 1] += nodes.first[i];
    nodes.after = gt_calloc(nodes.first[call->ops] + 1ull, sizeof *nodes.after);
    visit_stated(w, call, put, &nodes);
    if (chains)
        visit_all(w, call, true, last, put, &nodes);
    found = find_places(&nodes);
    free(nodes.first);
    free(nodes.after);
    free(nodes.left);
    if (found)
        return nodes.place;
    free(nodes.place);
    return NULL;
}

/* Hands on what does not go against the places. */
struct filter {
    uint32_t first_op, *place, dropped;
    edge_visitor *visit;
    void *user;
};

static void hand_on(void *user, uint32_t before, uint32_t after)
{
    struct filter *filter = user;

    if (filter->place[before - filter->first_op] < filter->place[after - filter->first_op])
        filter->visit(filter->user, before, after);
    else
        filter->dropped++;
}

/* Visit the chains of a graph launch, a stream's nodes in their order.  Of a graph whose edges are stated only between nodes
 * that really ran one after the other; and where these and the stated edges close a circle, only those that do not go
 * against an order that the stated edges allow.  `last`: room for one number a stream.  Returns how many went against it. */
static uint32_t chains_visit(const struct gt_workload *w, const struct gt_call *call, uint32_t *last,
                             edge_visitor *visit, void *user)
{
    struct filter filter = { .first_op = call->first_op, .visit = visit, .user = user };
    bool stated = !gt_graph_without_edges(w, call);
    uint32_t *all = stated ? places(w, call, true, last) : NULL;

    /* Stated edges that close a circle by themselves are the trace's own deadlock. */
    if (stated && all == NULL)
        filter.place = places(w, call, false, last);
    free(all);
    if (filter.place == NULL)
        visit_all(w, call, stated, last, visit, user);
    else
        visit_all(w, call, stated, last, hand_on, &filter);
    free(filter.place);
    return filter.dropped;
}

/* A graph of which no edges are known, or one that was recorded, runs as its streams did: one node after the other.
 * Returns how many of these chains' edges were left out. */
static uint64_t visit_edges(const struct gt_workload *w, const struct gt_replay *replay, uint32_t *last,
                            edge_visitor *visit, void *user)
{
    const struct gt_recorded_graphs *graphs = &replay->recorded_graphs;
    uint64_t dropped = 0;

    for (uint32_t c = 0; c < w->call_count; c++) {
        const struct gt_call *call = &w->calls[c];

        if (gt_graph_without_edges(w, call) || gt_graph_is_recorded(w, call))
            dropped += chains_visit(w, call, last, visit, user);
    }
    for (uint32_t i = 0; i < graphs->edge_count; i++)
        visit(user, graphs->edges[i].before, graphs->edges[i].after);
    for (uint32_t i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];

        for (uint32_t j = 0; j < op->afters; j++)
            visit(user, w->afters[op->first_after + j], i);
        if (replay->inferred_after != NULL && replay->inferred_after[i] != GT_NONE)
            visit(user, replay->inferred_after[i], i);
    }
    return dropped;
}

static void count_edge(void *user, uint32_t before, uint32_t after)
{
    struct gt_replay *replay = user;

    (void)before;
    (void)after;
    replay->edge_count++;
}

static void tally_edge(void *user, uint32_t before, uint32_t after)
{
    struct gt_replay *replay = user;

    replay->edge_from[before]++;
    replay->edges_in[after]++;
}

static void place_edge(void *user, uint32_t before, uint32_t after)
{
    struct gt_replay *replay = user;

    replay->edge_to[--replay->edge_from[before]] = after;
}

/* What is stated need not be concluded. */
static void forget_stated(struct gt_replay *replay, const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->op_count && replay->inferred_after != NULL; i++)
        for (uint32_t j = 0; j < w->ops[i].afters; j++)
            if (w->afters[w->ops[i].first_after + j] == replay->inferred_after[i])
                replay->inferred_after[i] = GT_NONE;
}

static bool any_inferred(const struct gt_replay *replay, const struct gt_workload *w)
{
    if (replay->inferred_after != NULL)
        return true;
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].inferred_afters > 0)
            return true;
    return false;
}

void gt_replay_edges(struct gt_replay *replay, const struct gt_workload *w)
{
    uint32_t *last = gt_calloc(w->stream_count + 1ull, sizeof *last);

    forget_stated(replay, w);
    replay->contradicting = visit_edges(w, replay, last, count_edge, replay);
    if (replay->edge_count >= GT_NONE)
        gt_bug("more than 2^32 edges, which gt_workload_check() refuses");
    if (replay->edge_count > 0) {
        replay->edge_from = gt_calloc(w->op_count + 1ull, sizeof *replay->edge_from);
        replay->edges_in = gt_calloc(w->op_count, sizeof *replay->edges_in);
        replay->edge_to = gt_calloc(replay->edge_count, sizeof *replay->edge_to);
        visit_edges(w, replay, last, tally_edge, replay);
        for (uint32_t i = 0; i < w->op_count; i++)
            replay->edge_from[i + 1] += replay->edge_from[i];
        visit_edges(w, replay, last, place_edge, replay);
    }
    if (any_inferred(replay, w))
        replay->given_up = gt_calloc(w->op_count + 1ull, sizeof *replay->given_up);
    free(last);
}

bool gt_replay_is_inferred(const struct gt_replay *replay, const struct gt_workload *w, gt_op_index before,
                           gt_op_index after)
{
    const struct gt_op *op = &w->ops[after];

    if (replay->inferred_after != NULL && replay->inferred_after[after] == before)
        return true;
    for (uint32_t i = op->afters - op->inferred_afters; i < op->afters; i++)
        if (w->afters[op->first_after + i] == before)
            return true;
    return false;
}

uint32_t gt_replay_inferred_count(const struct gt_replay *replay, const struct gt_workload *w, gt_op_index op)
{
    return w->ops[op].inferred_afters + (replay->inferred_after != NULL && replay->inferred_after[op] != GT_NONE);
}

uint64_t gt_replay_dropped(const struct gt_replay *replay, const struct gt_workload *w)
{
    uint64_t dropped = replay->contradicting;

    for (gt_op_index i = 0; i < w->op_count && replay->given_up != NULL; i++)
        if (replay->given_up[i])
            dropped += gt_replay_inferred_count(replay, w, i);
    return dropped;
}

void gt_replay_give_up_as(struct gt_replay *replay, const struct gt_replay *from, const struct gt_workload *w)
{
    if (replay->given_up == NULL || from->given_up == NULL)
        return;
    for (gt_op_index i = 0; i < w->op_count; i++)
        replay->given_up[i] = from->given_up[i] && (replay->inferred_after == NULL || from->inferred_after == NULL ||
                                                    replay->inferred_after[i] == from->inferred_after[i]);
}
