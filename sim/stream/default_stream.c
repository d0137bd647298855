/* The legacy default stream: its commands wait for everything asked for earlier in the blocking streams
 * of its context, and theirs for everything asked for earlier in it (CUDA C++ Programming Guide,
 * "Default Stream"; rules N1 and N2 of Amert et al., RTSS'17).
 *
 * Each command remembers how many commands of the other side came before it.  Of the default stream that
 * many must be complete; and that many of all blocking streams together, since those that came after
 * it cannot complete before it. */
#include "sim/stream/default_stream.h"

#include "sim/stream/waiting.h"

static bool takes_part(const struct gt_machine *m, gt_stream_index stream)
{
    return m->contexts[m->streams[stream].context].null_stream != GT_NONE &&
           !(m->streams[stream].flags & GT_STREAM_NON_BLOCKING);
}

void gt_default_stream_submit(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command *c = &m->commands[command];
    struct gt_context_state *context = &m->contexts[m->streams[c->stream].context];

    if (!takes_part(m, c->stream))
        return;
    if (context->null_stream == c->stream) {
        c->behind = context->submitted;
    } else {
        c->behind = m->streams[context->null_stream].submitted;
        context->submitted++;
    }
}

bool gt_default_stream_lets(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];
    const struct gt_context_state *context = &m->contexts[m->streams[c->stream].context];

    if (!takes_part(m, c->stream))
        return true;
    return (context->null_stream == c->stream ? context->completed : m->streams[context->null_stream].completed) >=
           c->behind;
}

bool gt_default_stream_holds(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];
    const struct gt_context_state *context = &m->contexts[state->context];
    uint64_t behind = m->commands[state->head].behind;
    bool was_held = state->held_by_default;

    if (!takes_part(m, stream))
        return false;
    if (context->null_stream == stream) {
        state->held_by_default = context->completed < behind;
    } else {
        state->held_by_default = m->streams[context->null_stream].completed < behind;
        if (state->held_by_default && !was_held)
            gt_stream_add_waiter(m, context->null_stream, behind, stream, GT_WAITER_DEFAULT_STREAM);
    }
    m->fired[GT_RULE_DEFAULT_STREAM] += state->held_by_default && !was_held;
    return state->held_by_default;
}

void gt_default_stream_complete(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_context_state *context = &m->contexts[m->streams[stream].context];
    struct gt_stream_state *held;

    if (!takes_part(m, stream) || context->null_stream == stream)
        return; /* streams that the default stream holds are among its waiters */
    context->completed++;
    held = &m->streams[context->null_stream];
    if (!held->held_by_default || gt_default_stream_holds(m, context->null_stream))
        return;
    held->default_release = (struct gt_release){ m->engine.now_ps, GT_CAUSE_OP, m->streams[stream].last_op };
    gt_stream_wake(m, context->null_stream, m->engine.now_ps);
}
