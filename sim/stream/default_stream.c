/* The legacy default stream: its items wait for everything asked for earlier in the blocking streams
 * of its context, and theirs for everything asked for earlier in it (CUDA C++ Programming Guide,
 * "Default Stream"; rules N1 and N2 of Amert et al., RTSS'17).
 *
 * Each item remembers how many items of the other side came before it.  Of the default stream that
 * many must be complete; and that many of all blocking streams together, since those that came after
 * it cannot complete before it. */
#include "sim/machine/machine.h"

static bool takes_part(const struct gt_machine *m, uint32_t stream)
{
    return m->contexts[m->streams[stream].context].null_stream != GT_NONE
        && !(m->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

void gt_barrier_submit(struct gt_machine *m, uint32_t number)
{
    struct gt_item *item = &m->items[number];
    struct gt_context_state *context = &m->contexts[m->streams[item->stream].context];

    if (!takes_part(m, item->stream))
        return;
    if (context->null_stream == item->stream) {
        item->behind = context->submitted;
    } else {
        item->behind = m->streams[context->null_stream].submitted;
        context->submitted++;
    }
}

bool gt_barrier_holds(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];
    const struct gt_context_state *context = &m->contexts[stream->context];
    uint64_t behind = m->items[stream->head].behind;
    bool was_held = stream->on_barrier;

    if (!takes_part(m, number))
        return false;
    if (context->null_stream == number) {
        stream->on_barrier = context->completed < behind;
    } else {
        stream->on_barrier = m->streams[context->null_stream].completed < behind;
        if (stream->on_barrier && !was_held)
            gt_stream_add_waiter(m, context->null_stream, behind, number, GT_WAITER_BARRIER);
    }
    return stream->on_barrier;
}

void gt_barrier_complete(struct gt_machine *m, uint32_t number)
{
    struct gt_context_state *context = &m->contexts[m->streams[number].context];
    struct gt_stream_state *held;

    if (!takes_part(m, number) || context->null_stream == number)
        return; /* streams that the default stream holds are among its waiters */
    context->completed++;
    held = &m->streams[context->null_stream];
    if (!held->on_barrier || gt_barrier_holds(m, context->null_stream))
        return;
    held->barrier = (struct gt_mark){ m->engine.now_ps, GT_CAUSE_OP, m->streams[number].last_op };
    gt_stream_wake(m, context->null_stream, m->engine.now_ps);
}
