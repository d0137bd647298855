#include "sim/rewrite/assign_graph.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/rewrite/graph_nodes.h"

struct set {
    uint32_t *nodes, count, room;
};

/* What became of each node. */
struct assigned_nodes {
    uint32_t *unit;              /* GT_NONE: it keeps its order */
    uint32_t *place;             /* of those that do not: among the streams */
    uint32_t *rank;              /* when it was looked at */
    struct set *before, *passed; /* that it comes after; that it need not, but what follows it must */
};

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static void add(struct set *set, uint32_t member)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->nodes[i] == member)
            return;
    gt_array_grow(set->nodes, set->count, set->room);
    set->nodes[set->count++] = member;
}

/* Of nodes assigned to one stream the last one will do. */
static void add_assigned(const struct assigned_nodes *assigned, struct set *set, uint32_t member)
{
    for (uint32_t i = 0; i < set->count && assigned->unit[member] != GT_NONE; i++) {
        uint32_t *other = &set->nodes[i];

        if (assigned->unit[*other] == GT_NONE || assigned->place[*other] != assigned->place[member])
            continue;
        if (assigned->rank[*other] < assigned->rank[member])
            *other = member;
        return;
    }
    add(set, member);
}

static void add_all(const struct assigned_nodes *assigned, struct set *set, const struct set *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        add_assigned(assigned, set, other->nodes[i]);
}

/* What node `i` comes after now: past those that it is independent of, to what they come after. */
static void find_before(const struct gt_graph_nodes *nodes, struct assigned_nodes *assigned, uint32_t i)
{
    uint32_t at = 0, before;

    while ((before = gt_graph_waits_for(nodes, i, &at)) != GT_NONE) {
        bool passes = assigned->unit[i] != GT_NONE && assigned->unit[before] != GT_NONE &&
                      assigned->unit[i] != assigned->unit[before];

        if (passes) {
            add_all(assigned, &assigned->before[i], &assigned->before[before]);
            add_all(assigned, &assigned->passed[i], &assigned->passed[before]);
            add_assigned(assigned, &assigned->passed[i], before);
        } else {
            add_assigned(assigned, &assigned->before[i], before);
            if (assigned->unit[i] == GT_NONE)
                add_all(assigned, &assigned->before[i], &assigned->passed[before]);
            else
                add_all(assigned, &assigned->passed[i], &assigned->passed[before]);
        }
    }
}

static void write_edges(struct gt_rebuild *rebuild, const struct gt_graph_nodes *nodes,
                        const struct assigned_nodes *assigned, uint32_t i)
{
    gt_op_index first = nodes->call->first_op, op = rebuild->new_op[first + i];

    gt_rebuild_edges_anew(rebuild, first + i);
    for (uint32_t j = 0; j < assigned->before[i].count; j++)
        gt_rebuild_edge(rebuild, op, rebuild->new_op[first + assigned->before[i].nodes[j]]);
}

static void assignment(struct gt_rebuild *rebuild, const struct gt_graph_nodes *nodes,
                       struct assigned_nodes *assigned, const gt_stream_index *streams, uint32_t count)
{
    uint32_t *of_place = nones(count); /* by stream: the last node assigned to it */

    for (uint32_t rank = 0; rank < nodes->call->ops; rank++) {
        uint32_t i = nodes->order[rank], *last;

        assigned->rank[i] = rank;
        find_before(nodes, assigned, i);
        if (assigned->unit[i] == GT_NONE)
            continue;
        assigned->place[i] = assigned->unit[i] % count;
        last = &of_place[assigned->place[i]];
        if (*last != GT_NONE)
            add_assigned(assigned, &assigned->before[i], *last);
        *last = i;
        rebuild->to->ops[rebuild->new_op[nodes->call->first_op + i]].stream = streams[assigned->place[i]];
    }
    for (uint32_t i = 0; i < nodes->call->ops; i++)
        write_edges(rebuild, nodes, assigned, i);
    free(of_place);
}

static void free_sets(struct set *sets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(sets[i].nodes);
    free(sets);
}

void gt_assign_nodes(struct gt_rebuild *rebuild, gt_call_index call, const struct gt_independence *independence,
                     const struct gt_data_flow *flow, const gt_stream_index *streams, uint32_t count)
{
    struct gt_graph_nodes nodes;
    struct assigned_nodes assigned = { .unit = nones(rebuild->from->calls[call].ops) };
    uint32_t ops = rebuild->from->calls[call].ops;
    uint32_t units = gt_independence_nodes(independence, rebuild->from, call, assigned.unit);

    if (gt_assign_nodes_by_flow(rebuild, call, flow, assigned.unit, streams, count)) {
        free(assigned.unit);
        return;
    }
    if (units > 1 && gt_graph_nodes_begin(&nodes, rebuild->from, call)) {
        assigned.place = gt_calloc(ops + 1ull, sizeof *assigned.place);
        assigned.rank = gt_calloc(ops + 1ull, sizeof *assigned.rank);
        assigned.before = gt_calloc(ops + 1ull, sizeof *assigned.before);
        assigned.passed = gt_calloc(ops + 1ull, sizeof *assigned.passed);
        assignment(rebuild, &nodes, &assigned, streams, count);
        free(assigned.place);
        free(assigned.rank);
        free_sets(assigned.before, ops);
        free_sets(assigned.passed, ops);
    }
    if (units > 1)
        gt_graph_nodes_end(&nodes);
    free(assigned.unit);
}

/* What a node was seen to start behind is no longer what it starts behind. */
static void forget_gaps(struct gt_rebuild *rebuild, const struct gt_graph_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->call->ops; i++)
        rebuild->to->ops[rebuild->new_op[nodes->call->first_op + i]].gap_ps = GT_TIME_NONE;
}

void gt_fold_nodes(struct gt_rebuild *rebuild, gt_call_index call, const gt_stream_index *place)
{
    struct gt_graph_nodes nodes;
    gt_op_index first = rebuild->from->calls[call].first_op;
    uint32_t *of_stream = nones(rebuild->from->stream_count);

    if (gt_graph_nodes_begin(&nodes, rebuild->from, call)) {
        for (uint32_t rank = 0; rank < nodes.call->ops && !nodes.chained; rank++) {
            uint32_t i = nodes.order[rank], *last = &of_stream[place[gt_graph_node(&nodes, i)->stream]];

            if (*last != GT_NONE && gt_graph_node(&nodes, *last)->stream != gt_graph_node(&nodes, i)->stream)
                gt_rebuild_edge(rebuild, rebuild->new_op[first + i], rebuild->new_op[first + *last]);
            *last = i;
        }
        forget_gaps(rebuild, &nodes);
    }
    gt_graph_nodes_end(&nodes);
    free(of_stream);
}

/* Nodes of a graph over streams by what they read and write: each waits for those before it that it shares bytes with, and
 * for all of which nothing is known. */

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
