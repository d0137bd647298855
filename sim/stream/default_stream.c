/* The legacy default stream: its commands wait for everything asked for earlier in the blocking streams
 * of its context, and theirs for everything asked for earlier in it (CUDA C++ Programming Guide,
 * "Default Stream"; rules N1 and N2 of Amert et al., RTSS'17).
 *
 * Each command remembers how many commands of the other side came before it.  Of the default stream that
 * many must be complete; and that many of all blocking streams together, since those that came after
 * it cannot complete before it. */
#include "sim/stream/default_stream.h"

#include "sim/stream/waiting.h"

static bool takes_part(const struct gt_machine *m, uint32_t stream)
{
    return m->contexts[m->streams[stream].context].null_stream != GT_NONE
        && !(m->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

void gt_default_stream_submit(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_command *command = &m->commands[number];
    struct gt_context_state *context = &m->contexts[m->streams[command->stream].context];

    if (!takes_part(m, command->stream))
        return;
    if (context->null_stream == command->stream) {
        command->behind = context->submitted;
    } else {
        command->behind = m->streams[context->null_stream].submitted;
        context->submitted++;
    }
}

bool gt_default_stream_holds(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];
    const struct gt_context_state *context = &m->contexts[stream->context];
    uint64_t behind = m->commands[stream->head].behind;
    bool was_held = stream->on_barrier;

    if (!takes_part(m, number))
        return false;
    if (context->null_stream == number) {
        stream->on_barrier = context->completed < behind;
    } else {
        stream->on_barrier = m->streams[context->null_stream].completed < behind;
        if (stream->on_barrier && !was_held)
            gt_stream_add_waiter(m, context->null_stream, behind, number, GT_WAITER_DEFAULT_STREAM);
    }
    return stream->on_barrier;
}

void gt_default_stream_complete(struct gt_machine *m, uint32_t number)
{
    struct gt_context_state *context = &m->contexts[m->streams[number].context];
    struct gt_stream_state *held;

    if (!takes_part(m, number) || context->null_stream == number)
        return; /* streams that the default stream holds are among its waiters */
    context->completed++;
    held = &m->streams[context->null_stream];
    if (!held->on_barrier || gt_default_stream_holds(m, context->null_stream))
        return;
    held->barrier = (struct gt_mark){ m->engine.now_ps, GT_CAUSE_OP, m->streams[number].last_op };
    gt_stream_wake(m, context->null_stream, m->engine.now_ps);
}
