#include "sim/rewrite/rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/program.h"
#include "sim/workload/ranges.h"

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, (count + 1ull) * sizeof *indexes); /* GT_NONE */
    return indexes;
}

void gt_rebuild_begin(struct gt_rebuild *rebuild, const struct gt_workload *from)
{
    struct gt_workload *to = gt_workload_copy(from);

    to->call_count = to->op_count = to->after_count = to->profile_count = to->child_launch_count = 0;
    *rebuild = (struct gt_rebuild){
        .from = from,
        .to = to,
        .new_call = nones(from->call_count),
        .new_op = nones(from->op_count),
        .edges_anew = gt_calloc(from->op_count + 1ull, sizeof *rebuild->edges_anew),
        .owed_ps = gt_calloc(from->thread_count + 1ull, sizeof *rebuild->owed_ps),
        .owed_kept_ps = gt_calloc(from->thread_count + 1ull, sizeof *rebuild->owed_kept_ps),
    };
}

void gt_rebuild_drop(struct gt_rebuild *rebuild, gt_call_index call)
{
    const struct gt_call *dropped = &rebuild->from->calls[call];

    rebuild->owed_ps[dropped->thread] += dropped->before_ps;
    rebuild->owed_kept_ps[dropped->thread] += dropped->kept_ps;
}

static void pay_work(struct gt_rebuild *rebuild, struct gt_call *call)
{
    call->before_ps += rebuild->owed_ps[call->thread];
    call->kept_ps += rebuild->owed_kept_ps[call->thread];
    rebuild->owed_ps[call->thread] = rebuild->owed_kept_ps[call->thread] = 0;
}

gt_call_index gt_rebuild_copy_bare(struct gt_rebuild *rebuild, gt_call_index call)
{
    gt_call_index added = gt_workload_add_call(rebuild->to);

    rebuild->to->calls[added] = rebuild->from->calls[call];
    rebuild->to->calls[added].first_op = rebuild->to->op_count;
    rebuild->to->calls[added].ops = 0;
    pay_work(rebuild, &rebuild->to->calls[added]);
    rebuild->new_call[call] = added;
    return added;
}

gt_call_index gt_rebuild_copy(struct gt_rebuild *rebuild, gt_call_index call)
{
    const struct gt_call *old = &rebuild->from->calls[call];
    gt_call_index added = gt_rebuild_copy_bare(rebuild, call);

    for (uint32_t i = 0; i < old->ops; i++)
        gt_rebuild_move_op(rebuild, old->first_op + i);
    return added;
}

gt_call_index gt_rebuild_insert(struct gt_rebuild *rebuild, enum gt_call_kind kind, gt_thread_index thread)
{
    gt_call_index added = gt_workload_add_call(rebuild->to);

    rebuild->to->calls[added].kind = (uint8_t)kind;
    rebuild->to->calls[added].thread = thread;
    pay_work(rebuild, &rebuild->to->calls[added]);
    return added;
}

/* Numbers of streams and events from here on are clear of those that traces use, and of each other. */
enum { FIRST_ID = 1000000 };

static uint64_t unused_id(const struct gt_workload *w)
{
    uint64_t id = FIRST_ID;

    for (uint32_t i = 0; i < w->stream_count; i++)
        id = w->streams[i].id >= id ? w->streams[i].id + 1 : id;
    return id;
}

gt_stream_index gt_rebuild_new_stream(struct gt_rebuild *rebuild, gt_stream_index like)
{
    struct gt_stream stream = rebuild->to->streams[like];
    gt_stream_index added;

    stream.id = unused_id(rebuild->to);
    stream.name = GT_NONE;
    stream.flags = GT_STREAM_NON_BLOCKING;
    added = gt_workload_add_stream(rebuild->to);
    rebuild->to->streams[added] = stream;
    return added;
}

gt_event_index gt_rebuild_new_event(struct gt_rebuild *rebuild)
{
    gt_event_index event = gt_workload_add_event(rebuild->to);

    if (rebuild->next_event_id < FIRST_ID) {
        rebuild->next_event_id = FIRST_ID;
        for (uint32_t i = 0; i < event; i++)
            if (rebuild->to->events[i].id >= rebuild->next_event_id)
                rebuild->next_event_id = rebuild->to->events[i].id + 1;
    }
    rebuild->to->events[event].id = rebuild->next_event_id++;
    return event;
}

static void insert_about_event(struct gt_rebuild *rebuild, enum gt_call_kind kind, gt_thread_index thread,
                               gt_event_index event, gt_stream_index stream)
{
    gt_call_index added = gt_rebuild_insert(rebuild, kind, thread);

    rebuild->to->calls[added].event = event;
    rebuild->to->calls[added].stream = stream;
}

void gt_rebuild_record(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event,
                       gt_stream_index stream)
{
    insert_about_event(rebuild, GT_CALL_EVENT_RECORD, thread, event, stream);
}

void gt_rebuild_wait(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event, gt_stream_index stream)
{
    insert_about_event(rebuild, GT_CALL_EVENT_WAIT, thread, event, stream);
}

void gt_rebuild_host_wait(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event)
{
    insert_about_event(rebuild, GT_CALL_EVENT_SYNC, thread, event, GT_NONE);
}

gt_op_index gt_rebuild_move_op(struct gt_rebuild *rebuild, gt_op_index op)
{
    struct gt_workload *to = rebuild->to;
    gt_op_index added = gt_workload_add_op(to);
    uint32_t first_after = to->ops[added].first_after;

    to->ops[added] = rebuild->from->ops[op];
    to->ops[added].call = to->call_count - 1;
    to->ops[added].first_after = first_after;
    to->ops[added].afters = to->ops[added].inferred_afters = 0;
    to->calls[to->call_count - 1].ops++;
    rebuild->new_op[op] = added;
    gt_array_grow(rebuild->old_op, rebuild->old_count, rebuild->old_room);
    rebuild->old_op[rebuild->old_count++] = op;
    return added;
}

gt_op_index gt_rebuild_add_op(struct gt_rebuild *rebuild)
{
    gt_op_index added = gt_workload_add_op(rebuild->to);

    rebuild->to->ops[added].call = rebuild->to->call_count - 1;
    rebuild->to->calls[rebuild->to->call_count - 1].ops++;
    gt_array_grow(rebuild->old_op, rebuild->old_count, rebuild->old_room);
    rebuild->old_op[rebuild->old_count++] = GT_NONE;
    return added;
}

void gt_rebuild_merged(struct gt_rebuild *rebuild, gt_call_index call, gt_call_index part_of)
{
    rebuild->new_call[call] = part_of;
}

void gt_rebuild_edges_anew(struct gt_rebuild *rebuild, gt_op_index op)
{
    rebuild->edges_anew[op] = true;
}

void gt_rebuild_edge(struct gt_rebuild *rebuild, gt_op_index after, gt_op_index before)
{
    gt_array_grow(rebuild->edges, rebuild->edge_count, rebuild->edge_room);
    rebuild->edges[rebuild->edge_count++] = (struct gt_rebuild_edge){ before, after };
}

/* What is needed to find the edges of the new workload. */
struct relinking {
    struct gt_rebuild *rebuild;
    gt_op_index *before_in_stream; /* by operation of `from`, outside of graphs */
    gt_op_index *seen;             /* by operation of `from`: the new one that it has been followed for last */
    gt_op_index *latest; /* by operation of `from`: its copy that stands last by the call that is linked; GT_NONE */
    gt_op_index *stack;  /* dropped ones whose own edges are still to be followed */
    uint32_t *child_launch; /* by operation of `from`: how a block launched it; GT_NONE */
    uint32_t depth, room;
    uint32_t *first_edge; /* by operation of `to`, one more: where its edges begin in `order` */
    gt_op_index *order;   /* new edges' `before`, by `after` */
};

static gt_op_index *link_streams(const struct gt_workload *w)
{
    gt_op_index *before = nones(w->op_count), *last = nones(w->stream_count);

    for (uint32_t i = 0; i < w->op_count; i++) {
        if (w->calls[w->ops[i].call].kind == GT_CALL_GRAPH_LAUNCH)
            continue;
        before[i] = last[w->ops[i].stream];
        last[w->ops[i].stream] = i;
    }
    free(last);
    return before;
}

static void sort_edges(struct relinking *r)
{
    const struct gt_rebuild *rebuild = r->rebuild;

    r->first_edge = gt_calloc(rebuild->to->op_count + 2ull, sizeof *r->first_edge);
    r->order = gt_realloc(NULL, rebuild->edge_count + 1ull, sizeof *r->order);
    for (uint32_t i = 0; i < rebuild->edge_count; i++)
        r->first_edge[rebuild->edges[i].after + 2]++;
    for (uint32_t i = 2; i < rebuild->to->op_count + 2; i++)
        r->first_edge[i] += r->first_edge[i - 1];
    for (uint32_t i = 0; i < rebuild->edge_count; i++)
        r->order[r->first_edge[rebuild->edges[i].after + 1]++] = rebuild->edges[i].before;
}

/* The edges stand behind those of the operation before, whichever was added last. */
static void add_edge(struct relinking *r, gt_op_index after, gt_op_index before)
{
    struct gt_workload *to = r->rebuild->to;
    const struct gt_call *call = &to->calls[to->ops[after].call];

    if (before == after || before >= call->first_op + call->ops || to->ops[after].afters == UINT16_MAX) {
        r->rebuild->lost_edges++;
        return;
    }
    gt_array_grow(to->afters, to->after_count, to->after_room);
    to->afters[to->after_count++] = before;
    to->ops[after].afters++;
}

/* New operation `after` waits for the old operation `before`, or for what that one waited for. */
static void follow(struct relinking *r, gt_op_index after, gt_op_index before)
{
    if (before == GT_NONE || r->seen[before] == after)
        return;
    r->seen[before] = after;
    if (r->rebuild->new_op[before] != GT_NONE) {
        add_edge(r, after, r->latest[before] != GT_NONE ? r->latest[before] : r->rebuild->new_op[before]);
        return;
    }
    gt_array_grow(r->stack, r->depth, r->room);
    r->stack[r->depth++] = before;
}

static void follow_dropped(struct relinking *r, gt_op_index after)
{
    const struct gt_workload *from = r->rebuild->from;

    while (r->depth > 0) {
        gt_op_index dropped = r->stack[--r->depth], before = r->before_in_stream[dropped];

        for (uint32_t i = 0; i < from->ops[dropped].afters; i++)
            follow(r, after, from->afters[from->ops[dropped].first_after + i]);
        if (before != GT_NONE && r->rebuild->new_op[before] == GT_NONE)
            follow(r, after, before);
    }
}

/* The edges of the old operation, from the `first` of them on until `end`. */
static void follow_edges(struct relinking *r, gt_op_index op, gt_op_index old, uint32_t first, uint32_t end)
{
    const struct gt_workload *from = r->rebuild->from;

    for (uint32_t i = first; i < end; i++) {
        gt_op_index before = from->afters[from->ops[old].first_after + i];

        if (!r->rebuild->edges_anew[old] || from->ops[before].call != from->ops[old].call)
            follow(r, op, before);
    }
}

/* Those that were inferred lead to others that are: they stand last. */
static void relink_op(struct relinking *r, gt_op_index op)
{
    const struct gt_workload *from = r->rebuild->from;
    struct gt_workload *to = r->rebuild->to;
    gt_op_index old = r->rebuild->old_op[op];
    uint32_t stated, before, inferred;

    to->ops[op].first_after = to->after_count;
    for (uint32_t i = r->first_edge[op]; i < r->first_edge[op + 1]; i++)
        add_edge(r, op, r->order[i]);
    if (old == GT_NONE)
        return;
    stated = from->ops[old].afters - from->ops[old].inferred_afters;
    follow_edges(r, op, old, 0, stated);
    if (r->before_in_stream[old] != GT_NONE && r->rebuild->new_op[r->before_in_stream[old]] == GT_NONE)
        follow(r, op, r->before_in_stream[old]);
    follow_dropped(r, op);
    if (from->ops[old].inferred_afters == 0)
        return;
    before = to->ops[op].afters;
    follow_edges(r, op, old, stated, from->ops[old].afters);
    follow_dropped(r, op);
    inferred = to->ops[op].afters - before;
    to->ops[op].inferred_afters = (uint8_t)(inferred < UINT8_MAX ? inferred : UINT8_MAX);
}

/* A synchronisation that named no target waits for the operation that it waited for, or for what stood before it. */
static void move_wait(const struct relinking *r, gt_op_index *awaited)
{
    const gt_op_index *new_op = r->rebuild->new_op;

    while (*awaited != GT_NONE && new_op[*awaited] == GT_NONE)
        *awaited = r->before_in_stream[*awaited];
    if (*awaited != GT_NONE)
        *awaited = r->latest[*awaited] != GT_NONE ? r->latest[*awaited] : new_op[*awaited];
}

/* An operation that a block launched is its parent's copy's in the same call. */
static void move_child_launch(struct relinking *r, gt_op_index op)
{
    gt_op_index old = r->rebuild->old_op[op];
    struct gt_workload *to = r->rebuild->to;
    struct gt_child_launch moved;

    if (old == GT_NONE || r->child_launch[old] == GT_NONE)
        return;
    moved = r->rebuild->from->child_launches[r->child_launch[old]];
    moved.op = op;
    moved.parent = r->latest[moved.parent];
    if (moved.parent == GT_NONE)
        return;
    gt_array_grow(to->child_launches, to->child_launch_count, to->child_launch_room);
    to->child_launches[to->child_launch_count++] = moved;
}

/* All operations of the call are there before what they wait for is told: nodes of a graph may stand in any order. */
static void relink_call(struct relinking *r, struct gt_call *call)
{
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
        if (r->rebuild->old_op[op] != GT_NONE)
            r->latest[r->rebuild->old_op[op]] = op;
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
        relink_op(r, op);
        move_child_launch(r, op);
    }
    move_wait(r, &call->awaited);
}

static void relink(struct gt_rebuild *rebuild)
{
    struct relinking r = {
        .rebuild = rebuild,
        .before_in_stream = link_streams(rebuild->from),
        .seen = nones(rebuild->from->op_count),
        .latest = nones(rebuild->from->op_count),
        .child_launch = nones(rebuild->from->op_count),
    };

    for (uint32_t i = 0; i < rebuild->from->child_launch_count; i++)
        r.child_launch[rebuild->from->child_launches[i].op] = i;
    sort_edges(&r);
    for (uint32_t i = 0; i < rebuild->to->call_count; i++)
        relink_call(&r, &rebuild->to->calls[i]);
    free(r.before_in_stream);
    free(r.seen);
    free(r.latest);
    free(r.child_launch);
    free(r.stack);
    free(r.first_edge);
    free(r.order);
}

static void move_profiles(struct gt_rebuild *rebuild)
{
    for (uint32_t i = 0; i < rebuild->to->op_count && rebuild->from->profile_count > 0; i++) {
        gt_op_index old = rebuild->old_op[i];
        const struct gt_profile *profile = old != GT_NONE ? gt_workload_profile(rebuild->from, old) : NULL;
        struct gt_profile moved;

        if (profile == NULL)
            continue;
        moved = *profile;
        moved.op = i;
        gt_workload_add_profile(rebuild->to, &moved);
    }
}

/* Work behind the last call of a thread. */
static void pay_rest(struct gt_rebuild *rebuild)
{
    for (gt_thread_index thread = 0; thread < rebuild->from->thread_count; thread++) {
        gt_time_ps owed_ps = rebuild->owed_ps[thread];
        gt_call_index added;

        if (owed_ps == 0)
            continue;
        rebuild->owed_ps[thread] = 0;
        added = gt_rebuild_insert(rebuild, GT_CALL_HOST_WORK, thread);
        rebuild->to->calls[added].duration_ps = owed_ps;
    }
}

struct gt_workload *gt_rebuild_end(struct gt_rebuild *rebuild)
{
    pay_rest(rebuild);
    relink(rebuild);
    move_profiles(rebuild);
    gt_ranges_follow(rebuild->to, rebuild->from, rebuild->new_call);
    free(rebuild->new_call);
    free(rebuild->new_op);
    free(rebuild->old_op);
    free(rebuild->edges_anew);
    free(rebuild->owed_ps);
    free(rebuild->owed_kept_ps);
    free(rebuild->edges);
    return rebuild->to;
}
