/* The legacy default stream: its items wait for everything asked for earlier in the blocking streams
 * of its context, and theirs for everything asked for earlier in it (CUDA C++ Programming Guide,
 * "Default Stream"; rules N1 and N2 of Amert et al., RTSS'17). */
#include "sim/machine.h"

static bool has_earlier(const struct gt_machine *m, uint32_t stream, uint64_t sequence)
{
    uint32_t head = m->streams[stream].head;

    return head != GT_NONE && m->items[head].sequence < sequence;
}

static bool null_held(const struct gt_machine *m, const struct gt_context_state *context, uint64_t sequence)
{
    for (uint32_t i = 0; i < context->blocking_count; i++) {
        if (has_earlier(m, context->blocking[i], sequence))
            return true;
    }
    return false;
}

bool gt_barrier_holds(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];
    const struct gt_context_state *context = &m->contexts[stream->context];
    uint64_t sequence = m->items[stream->head].sequence;
    bool held;

    if (context->null_stream == GT_NONE || stream->flags & GT_STREAM_NON_BLOCKING)
        return false;
    held = context->null_stream == number ? null_held(m, context, sequence)
                                          : has_earlier(m, context->null_stream, sequence);
    stream->on_barrier = held;
    return held;
}

static void retry(struct gt_machine *m, uint32_t number, uint32_t cause_op)
{
    struct gt_stream_state *stream = &m->streams[number];

    if (stream->head == GT_NONE || !stream->on_barrier || gt_barrier_holds(m, number))
        return;
    stream->barrier = (struct gt_mark){ m->engine.now_ps, GT_CAUSE_OP, cause_op };
    gt_stream_wake(m, number, m->engine.now_ps);
}

/* `number` has moved on: whoever it held back looks again. */
void gt_barrier_release(struct gt_machine *m, uint32_t number)
{
    const struct gt_stream_state *stream = &m->streams[number];
    const struct gt_context_state *context = &m->contexts[stream->context];

    if (context->null_stream == GT_NONE || stream->flags & GT_STREAM_NON_BLOCKING)
        return;
    if (context->null_stream != number) {
        retry(m, context->null_stream, stream->last_op);
        return;
    }
    for (uint32_t i = 0; i < context->blocking_count; i++)
        retry(m, context->blocking[i], stream->last_op);
}
