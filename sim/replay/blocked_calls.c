/* Which recorded calls were blocked by the GPU, and by what. */
#include "config.h"

#include "sim/replay/replay.h"

#include <stdlib.h>
#include <string.h>

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
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (gt_op_measured_end(&w->ops[by_end[middle]]) <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { LOOK_BACK = 4096 };

/* The operation whose end let this synchronising call return: the last to end within the call among
 * those asked for before it, in the stream it names if it names one.  Where that was asked for before the recording began,
 * so that the caller who stands for the unseen one asks for it later: none, and the call takes as long as it took. */
static uint32_t find_blocking_op(const struct gt_workload *w, const struct gt_call *call, gt_stream_index stream,
                                 const uint32_t *by_end, uint32_t count)
{
    gt_time_ps end = gt_call_measured_end(call);
    uint32_t at = gt_replay_ended_by(w, by_end, count, end);

    for (uint32_t looked = 0; at > 0 && looked < LOOK_BACK; looked++) {
        const struct gt_op *op = &w->ops[by_end[--at]];
        const struct gt_call *asked = &w->calls[op->call];

        if (gt_op_measured_end(op) < call->start_ps)
            return GT_NONE;
        if ((stream != GT_NONE && op->stream != stream) ||
            w->threads[asked->thread].process != w->threads[call->thread].process)
            continue;
        if (asked->start_ps == GT_TIME_NONE || asked->start_ps < call->start_ps)
            return by_end[at];
        if (asked->flags & GT_CALL_INFERRED)
            return GT_NONE;
    }
    return GT_NONE;
}

/* A copy call that returned only after its copy had ended waited for it, if the memory or the form
 * of the call allows that. */
static bool copy_blocked(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = &w->ops[call->first_op];

    if (call->kind != GT_CALL_COPY || call->ops != 1)
        return false;
    if (!(call->flags & GT_CALL_SYNCHRONOUS) && op->memory != GT_MEMORY_PAGEABLE && op->memory != GT_MEMORY_UNKNOWN)
        return false;
    return gt_op_measured_end(op) <= gt_call_measured_end(call) && op->start_ps >= call->start_ps;
}

/* The walk over the calls: where each stream's work ended last, what stream each event was recorded in. */
struct walk {
    const uint32_t *by_end;
    uint32_t count;
    gt_time_ps *stream_end;
    uint32_t *event_stream;
};

/* The stream that a synchronising call waits for; GT_NONE: any, or it is not known. */
static uint32_t awaited_stream(const struct gt_call *call, const struct walk *walk)
{
    if (call->kind == GT_CALL_STREAM_SYNC)
        return call->stream;
    if (call->kind == GT_CALL_EVENT_SYNC && call->event != GT_NONE)
        return walk->event_stream[call->event];
    return GT_NONE;
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

static bool synchronises(const struct gt_call *call)
{
    return call->kind == GT_CALL_STREAM_SYNC || call->kind == GT_CALL_EVENT_SYNC ||
           call->kind == GT_CALL_DEVICE_SYNC || (call->kind == GT_CALL_FREE && call->stream == GT_NONE);
}

static void classify_call(struct gt_replay *replay, const struct gt_workload *w, gt_call_index call,
                          const struct walk *walk)
{
    const struct gt_call *c = &w->calls[call];

    if (gt_call_measured_end(c) == GT_TIME_NONE)
        return;
    if (synchronises(c)) {
        replay->blocking_op[call] = find_blocking_op(w, c, awaited_stream(c, walk), walk->by_end, walk->count);
    } else if (copy_blocked(w, c)) {
        replay->blocking_op[call] = c->first_op;
        replay->copy_start_delay_ns[call] = copy_start_delay_ns(replay, w, call, walk);
    }
}

static void note_call(const struct gt_workload *w, const struct gt_call *call, struct walk *walk)
{
    if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE)
        walk->event_stream[call->event] = call->stream;
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
        .by_end = by_end,
        .count = count,
        .stream_end = gt_calloc(w->stream_count + 1ull, sizeof(gt_time_ps)),
        .event_stream = gt_realloc(NULL, w->event_count + 1ull, sizeof(uint32_t)),
    };

    replay->copy_start_delay_ns = gt_calloc(w->call_count, sizeof *replay->copy_start_delay_ns);
    replay->blocking_op = gt_realloc(NULL, w->call_count, sizeof *replay->blocking_op);
    memset(replay->blocking_op, 0xff, w->call_count * sizeof *replay->blocking_op);
    memset(walk.event_stream, 0xff, w->event_count * sizeof *walk.event_stream);
    for (uint32_t i = 0; i < w->call_count; i++) {
        classify_call(replay, w, i, &walk);
        note_call(w, &w->calls[i], &walk);
    }
    free(walk.stream_end);
    free(walk.event_stream);
}
