/* order.c - what a collective waits for, where the profile does not say which events its stream's waits meant.
 *
 * c10d (ProcessGroupNCCL.cpp, syncStream()) and others put a collective into a stream of its own like this: an event is recorded
 * in the stream that computes, the collective's stream waits for it, the kernel is launched.  Between the launch of what
 * was computed and that of the collective the first record and the first wait behind it are these two; those that
 * follow are NCCL's own. */
#include <stdlib.h>

#include "sim/workload/collective.h"
#include "traces/ranks/internal.h"

/* Numbers of events from here on are clear of those that profilers give. */
#define FIRST_EVENT (UINT64_C(1) << 40)

/* Since a thread's last launch. */
struct since {
    gt_stream_index stream;     /* of its last operation that is no collective; GT_NONE */
    gt_call_index record, wait; /* the first of each; GT_NONE */
};

static void note(struct since *since, const struct gt_call *call, gt_call_index index)
{
    if (call->kind == GT_CALL_EVENT_RECORD && since->record == GT_NONE)
        since->record = index;
    else if (call->kind == GT_CALL_EVENT_WAIT && since->record != GT_NONE && since->wait == GT_NONE)
        since->wait = index;
}

static bool unknown(const struct gt_workload *w, gt_call_index call)
{
    return call != GT_NONE && (w->calls[call].flags & GT_CALL_TARGET_UNKNOWN);
}

static void set(struct gt_call *call, gt_stream_index stream, gt_event_index event)
{
    call->stream = stream;
    call->event = event;
    call->flags &= (uint8_t)~GT_CALL_TARGET_UNKNOWN;
}

static void join(struct gt_workload *w, const struct since *since, gt_stream_index stream)
{
    gt_event_index event;

    if (!unknown(w, since->record) || !unknown(w, since->wait) || since->stream == GT_NONE ||
        since->stream == stream || w->streams[since->stream].gpu != w->streams[stream].gpu)
        return;
    event = gt_workload_add_event(w);
    w->events[event].id = FIRST_EVENT + event;
    set(&w->calls[since->record], since->stream, event);
    set(&w->calls[since->wait], stream, event);
}

void gt_ranks_order(struct gt_workload *w)
{
    struct since *threads = gt_calloc(w->thread_count + 1ull, sizeof *threads);

    for (uint32_t i = 0; i < w->thread_count; i++)
        threads[i] = (struct since){ GT_NONE, GT_NONE, GT_NONE };
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        struct since *since = &threads[call->thread];

        if (call->ops == 0) {
            note(since, call, i);
            continue;
        }
        if (gt_collective_kernel(w, call->first_op) != NULL)
            join(w, since, w->ops[call->first_op].stream);
        else
            since->stream = w->ops[call->first_op].stream;
        since->record = since->wait = GT_NONE;
    }
    free(threads);
}
