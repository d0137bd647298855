/* Edges between operations: those the trace states, the order of a graph without stated edges,
 * and waits, in graphs and out of them, that the measured times gave away. */
#include <stdlib.h>
#include <string.h>

#include "sim/replay/chains.h"
#include "sim/replay/replay.h"

/* A graph of which no edges are known, or one that was recorded, runs as its streams did: one node after the other.
 * Returns how many of these chains' edges were left out. */
static uint64_t visit_edges(const struct gt_workload *w, const struct gt_replay *replay, uint32_t *last,
                            gt_edge_visitor *visit, void *user)
{
    const struct gt_recorded_graphs *graphs = &replay->recorded_graphs;
    uint64_t dropped = 0;

    for (uint32_t c = 0; c < w->call_count; c++) {
        const struct gt_call *call = &w->calls[c];

        if (gt_graph_without_edges(w, call) || gt_graph_is_recorded(w, call))
            dropped += gt_chains_visit(w, call, last, visit, user);
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
