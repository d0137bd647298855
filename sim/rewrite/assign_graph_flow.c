/* Nodes of a graph over streams by what they read and write: each waits for those before it that it shares bytes with, and
 * for all of which nothing is known. */
#include <stdlib.h>
#include <string.h>

#include "sim/rewrite/assign_graph.h"
#include "sim/rewrite/graph_nodes.h"

/* Sets of nodes, by rank: a bit each. */
struct rank_sets {
    uint64_t *bits;
    size_t words; /* a set */
};

struct flow_assign {
    struct gt_rebuild *rebuild;
    const struct gt_data_flow *flow;
    const uint32_t *unit;
    struct gt_graph_nodes nodes;
    struct rank_sets old, now; /* what each node comes after, in the old graph and in the new one, however far */
    uint32_t *rank;            /* by node */
    uint32_t *of_place;        /* by place: the rank of the last one there; GT_NONE */
    uint32_t count, turn;
};

static struct rank_sets sets_of(uint32_t count)
{
    size_t words = (count + 63) / 64;

    return (struct rank_sets){ gt_calloc(words * count + 1, sizeof(uint64_t)), words };
}

static uint64_t *set_of(const struct rank_sets *sets, uint32_t rank)
{
    return sets->bits + sets->words * rank;
}

static bool has(const struct rank_sets *sets, uint32_t rank, uint32_t member)
{
    return set_of(sets, rank)[member / 64] >> (member % 64) & 1;
}

/* `member`, and all that it comes after. */
static void include(struct rank_sets *sets, uint32_t rank, uint32_t member)
{
    uint64_t *set = set_of(sets, rank), *other = set_of(sets, member);

    for (size_t i = 0; i < sets->words; i++)
        set[i] |= other[i];
    set[member / 64] |= UINT64_C(1) << (member % 64);
}

static gt_op_index op_at(const struct flow_assign *assignment, uint32_t rank)
{
    return assignment->nodes.call->first_op + assignment->nodes.order[rank];
}

static uint32_t unit_at(const struct flow_assign *assignment, uint32_t rank)
{
    return assignment->unit[assignment->nodes.order[rank]];
}

static bool knows(const struct flow_assign *assignment, uint32_t rank)
{
    return gt_data_flow_knows(assignment->flow, op_at(assignment, rank));
}

static bool independent(const struct flow_assign *assignment, uint32_t one, uint32_t other)
{
    if (unit_at(assignment, one) != GT_NONE && unit_at(assignment, other) != GT_NONE &&
        unit_at(assignment, one) != unit_at(assignment, other))
        return true;
    return knows(assignment, one) && knows(assignment, other) &&
           !gt_data_flow_conflict(assignment->flow, op_at(assignment, one), op_at(assignment, other));
}

static void wait_for(struct flow_assign *assignment, uint32_t rank, uint32_t before)
{
    const gt_op_index *new_op = assignment->rebuild->new_op;

    if (has(&assignment->now, rank, before))
        return;
    gt_rebuild_edge(assignment->rebuild, new_op[op_at(assignment, rank)], new_op[op_at(assignment, before)]);
    include(&assignment->now, rank, before);
}

/* Behind what it needs where nothing is there yet, else to the next in turn; by name with its unit. */
static uint32_t choose(struct flow_assign *assignment, uint32_t rank)
{
    if (unit_at(assignment, rank) != GT_NONE)
        return unit_at(assignment, rank) % assignment->count;
    if (!knows(assignment, rank))
        return GT_NONE;
    for (uint32_t place = 0; place < assignment->count; place++)
        if (assignment->of_place[place] != GT_NONE && has(&assignment->now, rank, assignment->of_place[place]))
            return place;
    return assignment->turn++ % assignment->count;
}

static void find_old(struct flow_assign *assignment, uint32_t rank)
{
    uint32_t at = 0, before;

    while ((before = gt_graph_waits_for(&assignment->nodes, assignment->nodes.order[rank], &at)) != GT_NONE)
        include(&assignment->old, rank, assignment->rank[before]);
}

/* Later ones first: what they come after need not be waited for again. */
static void assign_node(struct flow_assign *assignment, uint32_t rank, const gt_stream_index *streams)
{
    uint32_t place;

    find_old(assignment, rank);
    gt_rebuild_edges_anew(assignment->rebuild, op_at(assignment, rank));
    for (uint32_t before = rank; before-- > 0;)
        if (has(&assignment->old, rank, before) && !independent(assignment, rank, before))
            wait_for(assignment, rank, before);
    place = choose(assignment, rank);
    if (place == GT_NONE)
        return;
    if (assignment->of_place[place] != GT_NONE)
        wait_for(assignment, rank, assignment->of_place[place]);
    assignment->of_place[place] = rank;
    assignment->rebuild->to->ops[assignment->rebuild->new_op[op_at(assignment, rank)]].stream = streams[place];
}

uint32_t gt_flow_nodes(const struct gt_workload *w, gt_call_index call, const struct gt_data_flow *flow)
{
    const struct gt_call *c = &w->calls[call];
    uint32_t known = 0;

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++)
        known += gt_data_flow_knows(flow, op);
    return known >= 2 && c->ops <= GT_FLOW_NODES ? known : 0;
}

bool gt_assign_nodes_by_flow(struct gt_rebuild *rebuild, gt_call_index call, const struct gt_data_flow *flow,
                             const uint32_t *unit, const gt_stream_index *streams, uint32_t count)
{
    uint32_t ops = rebuild->from->calls[call].ops;
    struct flow_assign assignment = { .rebuild = rebuild, .flow = flow, .unit = unit, .count = count };
    bool sorted;

    if (gt_flow_nodes(rebuild->from, call, flow) == 0)
        return false;
    sorted = gt_graph_nodes_begin(&assignment.nodes, rebuild->from, call);
    assignment.old = sets_of(ops);
    assignment.now = sets_of(ops);
    assignment.rank = gt_calloc(ops + 1ull, sizeof *assignment.rank);
    assignment.of_place = gt_calloc(count + 1ull, sizeof *assignment.of_place);
    memset(assignment.of_place, 0xff, count * sizeof *assignment.of_place); /* GT_NONE */
    for (uint32_t rank = 0; rank < ops && sorted; rank++) {
        assignment.rank[assignment.nodes.order[rank]] = rank;
        assign_node(&assignment, rank, streams);
    }
    gt_graph_nodes_end(&assignment.nodes);
    free(assignment.old.bits);
    free(assignment.now.bits);
    free(assignment.rank);
    free(assignment.of_place);
    return sorted;
}
