/* What is known of a call's independence: nothing; what the user says; what data flow shows; both. */
#include "sim/rewrite/assign_streams.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/rewrite/assign_graph.h"
#include "sim/rewrite/assign_targets.h"
#include "sim/rewrite/data_flow.h"
#include "sim/rewrite/graph_nodes.h"
#include "sim/workload/host_waits.h"
#include "sim/workload/workload.h"

/* How far each stream has come: by stream, the last call of it that counts. */

struct gt_clock {
    struct gt_clock_entry {
        gt_stream_index stream;
        gt_call_index call;
    } * entries; /* each stream once */
    uint32_t count, room;
};

static struct gt_clock_entry *entry_of(const struct gt_clock *clock, gt_stream_index stream)
{
    for (uint32_t i = 0; i < clock->count; i++)
        if (clock->entries[i].stream == stream)
            return &clock->entries[i];
    return NULL;
}

/* The stream has come to that call at least. */
static void clock_reach(struct gt_clock *clock, gt_stream_index stream, gt_call_index call)
{
    struct gt_clock_entry *entry = entry_of(clock, stream);

    if (entry == NULL) {
        gt_array_grow(clock->entries, clock->count, clock->room);
        clock->entries[clock->count++] = (struct gt_clock_entry){ stream, call };
    } else if (entry->call < call) {
        entry->call = call;
    }
}

static void clock_merge(struct gt_clock *clock, const struct gt_clock *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        clock_reach(clock, other->entries[i].stream, other->entries[i].call);
}

/* Has the stream come that far? */
static bool clock_has(const struct gt_clock *clock, gt_stream_index stream, gt_call_index call)
{
    const struct gt_clock_entry *entry = entry_of(clock, stream);

    return entry != NULL && entry->call >= call;
}

static void clock_clear(struct gt_clock *clock)
{
    clock->count = 0;
}

/* `count` empty ones, and their end. */
static struct gt_clock *clocks_new(uint32_t count)
{
    return gt_calloc(count + 1ull, sizeof(struct gt_clock));
}

static void clocks_free(struct gt_clock *clocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(clocks[i].entries);
    free(clocks);
}

enum freedom { FIXED, SAID, SHOWN, BOTH, FREEDOMS };

struct assigning {
    const struct gt_workload *w;
    struct gt_stream_assignment *assignment;
    struct gt_independence *said;
    struct gt_data_flow flow;
    struct gt_assign_targets *targets;
    struct gt_clock *done[FREEDOMS]; /* by stream: its calls since the last FIXED one, that one included */
    struct gt_clock *known;          /* by stream, new ones included: what its next work comes after anyway */
    struct gt_clock *waited;         /* by thread: what it has waited for */
    struct gt_clock *events;         /* by event: what it captured when it was recorded, */
    gt_stream_index *event_stream;   /* where, and */
    gt_call_index *event_call;       /* by which call; GT_NONE: none yet */
    gt_call_index *last;             /* by stream, new ones included: its last call; GT_NONE */
    gt_stream_index *unit_target;    /* by unit; GT_NONE: not assigned yet */
    struct gt_graph_replays replays; /* of graphs that may be assigned */
    struct gt_clock need;            /* of the call at hand */
    struct gt_touch chain; /* the last one that it must come after, if nothing came behind that in its stream */
};

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static void reach_all(struct assigning *d, struct gt_clock *clock, gt_stream_index stream)
{
    for (int freedom = 0; freedom < FREEDOMS; freedom++)
        clock_merge(clock, &d->done[freedom][stream]);
}

static void add_wait(struct assigning *d, gt_call_index call, gt_call_index before, bool host)
{
    struct gt_stream_assignment *assignment = d->assignment;

    gt_array_grow(assignment->waits, assignment->wait_count, assignment->wait_room);
    assignment->waits[assignment->wait_count++] = (struct gt_assigned_wait){ call, before, host };
}

static void note_touch(void *user, const struct gt_touch *touch)
{
    struct assigning *d = user;

    clock_reach(&d->need, touch->target, touch->call);
    if (d->last[touch->target] == touch->call && (d->chain.call == GT_NONE || touch->call > d->chain.call))
        d->chain = *touch;
}

static bool is_blocking(const struct gt_workload *w, gt_stream_index stream)
{
    return !(w->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

/* The legacy default stream waits for all blocking streams of its context, and they for it. */
static void need_default_stream(struct assigning *d, gt_stream_index stream)
{
    gt_stream_index legacy = gt_assign_legacy_stream(d->targets, stream);

    if (legacy == GT_NONE || !is_blocking(d->w, stream))
        return;
    if (stream != legacy) {
        reach_all(d, &d->need, legacy);
        return;
    }
    for (gt_stream_index other = 0; other < d->w->stream_count; other++)
        if (other != legacy && is_blocking(d->w, other) && gt_assign_legacy_stream(d->targets, other) == legacy)
            reach_all(d, &d->need, other);
}

/* All that the call must come after. */
static void find_needs(struct assigning *d, gt_call_index index, gt_stream_index stream, enum freedom freedom)
{
    const struct gt_call *call = &d->w->calls[index];

    clock_clear(&d->need);
    d->chain.call = GT_NONE;
    if (freedom == FIXED)
        reach_all(d, &d->need, stream);
    else
        clock_merge(&d->need, &d->done[FIXED][stream]);
    if (freedom == SAID)
        clock_merge(&d->need, &d->done[SHOWN][stream]);
    if (freedom == SHOWN)
        clock_merge(&d->need, &d->done[SAID][stream]);
    if (freedom == SHOWN || freedom == BOTH)
        gt_data_flow_visit(&d->flow, index, stream, note_touch, d);
    if (freedom != FIXED && call->kind == GT_CALL_GRAPH_LAUNCH) {
        const struct gt_graph_replay *replay = gt_graph_replay_of(&d->replays, d->w, call);

        if (replay->call != GT_NONE)
            clock_reach(&d->need, replay->stream, replay->call);
    }
    need_default_stream(d, stream);
}

/* Where it goes: with its unit, else behind what it needs if nothing is there yet, else to the next in turn. */
static gt_stream_index choose(struct assigning *d, gt_call_index call, gt_stream_index stream, enum freedom freedom)
{
    gt_stream_index *unit_target = freedom == SAID || freedom == BOTH ? &d->unit_target[d->said->unit[call]] : NULL;
    const struct gt_call *c = &d->w->calls[call];
    gt_stream_index target;

    if (freedom == FIXED)
        return stream;
    if (unit_target != NULL && *unit_target != GT_NONE)
        return *unit_target;
    if (c->kind == GT_CALL_GRAPH_LAUNCH && gt_graph_replay_of(&d->replays, d->w, c)->call != GT_NONE)
        return gt_graph_replay_of(&d->replays, d->w, c)->stream;
    target =
        freedom == SHOWN && d->chain.call != GT_NONE ? d->chain.target : gt_assign_next_target(d->targets, stream);
    if (unit_target != NULL)
        *unit_target = target;
    return target;
}

/* Is the order of the two streams' work that of its calls, by the default stream's rules? */
static bool ordered_anyway(const struct assigning *d, gt_stream_index one, gt_stream_index other)
{
    gt_stream_index legacy;

    if (one >= d->w->stream_count || other >= d->w->stream_count || !is_blocking(d->w, one) ||
        !is_blocking(d->w, other))
        return false;
    legacy = gt_assign_legacy_stream(d->targets, one);
    return legacy != GT_NONE && legacy == gt_assign_legacy_stream(d->targets, other) &&
           (one == legacy || other == legacy);
}

static void keep_order(struct assigning *d, gt_call_index index, gt_stream_index target)
{
    gt_thread_index thread = d->w->calls[index].thread;

    for (uint32_t i = 0; i < d->need.count; i++) {
        const struct gt_clock_entry *entry = &d->need.entries[i];

        if (entry->stream == target || ordered_anyway(d, entry->stream, target) ||
            clock_has(&d->known[target], entry->stream, entry->call) ||
            clock_has(&d->waited[thread], entry->stream, entry->call))
            continue;
        add_wait(d, index, entry->call, false);
        clock_reach(&d->known[target], entry->stream, entry->call);
    }
}

static void count_nodes(struct assigning *d, gt_call_index call)
{
    uint32_t ops = d->w->calls[call].ops, *unit = nones(ops);

    if (gt_independence_nodes(d->said, d->w, call, unit) > 1)
        for (uint32_t i = 0; i < ops; i++)
            d->assignment->nodes += unit[i] != GT_NONE;
    d->assignment->nodes_shown += gt_flow_nodes(d->w, call, &d->flow);
    free(unit);
}

static void note_done(struct assigning *d, gt_call_index index, gt_stream_index stream, enum freedom freedom,
                      gt_stream_index target)
{
    const struct gt_call *call = &d->w->calls[index];

    d->last[target] = index;
    d->assignment->target[index] = target;
    if (freedom == FIXED) {
        for (int i = 0; i < FREEDOMS; i++)
            clock_clear(&d->done[i][stream]);
        gt_data_flow_clear(&d->flow, stream, index);
    }
    clock_reach(&d->done[freedom][stream], target, index);
    if (freedom == SHOWN || freedom == BOTH)
        gt_data_flow_add(&d->flow, index, stream, target);
    if (freedom != FIXED && call->kind == GT_CALL_GRAPH_LAUNCH) {
        struct gt_graph_replay *replay = gt_graph_replay_of(&d->replays, d->w, call);

        replay->stream = target;
        replay->call = index;
    }
    if (gt_call_holds_host(d->w, call))
        clock_reach(&d->waited[call->thread], target, index);
    if (call->kind == GT_CALL_GRAPH_LAUNCH && gt_assign_has_targets(d->targets, stream))
        count_nodes(d, index);
    d->assignment->said += freedom == SAID || freedom == BOTH;
    d->assignment->shown += freedom == SHOWN;
    d->assignment->moved += target != stream;
}

static enum freedom freedom_of(const struct assigning *d, gt_call_index call, gt_stream_index stream)
{
    bool said = d->said->unit[call] != GT_NONE, shown = d->flow.known[call];

    if (!gt_assign_has_targets(d->targets, stream))
        return FIXED;
    return said && shown ? BOTH : said ? SAID : shown ? SHOWN : FIXED;
}

static void assign_work(struct assigning *d, gt_call_index index)
{
    gt_stream_index stream = d->w->ops[d->w->calls[index].first_op].stream, target;
    enum freedom freedom = freedom_of(d, index, stream);

    find_needs(d, index, stream, freedom);
    target = choose(d, index, stream, freedom);
    keep_order(d, index, target);
    note_done(d, index, stream, freedom, target);
}

static void record(struct assigning *d, gt_call_index index)
{
    const struct gt_call *call = &d->w->calls[index];

    clock_clear(&d->events[call->event]);
    reach_all(d, &d->events[call->event], call->stream);
    d->event_stream[call->event] = call->stream;
    d->event_call[call->event] = index;
}

/* The wait itself stays: the stream comes after what the event's stream had. */
static void wait_event(struct assigning *d, const struct gt_call *call)
{
    if (call->event == GT_NONE) { /* it may be for anything */
        for (gt_stream_index stream = 0; stream < d->w->stream_count; stream++)
            reach_all(d, &d->done[FIXED][call->stream], stream);
        return;
    }
    clock_merge(&d->done[FIXED][call->stream], &d->events[call->event]);
    if (d->event_call[call->event] != GT_NONE)
        clock_reach(&d->known[call->stream], d->event_stream[call->event], d->event_call[call->event]);
}

/* Does the wait itself cover what is in that stream, which may be a new one? */
static bool covers(const struct assigning *d, const struct gt_call *call, enum gt_host_wait wait,
                   gt_stream_index stream)
{
    if (wait == GT_HOST_WAIT_EVENT)
        return stream == d->event_stream[call->event];
    return stream < d->w->stream_count && gt_host_wait_covers(d->w, call, wait, stream);
}

/* The host waits for streams by itself, and so for the rest of their work. */
static void wait_host(struct assigning *d, gt_call_index index, const struct gt_clock *clock, enum gt_host_wait wait)
{
    struct gt_clock *waited = &d->waited[d->w->calls[index].thread];

    for (uint32_t i = 0; i < clock->count; i++) {
        const struct gt_clock_entry *entry = &clock->entries[i];

        if (!covers(d, &d->w->calls[index], wait, entry->stream) && !clock_has(waited, entry->stream, entry->call))
            add_wait(d, index, entry->call, true);
    }
    clock_merge(waited, clock);
}

/* What the call is there to wait for it waits for in whatever streams that is now. */
static void follow_wait(struct assigning *d, gt_call_index index, enum gt_host_wait wait)
{
    const struct gt_call *call = &d->w->calls[index];

    if (wait == GT_HOST_WAIT_EVENT)
        wait_host(d, index, &d->events[call->event], wait);
    if (wait < GT_HOST_WAIT_STREAM || wait == GT_HOST_WAIT_UNKNOWN)
        return;
    clock_clear(&d->need);
    for (gt_stream_index stream = 0; stream < d->w->stream_count; stream++)
        if (gt_host_wait_covers(d->w, call, wait, stream))
            reach_all(d, &d->need, stream);
    if (wait == GT_HOST_WAIT_STREAM || wait == GT_HOST_WAIT_BLOCKING_STREAMS)
        wait_host(d, index, &d->need, wait);
    else /* for all streams, which new ones are among */
        clock_merge(&d->waited[call->thread], &d->need);
}

static void follow_call(struct assigning *d, gt_call_index index)
{
    const struct gt_call *call = &d->w->calls[index];
    bool streamed = call->stream != GT_NONE, about_event = call->event != GT_NONE;

    if (call->kind == GT_CALL_EVENT_RECORD && streamed && about_event)
        record(d, index);
    else if (call->kind == GT_CALL_EVENT_WAIT && streamed)
        wait_event(d, call);
    else
        follow_wait(d, index, gt_call_host_wait(d->w, call, GT_HOST_WAITS_OBSERVED));
}

static void begin(struct assigning *d, uint32_t streams, const char *const *independent)
{
    const struct gt_workload *w = d->w;
    uint32_t all;

    d->said = d->assignment->independence = gt_calloc(1, sizeof *d->said);
    d->targets = d->assignment->targets = gt_calloc(1, sizeof *d->targets);
    gt_independence_find(d->said, w, independent);
    gt_data_flow_begin(&d->flow, w);
    gt_assign_targets_find(d->targets, w, streams, d->assignment);
    all = w->stream_count + d->assignment->stream_count;
    for (int i = 0; i < FREEDOMS; i++)
        d->done[i] = clocks_new(w->stream_count);
    d->known = clocks_new(all);
    d->waited = clocks_new(w->thread_count);
    d->events = clocks_new(w->event_count);
    d->event_stream = nones(w->event_count);
    d->event_call = nones(w->event_count);
    d->last = nones(all);
    d->unit_target = nones(d->said->units);
    d->assignment->target = nones(w->call_count);
}

static void end(struct assigning *d)
{
    gt_data_flow_free(&d->flow);
    for (int i = 0; i < FREEDOMS; i++)
        clocks_free(d->done[i], d->w->stream_count);
    clocks_free(d->known, d->w->stream_count + d->assignment->stream_count);
    clocks_free(d->waited, d->w->thread_count);
    clocks_free(d->events, d->w->event_count);
    free(d->event_stream);
    free(d->event_call);
    free(d->last);
    free(d->unit_target);
    free(d->replays.list);
    free(d->need.entries);
}

void gt_assign_streams(struct gt_stream_assignment *assignment, const struct gt_workload *w, uint32_t streams,
                       const char *const *independent)
{
    struct assigning d = { .w = w, .assignment = assignment };

    memset(assignment, 0, sizeof *assignment);
    begin(&d, streams, independent);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (w->calls[i].ops > 0)
            assign_work(&d, i);
        else
            follow_call(&d, i);
    }
    end(&d);
}

void gt_assignment_free(struct gt_stream_assignment *assignment)
{
    if (assignment->targets != NULL) {
        gt_assign_targets_free(assignment->targets);
        gt_independence_free(assignment->independence);
    }
    free(assignment->targets);
    free(assignment->independence);
    free(assignment->like);
    free(assignment->target);
    free(assignment->waits);
}
