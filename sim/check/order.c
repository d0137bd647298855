#include "sim/check/order.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"

uint64_t gt_order_unknown_waits(const struct gt_order *order)
{
    return order->unknown_waits;
}

/* The thread has seen the end of all that `line` has come to. */
static void see(struct gt_line *seen, const struct gt_line *line)
{
    if (gt_line_join(seen, line))
        gt_line_next(seen);
}

/* Synchronisations of the process that had returned when a call of one of its threads began. */
static void see_returned(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_thread *thread = &order->threads[call->thread];
    struct gt_order_process *process = &order->processes[thread->process];
    uint32_t kept = 0;

    if (call->start_ps == GT_TIME_NONE)
        return;
    for (uint32_t i = 0; i < process->pending_count; i++) {
        if (process->pending[i].end_ps > call->start_ps) {
            process->pending[kept++] = process->pending[i];
            continue;
        }
        see(&process->seen, &process->pending[i].line);
        gt_line_free(&process->pending[i].line);
    }
    process->pending_count = kept;
    if (gt_line_join(&thread->seen, &process->seen))
        thread->told = gt_line_next(&thread->seen).number;
}

/* The call has let its thread see ends: so will it the others, where it is known when it returned. */
static void tell_process(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_thread *thread = &order->threads[call->thread];
    struct gt_order_process *process = &order->processes[thread->process];
    gt_time_ps end_ps = gt_call_measured_end(call);

    if (end_ps == GT_TIME_NONE || thread->seen.number == thread->told)
        return;
    thread->told = thread->seen.number;
    gt_array_grow(process->pending, process->pending_count, process->pending_room);
    process->pending[process->pending_count++] = (struct gt_order_pending){ end_ps, gt_line_copy(&thread->seen) };
}

struct gt_order_stream *gt_order_ask(struct gt_order *order, gt_thread_index thread, gt_stream_index index)
{
    struct gt_order_stream *stream = &order->streams[index];
    struct gt_order_context *context = &order->contexts[stream->context];

    gt_line_join(&stream->line, &order->threads[thread].seen);
    if (context->null_stream == GT_NONE || order->w->streams[index].flags & GT_STREAM_NON_BLOCKING)
        return stream;
    if (context->null_stream != index) {
        gt_line_join(&stream->line, &order->streams[context->null_stream].line);
        if (!stream->asked) {
            gt_array_grow(context->asked, context->asked_count, context->asked_room);
            context->asked[context->asked_count++] = index;
            stream->asked = true;
        }
        return stream;
    }
    for (uint32_t i = 0; i < context->asked_count; i++) {
        gt_line_join(&stream->line, &order->streams[context->asked[i]].line);
        order->streams[context->asked[i]].asked = false;
    }
    context->asked_count = 0;
    return stream;
}

void gt_order_join_afters(struct gt_order *order, gt_op_index index, struct gt_line *line)
{
    const struct gt_op *op = &order->w->ops[index];

    for (uint32_t i = 0; i < op->afters; i++) {
        gt_op_index before = order->w->afters[op->first_after + i];

        if (order->wanted != NULL && order->wanted[before])
            gt_line_join(line, &order->ended[before]);
    }
    if (order->guesses != NULL && order->guesses[index] != GT_NONE && order->ended[order->guesses[index]].number > 0)
        gt_line_join(line, &order->ended[order->guesses[index]]);
}

void gt_order_tell(struct gt_order *order, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp)
{
    if (order->wanted != NULL && order->wanted[op])
        order->ended[op] = gt_line_copy(line);
    order->visit(order->user, op, line, stamp);
}

/* As gt_call_waits_for_end() has it, without a device: what is copied in from pageable memory may be staged. */
static bool waits_for_end(const struct gt_workload *w, const struct gt_call *call, const struct gt_op *op)
{
    bool legacy = w->streams[op->stream].flags & GT_STREAM_LEGACY_DEFAULT;

    if (op->kind != GT_OP_COPY && op->kind != GT_OP_MEMSET)
        return false;
    if (call->flags & GT_CALL_SYNCHRONOUS && !legacy)
        return true;
    if (op->kind == GT_OP_MEMSET || op->direction == GT_D2D ||
        (op->direction == GT_H2D && op->memory == GT_MEMORY_PAGEABLE))
        return false;
    return op->memory == GT_MEMORY_PAGEABLE || call->flags & GT_CALL_SYNCHRONOUS;
}

static void submit(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
        struct gt_order_stream *stream = gt_order_ask(order, call->thread, order->w->ops[op].stream);
        struct gt_line begun;
        struct gt_stamp stamp;

        gt_order_join_afters(order, op, &stream->line);
        begun = gt_order_begin_part(order, op, &stream->line);
        stamp = gt_line_next(&stream->line);
        gt_order_tell(order, op, &stream->line, stamp);
        gt_order_end_part(order, op, stream, &begun, &stream->line);
        if (waits_for_end(order->w, call, &order->w->ops[op]))
            see(&order->threads[call->thread].seen, &stream->line);
    }
}

static void submit_graph(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_stream *ask;
    struct gt_line *last;
    gt_stream_index stream;

    if (call->ops == 0)
        return;
    stream = call->stream != GT_NONE ? call->stream : order->w->ops[call->first_op].stream;
    ask = gt_order_ask(order, call->thread, stream);
    last = order->executable_of_call != NULL && order->executable_of_call[index] != GT_NONE
               ? &order->executables[order->executable_of_call[index]]
               : NULL;
    if (last != NULL)
        gt_line_join(&ask->line, last);
    gt_order_graph(order, index, ask);
    if (last == NULL)
        return;
    gt_line_free(last);
    *last = gt_line_copy(&ask->line);
}

/* All streams of the calling process; of one context where the call names a stream of it. */
static void see_streams(struct gt_order *order, const struct gt_call *call, gt_stream_index of)
{
    uint64_t process = order->w->threads[call->thread].process;

    for (uint32_t i = 0; i < order->w->stream_count; i++)
        if (order->streams[i].used && order->streams[i].process == process &&
            (of == GT_NONE || order->streams[i].context == order->streams[of].context))
            see(&order->threads[call->thread].seen, &order->streams[i].line);
}

static void see_unknown(struct gt_order *order, const struct gt_call *call)
{
    order->unknown_waits++;
    see_streams(order, call, GT_NONE);
}

static void record_event(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_stream *stream;

    if (call->stream == GT_NONE || call->event == GT_NONE)
        return;
    stream = gt_order_ask(order, call->thread, call->stream);
    gt_line_next(&stream->line);
    gt_line_free(&order->events[call->event].line);
    order->events[call->event] = (struct gt_order_event){ gt_line_copy(&stream->line), true };
}

/* Of the wait only the stream was recorded. */
static void wait_for_all(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_stream *stream = gt_order_ask(order, call->thread, call->stream);

    order->unknown_waits++;
    for (uint32_t i = 0; i < order->w->stream_count && order->guesses == NULL; i++)
        if (i != call->stream && order->streams[i].used && order->streams[i].process == stream->process)
            gt_line_join(&stream->line, &order->streams[i].line);
    gt_line_next(&stream->line);
}

static void wait_event(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_order_stream *stream;

    if (call->stream == GT_NONE) {
        if (order->guesses == NULL)
            see_unknown(order, call);
        return;
    }
    if (call->event == GT_NONE) {
        wait_for_all(order, call);
        return;
    }
    if (!order->events[call->event].recorded)
        return;
    stream = gt_order_ask(order, call->thread, call->stream);
    gt_line_join(&stream->line, &order->events[call->event].line);
    gt_line_next(&stream->line);
}

/* A new event under its name, or its end: there is no record of it. */
static void forget_event(struct gt_order *order, gt_call_index index)
{
    gt_event_index event = order->w->calls[index].event;

    if (event == GT_NONE)
        return;
    gt_line_free(&order->events[event].line);
    order->events[event].recorded = false;
}

static void sync_stream(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream == GT_NONE)
        see_unknown(order, call);
    else
        see(&order->threads[call->thread].seen, &order->streams[call->stream].line);
}

static void sync_event(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->event == GT_NONE)
        see_unknown(order, call);
    else if (order->events[call->event].recorded)
        see(&order->threads[call->thread].seen, &order->events[call->event].line);
}

static void sync_device(struct gt_order *order, gt_call_index index)
{
    see_streams(order, &order->w->calls[index], order->w->calls[index].stream);
}

/* A poll that gives up may have seen nothing. */
static void poll(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->most_pieces != 0)
        return;
    if (call->event != GT_NONE)
        sync_event(order, index);
    else
        sync_stream(order, index);
}

static void free_buffer(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream == GT_NONE)
        see_streams(order, call, GT_NONE);
    else
        gt_line_next(&gt_order_ask(order, call->thread, call->stream)->line);
}

static void allocate(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    if (call->stream != GT_NONE)
        gt_line_next(&gt_order_ask(order, call->thread, call->stream)->line);
}

static void record_stream(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];

    gt_array_grow(order->records, order->record_count, order->record_room);
    order->records[order->record_count++] = (struct gt_order_record){ call->buffer, call->stream };
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
        [GT_CALL_STREAM_SYNC] = sync_stream,
        [GT_CALL_EVENT_CREATE] = forget_event,
        [GT_CALL_EVENT_RECORD] = record_event,
        [GT_CALL_EVENT_WAIT] = wait_event,
        [GT_CALL_EVENT_SYNC] = sync_event,
        [GT_CALL_DEVICE_SYNC] = sync_device,
        [GT_CALL_ALLOC] = allocate,
        [GT_CALL_FREE] = free_buffer,
        [GT_CALL_POLL] = poll,
        [GT_CALL_RECORD_STREAM] = record_stream,
        [GT_CALL_OTHER] = other,
    };
    const struct gt_call *call = &order->w->calls[index];

    see_returned(order, call);
    if (of_kind[call->kind] != NULL)
        of_kind[call->kind](order, index);
    tell_process(order, call);
}

struct gt_freed gt_order_freed(struct gt_order *order, gt_call_index index)
{
    const struct gt_call *call = &order->w->calls[index];
    bool in_stream = call->stream != GT_NONE;
    struct gt_freed freed = {
        .line = gt_line_copy(in_stream ? &order->streams[call->stream].line : &order->threads[call->thread].seen),
        .in_stream = in_stream,
    };
    uint32_t kept = 0, room = 0;

    for (uint32_t i = 0; i < order->record_count; i++) {
        if (order->records[i].buffer != call->buffer) {
            order->records[kept++] = order->records[i];
            continue;
        }
        gt_array_grow(freed.recorded, freed.recorded_count, room);
        freed.recorded[freed.recorded_count++] = gt_line_copy(&order->streams[order->records[i].stream].line);
    }
    order->record_count = kept;
    return freed;
}

void gt_freed_free(struct gt_freed *freed)
{
    gt_line_free(&freed->line);
    for (uint32_t i = 0; i < freed->recorded_count; i++)
        gt_line_free(&freed->recorded[i]);
    free(freed->recorded);
    *freed = (struct gt_freed){ .recorded = NULL };
}

void gt_order_reuse(struct gt_order *order, gt_call_index index, const struct gt_freed *freed)
{
    const struct gt_call *call = &order->w->calls[index];
    struct gt_line *seen = &order->threads[call->thread].seen, *stream;

    for (uint32_t i = 0; i < freed->recorded_count; i++)
        see(seen, &freed->recorded[i]);
    if (!freed->in_stream || call->stream == GT_NONE)
        see(seen, &freed->line);
    if (call->stream == GT_NONE)
        return;
    stream = &order->streams[call->stream].line;
    gt_line_join(stream, seen);
    gt_line_join(stream, &freed->line);
    gt_line_next(stream);
}
