/* What a stream is asked for: by the default streams' rules, and what operations come after. */
#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/workload/collective.h"

gt_step_index gt_order_last(const struct gt_order *order, gt_stream_index stream)
{
    return order->steps.last[order->streams[stream].line];
}

gt_step_index gt_order_seen(const struct gt_order *order, gt_thread_index thread)
{
    return order->steps.last[order->threads[thread].line];
}

/* The later one of two steps of which it comes after the other. */
static gt_step_index later(gt_step_index one, gt_step_index other)
{
    return one == GT_NONE || (other != GT_NONE && other > one) ? other : one;
}

/* The step comes after `before`, unless its stream is known to. */
static void come_after(struct gt_order *order, gt_step_index *known, gt_step_index before, gt_step_index step)
{
    if (*known == before)
        return;
    gt_steps_order(&order->steps, before, step);
    *known = before;
}

/* What holds the blocking streams of a context: the last of its legacy default stream, or another GPU's copy. */
static gt_step_index held_by(const struct gt_order *order, const struct gt_order_context *context)
{
    return later(context->null_stream != GT_NONE ? gt_order_last(order, context->null_stream) : GT_NONE,
                 context->foreign);
}

/* The step comes after all that the blocking streams of the context were asked for. */
static void hold_context(struct gt_order *order, struct gt_order_context *context, gt_step_index step)
{
    for (uint32_t i = 0; i < context->asked_count; i++) {
        gt_steps_order(&order->steps, gt_order_last(order, context->asked[i]), step);
        order->streams[context->asked[i]].asked = false;
    }
    context->asked_count = 0;
}

static void ask_context(struct gt_order *order, struct gt_order_context *context, gt_stream_index stream)
{
    if (order->streams[stream].asked)
        return;
    gt_array_grow(context->asked, context->asked_count, context->asked_room);
    context->asked[context->asked_count++] = stream;
    order->streams[stream].asked = true;
}

gt_step_index gt_order_ask(struct gt_order *order, gt_thread_index thread, gt_stream_index index,
                           enum gt_step_kind kind, uint32_t what)
{
    struct gt_order_stream *stream = &order->streams[index];
    struct gt_order_context *context = &order->contexts[stream->context];
    gt_step_index held = held_by(order, context), step = gt_steps_add(&order->steps, stream->line, kind, what);

    come_after(order, &stream->after_thread, gt_order_seen(order, thread), step);
    if (order->w->streams[index].flags & GT_STREAM_NON_BLOCKING)
        return step;
    come_after(order, &stream->after_default, held, step);
    if (context->null_stream == index)
        hold_context(order, context, step);
    else
        ask_context(order, context, index);
    return step;
}

void gt_order_hold_peer(struct gt_order *order, const struct gt_op *op, gt_step_index step)
{
    const struct gt_order_stream *stream = &order->streams[op->stream];

    if (op->kind != GT_OP_COPY || op->direction != GT_P2P || op->peer_gpu == GT_NONE ||
        order->contexts[stream->context].null_stream != op->stream)
        return;
    for (uint32_t i = 0; i < order->context_count; i++) {
        struct gt_order_context *context = &order->contexts[i];

        if (context->gpu != op->peer_gpu || context->process != stream->process)
            continue;
        gt_steps_order(&order->steps, held_by(order, context), step);
        hold_context(order, context, step);
        context->foreign = step;
    }
}

enum gt_step_kind gt_order_op_kind(const struct gt_order *order, gt_op_index op)
{
    return gt_collective_kernel(order->w, op) != NULL ? GT_STEP_PART : GT_STEP_OP;
}

void gt_order_op(struct gt_order *order, gt_op_index index, gt_step_index step)
{
    const struct gt_op *op = &order->w->ops[index];
    bool graph = order->w->calls[op->call].kind == GT_CALL_GRAPH_LAUNCH;

    for (uint32_t i = 0; i < op->afters; i++) {
        gt_op_index before = order->w->afters[op->first_after + i];

        if (!graph || order->w->ops[before].call != op->call) /* else it is an edge of its graph */
            gt_steps_order(&order->steps, order->ended[before], step);
    }
    if (order->guesses != NULL && order->guesses[index] != GT_NONE)
        gt_steps_order(&order->steps, order->ended[order->guesses[index]], step);
    order->ended[index] = gt_collective_kernel(order->w, index) != NULL ? gt_order_part(order, index, step) : step;
}
