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
