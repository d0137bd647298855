#include "sim/check/order.h"

#include <string.h>

#include "sim/check/order_parts.h"
#include "sim/workload/host_waits.h"

uint64_t gt_order_unknown_waits(const struct gt_order *order)
{
    return order->unknown_waits;
}

static void submit(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    for (gt_op_index i = call->first_op; i < call->first_op + call->ops; i++) {
        const struct gt_op *op = &order->w->ops[i];
        enum gt_host_wait wait = gt_op_host_wait(order->w, call, op, GT_HOST_WAITS_PROMISED);
        gt_step_index step;

        if (wait == GT_HOST_WAIT_STREAM_THEN_STAGED)
            gt_order_see_stream(order, call->thread, op->stream);
        step = gt_order_ask(order, call->thread, op->stream, gt_order_op_kind(order, i), i);
        gt_order_hold_peer(order, op, step);
        gt_order_op(order, i, step);
        if (wait == GT_HOST_WAIT_OPERATION)
            gt_order_see(order, call->thread, order->ended[i]);
    }
}

static void submit_graph(struct gt_order *order, gt_call_index index)
{
    uint32_t executable = order->executable_of_call != NULL ? order->executable_of_call[index] : GT_NONE;
    const struct gt_call *call = &order->w->calls[index];
    gt_stream_index stream = call->stream;
    gt_step_index step;

    if (stream == GT_NONE && call->ops > 0)
        stream = order->w->ops[call->first_op].stream;
    if (stream == GT_NONE)
        return;
    step = gt_order_ask(order, call->thread, stream, GT_STEP_PLAIN, GT_NONE);
    if (executable != GT_NONE)
        gt_steps_order(&order->steps, order->executables[executable], step);
    step = gt_order_graph(order, call, stream);
    if (executable != GT_NONE)
        order->executables[executable] = step;
}

/* A wait or synchronisation of which the target was not recorded. */
static void see_unknown(struct gt_order *order, const struct gt_call *call)
{
    order->unknown_waits++;
    gt_order_see_streams(order, call->thread, GT_NONE, GT_NONE);
}

static void record_event(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream != GT_NONE && call->event != GT_NONE)
        order->events[call->event] = gt_order_ask(order, call->thread, call->stream, GT_STEP_PLAIN, GT_NONE);
}

/* Of the wait only the stream was recorded. */
static void wait_for_all(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_stream *stream = &order->streams[call->stream];
    gt_step_index step = gt_order_ask(order, call->thread, call->stream, GT_STEP_PLAIN, GT_NONE);

    order->unknown_waits++;
    if (order->guesses != NULL)
        return;
    for (uint32_t i = 0; i < order->w->stream_count; i++) {
        gt_step_index last = gt_order_last(order, i);

        if (i != call->stream && order->streams[i].used && order->streams[i].process == stream->process &&
            last != GT_NONE && (stream->after_all == GT_NONE || last > stream->after_all))
            gt_steps_order(&order->steps, last, step);
    }
    stream->after_all = step;
}

static void wait_event(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream == GT_NONE) {
        if (order->guesses == NULL)
            see_unknown(order, call);
        return;
    }
    if (call->event == GT_NONE) {
        wait_for_all(order, call);
        return;
    }
    if (order->events[call->event] != GT_NONE)
        gt_steps_order(&order->steps, order->events[call->event],
                       gt_order_ask(order, call->thread, call->stream, GT_STEP_PLAIN, GT_NONE));
}

/* A new event under its name, or its end: there is no record of it. */
static void forget_event(struct gt_order *order, gt_call_index index)
{
    gt_event_index event = order->w->calls[index].event;

    if (event != GT_NONE)
        order->events[event] = GT_NONE;
}

/* The GPU whose memory is given back, where the process works there; else GT_NONE: any. */
static gt_gpu_index freed_on(const struct gt_order *order, const struct gt_call *call)
{
    gt_gpu_index gpu = order->w->buffers[call->buffer].gpu;
    uint64_t process = order->w->threads[call->thread].process;

    for (uint32_t i = 0; i < order->context_count; i++)
        if (order->contexts[i].gpu == gpu && order->contexts[i].process == process)
            return gpu;
    return GT_NONE;
}

void gt_order_synchronise(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    switch (gt_call_host_wait(order->w, call, GT_HOST_WAITS_PROMISED)) {
    case GT_HOST_WAIT_EVENT: gt_order_see(order, call->thread, order->events[call->event]); break;
    case GT_HOST_WAIT_STREAM: gt_order_see(order, call->thread, gt_order_last(order, call->stream)); break;
    case GT_HOST_WAIT_BLOCKING_STREAMS: gt_order_see_stream(order, call->thread, call->stream); break;
    case GT_HOST_WAIT_GPU: gt_order_see_streams(order, call->thread, GT_NONE, freed_on(order, call)); break;
    case GT_HOST_WAIT_CONTEXT:
        gt_order_see_streams(order, call->thread, order->streams[call->stream].context, GT_NONE);
        break;
    case GT_HOST_WAIT_PROCESS: gt_order_see_streams(order, call->thread, GT_NONE, GT_NONE); break;
    case GT_HOST_WAIT_UNKNOWN: see_unknown(order, call); break;
    default: break;
    }
}

static void other(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->name != GT_NONE && strstr(gt_name_text(order->w, call->name), "EventDestroy") != NULL)
        forget_event(order, index);
}

void gt_order_call(struct gt_order *order, gt_call_index index)
{
    static void (*const of_kind[GT_CALL_KINDS])(struct gt_order *, gt_call_index) = {
        [GT_CALL_LAUNCH] = submit,
        [GT_CALL_GRAPH_LAUNCH] = submit_graph,
        [GT_CALL_COPY] = submit,
        [GT_CALL_MEMSET] = submit,
        [GT_CALL_HOST_FUNCTION] = submit,
        [GT_CALL_STREAM_SYNC] = gt_order_synchronise,
        [GT_CALL_EVENT_CREATE] = forget_event,
        [GT_CALL_EVENT_RECORD] = record_event,
        [GT_CALL_EVENT_WAIT] = wait_event,
        [GT_CALL_EVENT_SYNC] = gt_order_synchronise,
        [GT_CALL_DEVICE_SYNC] = gt_order_synchronise,
        [GT_CALL_ALLOC] = gt_order_alloc,
        [GT_CALL_FREE] = gt_order_release,
        [GT_CALL_POLL] = gt_order_synchronise,
        [GT_CALL_RECORD_STREAM] = gt_order_record_stream,
        [GT_CALL_OTHER] = other,
    };
    const struct gt_call *call = &order->w->calls[index];

    gt_order_see_returned(order, call);
    if (of_kind[call->kind] != NULL)
        of_kind[call->kind](order, index);
    gt_order_tell_process(order, call);
}
