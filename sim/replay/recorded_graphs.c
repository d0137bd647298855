#include "config.h"

#include "sim/replay/recorded_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/replay/equivalent.h"

/* A node that started so long after its stream's last one was held up by something else. */
static const int64_t clear_gap_ps = 3 * INT64_C(1000000);
/* One that waited for others started at most so long after the last of them, give or take that much. */
static const int64_t most_wait_gap_ps = 5 * INT64_C(1000000), wait_varies_ps = 2 * INT64_C(1000000);
/* Launches that are looked at to tell what a node waited for. */
enum { LAUNCHES_LOOKED_AT = 64 };

/* The nodes of one stream: positions in the order of a group's nodes. */
struct lane {
    uint32_t from, end;
};

/* Launches of the same nodes, and what is worked out of them. */
struct group {
    const struct gt_workload *w;
    const struct gt_neighbours *neighbours;
    struct gt_recorded_graphs *graphs;
    const gt_call_index *calls;
    uint32_t count;        /* launches */
    int64_t more_ps;       /* that gaps are longer on the device simulated */
    const uint32_t *order; /* by operation number: nodes of a launch by stream, then as they ran */
    uint32_t nodes;
    struct lane *lanes;
    uint32_t lane_count;
    bool *first;               /* by position: nobody of its stream is before it */
    int64_t *samples, *delays; /* one a launch */
    uint32_t *awaited;         /* positions */
    bool stated;               /* the trace has the edges */
    gt_op_index first_op;
    uint32_t *position; /* by operation of the first launch, counted from its first_op */
};

static gt_op_index node(const struct group *group, uint32_t launch, uint32_t position)
{
    return group->order[group->w->calls[group->calls[launch]].first_op + position];
}

static int64_t start_ps(const struct group *group, uint32_t launch, uint32_t position)
{
    return (int64_t)group->w->ops[node(group, launch, position)].start_ps;
}

static int64_t end_ps(const struct group *group, uint32_t launch, uint32_t position)
{
    return (int64_t)gt_op_measured_end(&group->w->ops[node(group, launch, position)]);
}

/* Of an even number halfway between the two in the middle: there are often two launches. */
static int64_t median(int64_t *samples, uint32_t count)
{
    qsort(samples, count, sizeof *samples, gt_by_i64);
    return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

static bool has_before(const struct group *group, uint32_t position)
{
    return !group->first[position];
}

/* The last node of a stream that had ended by then in that launch; GT_NONE. */
static uint32_t ended_by(const struct group *group, uint32_t launch, const struct lane *lane, int64_t time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, lane->from, lane->end, end_ps(group, launch, middle) <= time_ps);
    return low == lane->from ? GT_NONE : low - 1;
}

static uint32_t looked_at(const struct group *group)
{
    return group->count < LAUNCHES_LOOKED_AT ? group->count : LAUNCHES_LOOKED_AT;
}

/* Was it the stream's last to have ended whenever the node started?  What ran beside it by chance was not. */
static bool always_last(const struct group *group, const struct lane *lane, uint32_t position, uint32_t of)
{
    for (uint32_t launch = 1; launch < looked_at(group); launch++)
        if (ended_by(group, launch, lane, start_ps(group, launch, of)) != position)
            return false;
    return true;
}

/* The nodes of other streams that this one may have waited for, into `awaited`. */
static uint32_t find_awaited(const struct group *group, uint32_t of)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < group->lane_count; i++) {
        const struct lane *lane = &group->lanes[i];
        uint32_t position;

        if (of >= lane->from && of < lane->end)
            continue;
        position = ended_by(group, 0, lane, start_ps(group, 0, of));
        /* operations are numbered as they ran: nobody waits for a later one, however long they took */
        if (position != GT_NONE && node(group, 0, position) < node(group, 0, of) &&
            always_last(group, lane, position, of))
            group->awaited[count++] = position;
    }
    return count;
}

/* From the end of the last of what it comes after (`awaited`, its stream's node before) to the node's start. */
static int64_t gap_ps(const struct group *group, uint32_t launch, uint32_t of, uint32_t awaited)
{
    int64_t last_ps = has_before(group, of) ? end_ps(group, launch, of - 1) : INT64_MIN;

    for (uint32_t i = 0; i < awaited; i++) {
        int64_t ended_ps = end_ps(group, launch, group->awaited[i]);

        last_ps = ended_ps > last_ps ? ended_ps : last_ps;
    }
    return start_ps(group, launch, of) - last_ps;
}

static int64_t median_gap_ps(const struct group *group, uint32_t of, uint32_t awaited)
{
    for (uint32_t launch = 0; launch < group->count; launch++)
        group->samples[launch] = gap_ps(group, launch, of, awaited);
    return median(group->samples, group->count);
}

/* Did the node wait for what stands in `awaited`: did it start just after, every time? */
static bool waited(const struct group *group, uint32_t of, uint32_t awaited)
{
    int64_t middle_ps = median_gap_ps(group, of, awaited); /* and the samples are sorted */
    int64_t low_ps = group->samples[group->count / 10],
            high_ps = group->samples[group->count - 1 - group->count / 10];

    return middle_ps <= most_wait_gap_ps && high_ps - low_ps <= wait_varies_ps;
}

static void add_edge(struct gt_recorded_graphs *graphs, gt_op_index before, gt_op_index after)
{
    gt_array_grow(graphs->edges, graphs->edge_count, graphs->edge_room);
    graphs->edges[graphs->edge_count++] = (struct gt_node_edge){ before, after };
}

/* What the trace says that the node comes after, as positions; how many. */
static uint32_t stated_edges(const struct group *group, uint32_t of)
{
    const struct gt_op *op = &group->w->ops[node(group, 0, of)];
    uint32_t count = 0;

    for (uint32_t i = 0; i < op->afters; i++) {
        gt_op_index before = group->w->afters[op->first_after + i];

        if (before >= group->first_op && before - group->first_op < group->nodes)
            group->awaited[count++] = group->position[before - group->first_op];
    }
    return count;
}

/* What the node waited for in other streams, as edges of every launch; how many. */
static uint32_t learn_edges(struct group *group, uint32_t of)
{
    uint32_t awaited;

    if (group->stated)
        return stated_edges(group, of);

    if (has_before(group, of) && median_gap_ps(group, of, 0) <= clear_gap_ps)
        return 0;
    awaited = find_awaited(group, of);
    if (awaited == 0 || !waited(group, of, awaited))
        return 0;
    for (uint32_t launch = 0; launch < group->count; launch++)
        for (uint32_t i = 0; i < awaited; i++)
            add_edge(group->graphs, node(group, launch, group->awaited[i]), node(group, launch, of));
    return awaited;
}

/* Had the graph been handed over before its turn came? */
static bool queued(const struct group *group, uint32_t launch)
{
    return group->graphs->queued[group->calls[launch]];
}

/* From the start of the graph's first node to that of one that waits for none, where the graph was queued. */
static int64_t behind_first_ps(const struct group *group, uint32_t launch, uint32_t of)
{
    const struct gt_call *call = &group->w->calls[group->calls[launch]];

    return start_ps(group, launch, of) - (int64_t)group->w->ops[call->first_op].start_ps;
}

/* Else it is the host that hands its nodes over while its call lasts: as with all that a host did by itself each
 * launch keeps its own times. */
static int64_t behind_call_ps(const struct group *group, uint32_t launch, uint32_t of)
{
    return start_ps(group, launch, of) - (int64_t)group->w->calls[group->calls[launch]].start_ps;
}

static gt_time_ps not_negative(int64_t time_ps)
{
    return time_ps > 0 ? (gt_time_ps)time_ps : 0;
}

/* Was it so long after what it comes after by itself? */
static bool is_own(const struct group *group, uint32_t launch, uint32_t of, int64_t delay_ps)
{
    int64_t ready_ps = start_ps(group, launch, of) - delay_ps;

    return delay_ps >= 0 && ready_ps >= 0 &&
           (delay_ps <= most_wait_gap_ps ||
            gt_own_delay(group->neighbours, node(group, launch, of), (gt_time_ps)ready_ps));
}

/* The node's delays in all launches, `delay_ps` of each: its own where it was, else what it was at most and usually is, or
 * was at least where all were held up.  Into group->samples. */
static void settle_delays(struct group *group, uint32_t of, const int64_t *delays_ps)
{
    uint32_t own = 0;
    int64_t usual_ps;

    for (uint32_t launch = 0; launch < group->count; launch++)
        if (is_own(group, launch, of, delays_ps[launch]))
            group->samples[own++] = delays_ps[launch];
    if (own > 0) {
        usual_ps = median(group->samples, own);
    } else {
        usual_ps = delays_ps[0];
        for (uint32_t launch = 1; launch < group->count; launch++)
            usual_ps = delays_ps[launch] < usual_ps ? delays_ps[launch] : usual_ps;
    }
    for (uint32_t launch = 0; launch < group->count; launch++) {
        bool keep = delays_ps[launch] < usual_ps || is_own(group, launch, of, delays_ps[launch]);

        group->samples[launch] = keep ? delays_ps[launch] : usual_ps;
    }
}

/* The gap before a node that waits; a host function is picked up on top of that. */
static void learn_gaps(struct group *group, uint32_t of, uint32_t awaited)
{
    bool host = group->w->ops[node(group, 0, of)].kind == GT_OP_HOST_FUNCTION;

    for (uint32_t launch = 0; launch < group->count; launch++)
        group->delays[launch] = gap_ps(group, launch, of, awaited);
    settle_delays(group, of, group->delays);
    for (uint32_t launch = 0; launch < group->count; launch++)
        group->graphs->gap_ps[node(group, launch, of)] =
            host ? 0 : not_negative(group->samples[launch] + group->more_ps);
}

/* When a node that waits for none is handed over. */
static void learn_handing_over(struct group *group, uint32_t of)
{
    for (uint32_t launch = 0; launch < group->count; launch++)
        group->delays[launch] = behind_first_ps(group, launch, of);
    settle_delays(group, of, group->delays);
    for (uint32_t launch = 0; launch < group->count; launch++)
        group->graphs->behind_ps[node(group, launch, of)] =
            not_negative(queued(group, launch) ? group->samples[launch] : behind_call_ps(group, launch, of));
}

static void learn_node(struct group *group, uint32_t of)
{
    uint32_t awaited = learn_edges(group, of);

    if (awaited > 0 || has_before(group, of))
        learn_gaps(group, of, awaited);
    else
        learn_handing_over(group, of);
}

static void find_lanes(struct group *group)
{
    for (uint32_t i = 0; i < group->nodes; i++) {
        group->first[i] =
            i == 0 || group->w->ops[node(group, 0, i)].stream != group->w->ops[node(group, 0, i - 1)].stream;
        if (group->first[i])
            group->lanes[group->lane_count++].from = i;
        group->lanes[group->lane_count - 1].end = i + 1;
    }
}

static void learn_group(struct group *group)
{
    const struct gt_call *call = &group->w->calls[group->calls[0]];

    group->nodes = call->ops;
    group->first_op = call->first_op;
    group->stated = !gt_graph_without_edges(group->w, call);
    group->position = gt_calloc(group->nodes, sizeof *group->position);
    for (uint32_t i = 0; i < group->nodes; i++)
        group->position[node(group, 0, i) - call->first_op] = i;
    group->lanes = gt_calloc(group->nodes, sizeof *group->lanes);
    group->first = gt_calloc(group->nodes, sizeof *group->first);
    group->awaited = gt_calloc((uint64_t)group->nodes + UINT16_MAX, sizeof *group->awaited);
    group->samples = gt_calloc(group->count, sizeof *group->samples);
    group->delays = gt_calloc(group->count, sizeof *group->delays);
    find_lanes(group);
    for (uint32_t i = 0; i < group->nodes; i++)
        learn_node(group, i);
    free(group->lanes);
    free(group->first);
    free(group->awaited);
    free(group->position);
    free(group->samples);
    free(group->delays);
}

bool gt_graph_without_edges(const struct gt_workload *w, const struct gt_call *call)
{
    if (call->kind != GT_CALL_GRAPH_LAUNCH)
        return false;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        if (w->ops[i].afters > 0)
            return false;
    return true;
}

bool gt_graph_is_recorded(const struct gt_workload *w, const struct gt_call *call)
{
    if (call->kind != GT_CALL_GRAPH_LAUNCH || call->ops == 0 || call->start_ps == GT_TIME_NONE ||
        call->flags & GT_CALL_INFERRED)
        return false;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        if (gt_op_measured_end(&w->ops[i]) == GT_TIME_NONE)
            return false;
    return true;
}

/* Launches that were asked for while their stream still had work. */
static void find_queued(struct gt_recorded_graphs *graphs, const struct gt_workload *w)
{
    gt_time_ps *stream_end_ps = gt_calloc(w->stream_count + 1ull, sizeof *stream_end_ps);

    for (uint32_t c = 0; c < w->call_count; c++) {
        const struct gt_call *call = &w->calls[c];

        graphs->queued[c] = call->ops > 0 && call->start_ps != GT_TIME_NONE &&
                            stream_end_ps[w->ops[call->first_op].stream] > call->start_ps;
        for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
            gt_time_ps end = gt_op_measured_end(&w->ops[i]), *last = &stream_end_ps[w->ops[call->first_op].stream];

            if (end != GT_TIME_NONE && end > *last)
                *last = end;
        }
    }
    free(stream_end_ps);
}

struct learning {
    const struct gt_workload *w;
    const struct gt_neighbours *neighbours;
    struct gt_recorded_graphs *graphs;
    int64_t more_ps;
};

static void learn_alike(void *user, const struct gt_equivalent_launches *equivalent)
{
    const struct learning *learning = user;
    struct group group = {
        .w = learning->w,
        .neighbours = learning->neighbours,
        .graphs = learning->graphs,
        .calls = equivalent->calls,
        .count = equivalent->count,
        .order = equivalent->order,
        .more_ps = learning->more_ps,
    };

    learn_group(&group);
}

void gt_recorded_graphs_make(struct gt_recorded_graphs *graphs, const struct gt_workload *w,
                             const struct gt_neighbours *neighbours, int64_t more_ps)
{
    gt_call_index *calls = gt_calloc(w->call_count + 1ull, sizeof *calls);
    uint32_t count = 0;

    memset(graphs, 0, sizeof *graphs);
    for (uint32_t i = 0; i < w->call_count; i++)
        if (gt_graph_is_recorded(w, &w->calls[i]))
            calls[count++] = i;
    if (count > 0) {
        graphs->gap_ps = gt_realloc(NULL, w->op_count, sizeof *graphs->gap_ps);
        graphs->behind_ps = gt_realloc(NULL, w->op_count, sizeof *graphs->behind_ps);
        memset(graphs->gap_ps, 0xff, w->op_count * sizeof *graphs->gap_ps);
        memset(graphs->behind_ps, 0xff, w->op_count * sizeof *graphs->behind_ps);
        graphs->queued = gt_calloc(w->call_count, sizeof *graphs->queued);
        find_queued(graphs, w);
        gt_equivalent_launches_visit(w, graphs->queued, calls, count, learn_alike,
                                     &(struct learning){ w, neighbours, graphs, more_ps });
    }
    free(calls);
}

void gt_recorded_graphs_free(struct gt_recorded_graphs *graphs)
{
    free(graphs->edges);
    free(graphs->gap_ps);
    free(graphs->behind_ps);
    free(graphs->queued);
    memset(graphs, 0, sizeof *graphs);
}
