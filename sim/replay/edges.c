/* Edges between operations: those the trace states, the order of a graph without stated edges,
 * and waits, in graphs and out of them, that the measured times gave away. */
#include <stdlib.h>
#include <string.h>

#include "sim/replay/replay.h"

typedef void edge_visitor(void *user, uint32_t before, uint32_t after);

/* Of a recorded graph whose edges are stated: did the one really run after the other? */
static bool ran_behind(const struct gt_workload *w, uint32_t before, uint32_t after)
{
    gt_time_ps end_ps = gt_op_measured_end(&w->ops[before]), start_ps = w->ops[after].start_ps;

    return end_ps == GT_TIME_NONE || start_ps == GT_TIME_NONE || end_ps <= start_ps;
}

/* A graph of which no edges are known, or one that was recorded, runs as its streams did: one node after the other. */
static void visit_chain(const struct gt_workload *w, const struct gt_call *call, uint32_t *last, edge_visitor *visit,
                        void *user)
{
    bool stated = !gt_graph_without_edges(w, call);

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        last[w->ops[i].stream] = GT_NONE;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        gt_stream_index stream = w->ops[i].stream;

        if (last[stream] != GT_NONE && (!stated || ran_behind(w, last[stream], i)))
            visit(user, last[stream], i);
        last[stream] = i;
    }
}

static void visit_edges(const struct gt_workload *w, const struct gt_recorded_graphs *graphs,
                        const uint32_t *inferred_after, uint32_t *last, edge_visitor *visit, void *user)
{
    for (uint32_t c = 0; c < w->call_count; c++) {
        const struct gt_call *call = &w->calls[c];

        if (gt_graph_without_edges(w, call) || gt_graph_is_recorded(w, call))
            visit_chain(w, call, last, visit, user);
    }
    for (uint32_t i = 0; i < graphs->edge_count; i++)
        visit(user, graphs->edges[i].before, graphs->edges[i].after);
    for (uint32_t i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];

        for (uint32_t j = 0; j < op->afters; j++)
            visit(user, w->afters[op->first_after + j], i);
        if (inferred_after != NULL && inferred_after[i] != GT_NONE)
            visit(user, inferred_after[i], i);
    }
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

void gt_replay_edges(struct gt_replay *replay, const struct gt_workload *w, const uint32_t *inferred_after)
{
    uint32_t *last = gt_calloc(w->stream_count + 1ull, sizeof *last);

    visit_edges(w, &replay->recorded_graphs, inferred_after, last, count_edge, replay);
    if (replay->edge_count >= GT_NONE)
        gt_bug("more than 2^32 edges, which gt_workload_check() refuses");
    if (replay->edge_count > 0) {
        replay->edge_from = gt_calloc(w->op_count + 1ull, sizeof *replay->edge_from);
        replay->edges_in = gt_calloc(w->op_count, sizeof *replay->edges_in);
        replay->edge_to = gt_calloc(replay->edge_count, sizeof *replay->edge_to);
        visit_edges(w, &replay->recorded_graphs, inferred_after, last, tally_edge, replay);
        for (uint32_t i = 0; i < w->op_count; i++)
            replay->edge_from[i + 1] += replay->edge_from[i];
        visit_edges(w, &replay->recorded_graphs, inferred_after, last, place_edge, replay);
    }
    free(last);
}
