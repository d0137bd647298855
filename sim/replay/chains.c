#include "sim/replay/chains.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/replay/recorded_graphs.h"

/* Of a recorded graph whose edges are stated: did the one really run after the other? */
static bool ran_behind(const struct gt_workload *w, uint32_t before, uint32_t after)
{
    gt_time_ps end_ps = gt_op_measured_end(&w->ops[before]), start_ps = w->ops[after].start_ps;

    return end_ps == GT_TIME_NONE || start_ps == GT_TIME_NONE || end_ps <= start_ps;
}

static void visit_all(const struct gt_workload *w, const struct gt_call *call, bool stated, uint32_t *last,
                      gt_edge_visitor *visit, void *user)
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

static void visit_stated(const struct gt_workload *w, const struct gt_call *call, gt_edge_visitor *visit, void *user)
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
    gt_edge_visitor *visit;
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

uint32_t gt_chains_visit(const struct gt_workload *w, const struct gt_call *call, uint32_t *last,
                         gt_edge_visitor *visit, void *user)
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
