#include "config.h"

#include "sim/replay/launch_gaps.h"

#include <stdlib.h>
#include <string.h>

#include "sim/replay/equivalent.h"
#include "sim/replay/held_calls.h"

/* The operation that ended last of several; GT_NONE: of none. */
struct front {
    gt_op_index op;
    gt_time_ps end_ps;
};

static const struct front nothing = { GT_NONE, 0 };

/* What the walk over the calls remembers: what the next operation would come after. */
struct walk {
    const struct gt_start_rules *rules;
    const struct gt_workload *w;
    const gt_op_index *inferred_after;
    const struct gt_neighbours *neighbours;
    int64_t stream_more_ps, wait_more_ps;
    struct gt_launch_gap *starts;
    struct front *stream, *awaited; /* by stream: its last; the last of what it waits for since */
    struct front *event;            /* by event: what its last record stands behind */
    struct front *by_default,
        *of_rest;      /* by context: the legacy default stream's last; of the other blocking streams */
    uint32_t *context; /* by stream: its number, from 0 on */
    uint64_t known;    /* operations of which something is known */
};

static struct front later(struct front a, struct front b)
{
    return b.op != GT_NONE && (a.op == GT_NONE || b.end_ps >= a.end_ps) ? b : a;
}

static struct front *fronts(uint64_t count)
{
    struct front *made = gt_calloc(count + 1, sizeof *made);

    for (uint64_t i = 0; i <= count; i++)
        made[i] = nothing;
    return made;
}

/* What the legacy default stream makes the operation wait for: in it for all blocking streams, in these for it. */
static struct front held_by_default(const struct walk *walk, gt_stream_index stream)
{
    uint32_t flags = walk->w->streams[stream].flags, context = walk->context[stream];

    if (flags & GT_STREAM_NON_BLOCKING)
        return nothing;
    return flags & GT_STREAM_LEGACY_DEFAULT ? walk->of_rest[context] : walk->by_default[context];
}

static struct front of_op(const struct gt_workload *w, gt_op_index op)
{
    gt_time_ps end_ps = op == GT_NONE ? GT_TIME_NONE : gt_op_measured_end(&w->ops[op]);

    return end_ps == GT_TIME_NONE ? nothing : (struct front){ op, end_ps };
}

/* All that the operation waits for in other streams. */
static struct front waits_for(const struct walk *walk, gt_op_index index, gt_stream_index stream)
{
    const struct gt_op *op = &walk->w->ops[index];
    struct front last = later(walk->awaited[stream], held_by_default(walk, stream));

    for (uint32_t i = 0; i < op->afters; i++)
        last = later(last, of_op(walk->w, walk->w->afters[op->first_after + i]));
    if (walk->inferred_after != NULL)
        last = later(last, of_op(walk->w, walk->inferred_after[index]));
    return last;
}

/* When its call has it ready, as learned. */
static int64_t asked_ps(const struct walk *walk, const struct gt_call *call, const struct gt_op *op)
{
    int64_t latency_ps =
        call->kind == GT_CALL_GRAPH_LAUNCH ? walk->rules->graph_latency_ps : walk->rules->latency_ps[op->kind];

    return (int64_t)gt_call_measured_end(call) + latency_ps;
}

static int64_t more_ps(const struct walk *walk, enum gt_own_gap gap)
{
    return gap == GT_LAUNCH_GAP_STREAM ? walk->stream_more_ps : walk->wait_more_ps;
}

static void keep_gap(struct walk *walk, gt_op_index op, enum gt_own_gap gap, gt_time_ps seen_ps)
{
    int64_t own_ps = (int64_t)seen_ps + more_ps(walk, gap);

    if (own_ps < 0)
        own_ps = 0;
    if (seen_ps >= UINT32_MAX || own_ps >= UINT32_MAX)
        return;
    walk->starts[op].gap = (uint8_t)gap;
    walk->starts[op].gap_ps = (uint32_t)own_ps;
    walk->known++;
}

/* What the operation showed when the last of what it comes after was over at `last`. */
static void note_gap(struct walk *walk, gt_op_index index, struct front last, enum gt_own_gap gap, bool by_call)
{
    gt_time_ps start_ps = walk->w->ops[index].start_ps;

    if (last.op == GT_NONE || start_ps < last.end_ps)
        return;
    if (by_call || !gt_own_delay(walk->neighbours, index, last.end_ps))
        gap = GT_LAUNCH_GAP_MOST;
    keep_gap(walk, index, gap, start_ps - last.end_ps);
}

static void note_start(struct walk *walk, const struct gt_call *call, gt_stream_index stream, gt_op_index index)
{
    const struct gt_op *op = &walk->w->ops[index];
    struct front before = walk->stream[stream], awaited = waits_for(walk, index, stream),
                 last = later(before, awaited);
    enum gt_own_gap gap = last.op == awaited.op ? GT_LAUNCH_GAP_WAIT : GT_LAUNCH_GAP_STREAM;
    int64_t ready_ps = asked_ps(walk, call, op);
    bool by_call =
        last.op == GT_NONE ||
        ready_ps > (int64_t)(last.end_ps + walk->rules->gap_ps(walk->rules->replay, &walk->w->ops[last.op], op, gap));

    if (op->kind == GT_OP_HOST_FUNCTION) { /* its gap is in what it is picked up after (sim/stream/operation.c) */
        keep_gap(walk, index, GT_LAUNCH_GAP_MOST, 0);
        return;
    }
    if (last.op != GT_NONE && ready_ps > (int64_t)op->start_ps) /* the call went on after it had asked */
        by_call = gt_call_turn_ps(walk->w, walk->rules->held_ps, op->call) > last.end_ps;
    note_gap(walk, index, last, gap, by_call);
    if (!by_call || ready_ps < 0 || !gt_own_delay(walk->neighbours, index, (gt_time_ps)ready_ps))
        return;
    walk->starts[index].by_call = true;
    walk->known++;
}

/* The call's operations are the last of their streams; of a graph the one that ends last is its stream's. */
static void note_ends(struct walk *walk, const struct gt_call *call, gt_stream_index stream)
{
    uint32_t flags = walk->w->streams[stream].flags, context = walk->context[stream];
    struct front last = nothing;

    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
        last = later(last, of_op(walk->w, op));
    walk->awaited[stream] = nothing;
    walk->stream[stream] = last;
    if (flags & GT_STREAM_LEGACY_DEFAULT)
        walk->by_default[context] = last;
    else if (!(flags & GT_STREAM_NON_BLOCKING))
        walk->of_rest[context] = later(walk->of_rest[context], last);
}

static void walk_call(struct walk *walk, const struct gt_call *call)
{
    gt_stream_index stream;

    if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE && call->stream != GT_NONE)
        walk->event[call->event] = later(walk->stream[call->stream], walk->awaited[call->stream]);
    if (call->kind == GT_CALL_EVENT_WAIT && call->event != GT_NONE && call->stream != GT_NONE)
        walk->awaited[call->stream] = later(walk->awaited[call->stream], walk->event[call->event]);
    if (call->ops == 0)
        return;
    stream = gt_call_stream(walk->w, call);
    if (gt_call_measured_end(call) != GT_TIME_NONE && !(call->flags & GT_CALL_INFERRED) &&
        gt_op_measured_end(&walk->w->ops[call->first_op]) != GT_TIME_NONE)
        note_start(walk, call, stream, call->first_op);
    note_ends(walk, call, stream);
}

static void walk_calls(struct walk *walk)
{
    const struct gt_workload *w = walk->w;
    gt_call_index *order = gt_calls_in_turn(w, walk->rules->held_ps);

    walk->stream = fronts(w->stream_count);
    walk->awaited = fronts(w->stream_count);
    walk->event = fronts(w->event_count);
    walk->by_default = fronts(w->stream_count);
    walk->of_rest = fronts(w->stream_count);
    walk->context = gt_number_contexts(w);
    for (gt_call_index i = 0; i < w->call_count; i++)
        walk_call(walk, &w->calls[order[i]]);
    free(order);
    free(walk->stream);
    free(walk->awaited);
    free(walk->event);
    free(walk->by_default);
    free(walk->of_rest);
    free(walk->context);
}

/* What operations without measured times state. */
static void take_stated(struct walk *walk)
{
    for (gt_op_index i = 0; i < walk->w->op_count; i++) {
        const struct gt_op *op = &walk->w->ops[i];

        if (op->own_gap != GT_LAUNCH_GAP_NONE)
            keep_gap(walk, i, (enum gt_own_gap)op->own_gap, op->own_gap_ps);
    }
}

struct gt_launch_gap *gt_launch_gaps_find(const struct gt_start_rules *rules, const struct gt_workload *w,
                                          const gt_op_index *inferred_after, const struct gt_neighbours *neighbours,
                                          const struct gt_device *recorded, const struct gt_device *device)
{
    struct walk walk = {
        .rules = rules,
        .w = w,
        .inferred_after = inferred_after,
        .neighbours = neighbours,
        .stream_more_ps = (int64_t)(device->stream_gap_ps - recorded->stream_gap_ps),
        .wait_more_ps = (int64_t)(device->event_gap_ps - recorded->event_gap_ps),
        .starts = gt_calloc(w->op_count + 1ull, sizeof *walk.starts),
    };

    if (neighbours->count > 0)
        walk_calls(&walk);
    else
        take_stated(&walk);
    if (walk.known > 0)
        return walk.starts;
    free(walk.starts);
    return NULL;
}

gt_time_ps gt_launch_gap_ps(const struct gt_launch_gap *starts, gt_op_index op, enum gt_own_gap behind,
                            gt_time_ps plain_ps)
{
    if (starts == NULL || starts[op].gap == GT_LAUNCH_GAP_NONE)
        return plain_ps;
    return starts[op].gap == behind || starts[op].gap_ps < plain_ps ? starts[op].gap_ps : plain_ps;
}
