/* Which recorded calls were blocked by the GPU, and by what: by their times, among what they can wait for
 * (sim/workload/host_waits.h). */
#include "config.h"

#include "sim/base/sort.h"
#include "sim/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/host_waits.h"

static int by_measured_end(const void *a, const void *b, void *user)
{
    const struct gt_op *ops = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    gt_time_ps left_end = gt_op_measured_end(&ops[left]), right_end = gt_op_measured_end(&ops[right]);

    if (left_end != right_end)
        return left_end < right_end ? -1 : 1;
    return (left > right) - (left < right);
}

uint32_t *gt_replay_sort_by_end(const struct gt_workload *w, uint32_t *count)
{
    uint32_t *order = gt_calloc(w->op_count, sizeof *order);

    *count = 0;
    for (uint32_t i = 0; i < w->op_count; i++) {
        if (gt_op_measured_end(&w->ops[i]) != GT_TIME_NONE)
            order[(*count)++] = i;
    }
    qsort_r(order, *count, sizeof *order, by_measured_end, w->ops);
    return order;
}

uint32_t gt_replay_ended_by(const struct gt_workload *w, const uint32_t *by_end, uint32_t count, gt_time_ps time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, gt_op_measured_end(&w->ops[by_end[middle]]) <= time_ps);
    return low;
}

/* The walk over the calls: where each stream's work ended last, which call recorded each event last (GT_NONE: none yet). */
struct walk {
    const struct gt_workload *w;
    const uint32_t *by_end;
    uint32_t count;
    gt_time_ps *stream_end;
    gt_call_index *event_record;
};

/* What a synchronising call waits for. */
struct awaited {
    const struct gt_call *call;
    enum gt_host_wait wait;
    gt_stream_index stream; /* of an event's record */
    gt_time_ps before_ps;   /* what was asked for before that */
};

static struct awaited awaited_by(const struct walk *walk, const struct gt_call *call)
{
    struct awaited awaited = { call, gt_call_host_wait(walk->w, call, GT_HOST_WAITS_OBSERVED), GT_NONE,
                               call->start_ps };
    const struct gt_call *record;

    if (awaited.wait != GT_HOST_WAIT_EVENT)
        return awaited;
    if (walk->event_record[call->event] == GT_NONE) { /* before the recording began, it may be */
        awaited.wait = GT_HOST_WAIT_UNKNOWN;
        return awaited;
    }
    record = &walk->w->calls[walk->event_record[call->event]];
    awaited.stream = record->stream;
    if (record->start_ps < call->start_ps)
        awaited.before_ps = record->start_ps;
    return awaited;
}

static bool covers(const struct gt_workload *w, const struct awaited *awaited, const struct gt_op *op)
{
    if (w->threads[w->calls[op->call].thread].process != w->threads[awaited->call->thread].process)
        return false;
    if (awaited->wait == GT_HOST_WAIT_UNKNOWN || (awaited->wait == GT_HOST_WAIT_EVENT && awaited->stream == GT_NONE))
        return true;
    return awaited->wait == GT_HOST_WAIT_EVENT ? op->stream == awaited->stream
                                               : gt_host_wait_covers(w, awaited->call, awaited->wait, op->stream);
}

enum { LOOK_BACK = 4096 };

/* The operation whose end let this synchronising call return: the last to end within the call among those that it waits
 * for.  Where that was asked for before the recording began, so that the caller who stands for the unseen one asks for it
 * later: none, and the call takes as long as it took. */
static uint32_t find_blocking_op(const struct walk *walk, const struct awaited *awaited)
{
    const struct gt_workload *w = walk->w;
    gt_time_ps end = gt_call_measured_end(awaited->call);
    uint32_t at = gt_replay_ended_by(w, walk->by_end, walk->count, end);

    for (uint32_t looked = 0; at > 0 && looked < LOOK_BACK; looked++) {
        const struct gt_op *op = &w->ops[walk->by_end[--at]];
        const struct gt_call *asked = &w->calls[op->call];

        if (gt_op_measured_end(op) < awaited->call->start_ps)
            return GT_NONE;
        if (!covers(w, awaited, op))
            continue;
        if (asked->start_ps == GT_TIME_NONE || asked->start_ps < awaited->before_ps)
            return walk->by_end[at];
        if (asked->flags & GT_CALL_INFERRED)
            return GT_NONE;
    }
    return GT_NONE;
}

/* A call that can wait for its operation, and returned only after that had ended, did. */
static bool operation_blocked(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = &w->ops[call->first_op];

    return call->ops == 1 && gt_call_may_wait(w, call) && gt_op_measured_end(op) <= gt_call_measured_end(call) &&
           op->start_ps >= call->start_ps;
}

/* From a copy's call, or the end of what its stream did before, to the copy's start. */
static uint32_t copy_start_delay_ns(const struct gt_replay *replay, const struct gt_workload *w, gt_call_index call,
                                    const struct walk *walk)
{
    const struct gt_op *op = &w->ops[w->calls[call].first_op];
    gt_time_ps from = w->calls[call].start_ps + gt_replay_held_ps(replay, call), lead;

    if (walk->stream_end[op->stream] > from)
        from = walk->stream_end[op->stream];
    lead = op->start_ps > from ? (op->start_ps - from) / 1000 : 0;
    return lead < UINT32_MAX ? (uint32_t)lead : UINT32_MAX;
}

static void classify_call(struct gt_replay *replay, const struct walk *walk, gt_call_index call)
{
    const struct gt_call *c = &walk->w->calls[call];

    if (gt_call_measured_end(c) == GT_TIME_NONE)
        return;
    if (gt_call_synchronises(c) && c->kind != GT_CALL_POLL) { /* how long that goes on is simulated */
        struct awaited awaited = awaited_by(walk, c);

        replay->blocking_op[call] = find_blocking_op(walk, &awaited);
    } else if (operation_blocked(walk->w, c)) {
        replay->blocking_op[call] = c->first_op;
        replay->copy_start_delay_ns[call] = copy_start_delay_ns(replay, walk->w, call, walk);
    }
}

static void note_call(struct walk *walk, gt_call_index index)
{
    const struct gt_workload *w = walk->w;
    const struct gt_call *call = &w->calls[index];

    if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE)
        walk->event_record[call->event] = index;
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        gt_time_ps end = gt_op_measured_end(&w->ops[i]), *last = &walk->stream_end[w->ops[i].stream];

        if (end != GT_TIME_NONE && end > *last)
            *last = end;
    }
}

void gt_replay_find_blocking_syncs(struct gt_replay *replay, const struct gt_workload *w, const uint32_t *by_end,
                                   uint32_t count)
{
    struct walk walk = {
        .w = w,
        .by_end = by_end,
        .count = count,
        .stream_end = gt_calloc(w->stream_count + 1ull, sizeof(gt_time_ps)),
        .event_record = gt_realloc(NULL, w->event_count + 1ull, sizeof(gt_call_index)),
    };

    replay->copy_start_delay_ns = gt_calloc(w->call_count, sizeof *replay->copy_start_delay_ns);
    replay->blocking_op = gt_realloc(NULL, w->call_count, sizeof *replay->blocking_op);
    memset(replay->blocking_op, 0xff, w->call_count * sizeof *replay->blocking_op);
    memset(walk.event_record, 0xff, w->event_count * sizeof *walk.event_record); /* GT_NONE */
    for (uint32_t i = 0; i < w->call_count; i++) {
        classify_call(replay, &walk, i);
        note_call(&walk, i);
    }
    free(walk.stream_end);
    free(walk.event_record);
}
