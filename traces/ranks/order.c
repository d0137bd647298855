/* order.c - what a collective waits for, where the profile does not say which events its stream's waits meant.
 *
 * c10d (ProcessGroupNCCL.cpp, syncStream()) and others put a collective into a stream of its own like this: an event is recorded
 * in the stream that computes, the collective's stream waits for it, the kernel is launched.  Between the launch of what
 * was computed and that of the collective the first record and the first wait behind it are these two; those that follow are
 * NCCL's own.  Behind the launch of a collective, where it is known that the stream that computes waits, and no other collective of
 * that stream runs, it waits for this one: the record between is in that one's stream. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/collective.h"
#include "traces/ranks/internal.h"

/* Numbers of events from here on are clear of those that profilers give. */
#define FIRST_EVENT (UINT64_C(1) << 40)

enum { PAIRS = 4 };

/* Since a thread's last launch. */
struct since {
    gt_stream_index stream;     /* of its last operation that is no collective; GT_NONE */
    gt_stream_index collective; /* of its last operation, if that is one; GT_NONE */
    gt_call_index record;       /* the first since the last wait; GT_NONE */
    struct pair {
        gt_call_index record, wait;
    } pairs[PAIRS]; /* waits, and the record before each */
    uint32_t count;
};

static void note(struct since *since, const struct gt_call *call, gt_call_index index)
{
    if (call->kind == GT_CALL_EVENT_RECORD && since->record == GT_NONE)
        since->record = index;
    if (call->kind != GT_CALL_EVENT_WAIT || since->count == PAIRS)
        return;
    if (since->record == GT_NONE && since->count > 0)
        since->record = since->pairs[since->count - 1].record;
    if (since->record != GT_NONE)
        since->pairs[since->count++] = (struct pair){ since->record, index };
    since->record = GT_NONE;
}

static bool unknown(const struct gt_workload *w, gt_call_index call)
{
    return w->calls[call].flags & GT_CALL_TARGET_UNKNOWN;
}

static void set(struct gt_call *call, gt_stream_index stream, gt_event_index event)
{
    call->stream = stream;
    call->event = event;
    call->flags &= (uint8_t)~GT_CALL_TARGET_UNKNOWN;
}

static bool may_be(const struct gt_workload *w, gt_call_index call, gt_stream_index stream)
{
    return unknown(w, call) && (w->calls[call].stream == GT_NONE || w->calls[call].stream == stream);
}

/* The pair's record is in stream `first`, for which stream `then` waits; false: it cannot be. */
static bool join(struct gt_workload *w, const struct pair *pair, gt_stream_index first, gt_stream_index then)
{
    gt_event_index event;

    if (first == GT_NONE || first == then || !may_be(w, pair->record, first) || !may_be(w, pair->wait, then) ||
        w->streams[first].gpu != w->streams[then].gpu)
        return false;
    event = gt_workload_add_event(w);
    w->events[event].id = FIRST_EVENT + event;
    set(&w->calls[pair->record], first, event);
    set(&w->calls[pair->wait], then, event);
    return true;
}

/* Before a collective is launched in `stream`. */
static void join_before(struct gt_workload *w, const struct since *since, gt_stream_index stream)
{
    for (uint32_t i = 0; i < since->count; i++) {
        gt_stream_index waits = w->calls[since->pairs[i].wait].stream;

        if (waits != GT_NONE && waits != stream)
            continue;
        join(w, &since->pairs[i], since->stream, stream);
        return;
    }
}

/* Behind a collective, which is the only one of its stream that nobody is known to have waited for. */
static void join_behind(struct gt_workload *w, const struct since *since, uint32_t *running)
{
    for (uint32_t i = 0; i < since->count && *running == 1; i++)
        if (since->stream != GT_NONE && w->calls[since->pairs[i].wait].stream == since->stream)
            *running -= join(w, &since->pairs[i], since->collective, since->stream);
}

static void launch(struct gt_workload *w, struct since *since, const struct gt_call *call, uint32_t *running)
{
    gt_stream_index stream = w->ops[call->first_op].stream;
    bool is_collective = gt_collective_kernel(w, call->first_op) != NULL;

    if (since->collective != GT_NONE)
        join_behind(w, since, &running[since->collective]);
    if (is_collective)
        join_before(w, since, stream);
    else
        since->stream = stream;
    running[stream] += is_collective;
    since->collective = is_collective ? stream : GT_NONE;
    since->record = GT_NONE;
    since->count = 0;
}

void gt_ranks_order(struct gt_workload *w)
{
    struct since *threads = gt_calloc(w->thread_count + 1ull, sizeof *threads);
    uint32_t *running = gt_calloc(w->stream_count + 1ull, sizeof *running); /* by stream: collectives */

    for (uint32_t i = 0; i < w->thread_count; i++)
        threads[i] = (struct since){ .stream = GT_NONE, .collective = GT_NONE, .record = GT_NONE };
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (call->ops > 0)
            launch(w, &threads[call->thread], call, running);
        else if (call->kind == GT_CALL_DEVICE_SYNC)
            memset(running, 0, w->stream_count * sizeof *running);
        else
            note(&threads[call->thread], call, i);
    }
    free(threads);
    free(running);
}
