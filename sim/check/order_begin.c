/* The begin and the end of a walk: which streams, contexts, processes and threads there are. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/replay/replay.h"
#include "sim/workload/executables.h"

static uint32_t find_context(struct gt_order *order, gt_gpu_index gpu, uint32_t id)
{
    for (uint32_t i = 0; i < order->context_count; i++)
        if (order->contexts[i].gpu == gpu && order->contexts[i].id == id)
            return i;
    gt_array_grow(order->contexts, order->context_count, order->context_room);
    order->contexts[order->context_count] = (struct gt_order_context){ gpu, id, GT_NONE, NULL, 0, 0 };
    return order->context_count++;
}

static uint32_t find_process(struct gt_order *order, uint64_t id)
{
    for (uint32_t i = 0; i < order->process_count; i++)
        if (order->processes[i].id == id)
            return i;
    gt_array_grow(order->processes, order->process_count, order->process_room);
    order->processes[order->process_count] =
        (struct gt_order_process){ .id = id, .seen = gt_line_new(order->line_count++) };
    return order->process_count++;
}

static void make_streams(struct gt_order *order)
{
    const struct gt_workload *w = order->w;

    order->streams = gt_calloc(w->stream_count + 1ull, sizeof *order->streams);
    for (uint32_t i = 0; i < w->stream_count; i++) {
        struct gt_order_stream *stream = &order->streams[i];
        struct gt_order_context *context;

        stream->line = gt_line_new(order->line_count++);
        stream->context = find_context(order, w->streams[i].gpu, w->streams[i].context);
        context = &order->contexts[stream->context];
        if (w->streams[i].flags & GT_STREAM_LEGACY_DEFAULT && context->null_stream == GT_NONE)
            context->null_stream = i;
    }
}

static void use_stream(struct gt_order *order, gt_stream_index stream, uint64_t process)
{
    if (stream == GT_NONE || order->streams[stream].used)
        return;
    order->streams[stream].used = true;
    order->streams[stream].process = process;
}

/* A stream is of the process that uses it first, be it only for a record or a wait. */
static void find_processes(struct gt_order *order)
{
    const struct gt_workload *w = order->w;

    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        uint64_t process = w->threads[call->thread].process;

        use_stream(order, call->stream, process);
        for (uint32_t op = call->first_op; op < call->first_op + call->ops; op++)
            use_stream(order, w->ops[op].stream, process);
    }
}

/* Others come after it. */
static void want(struct gt_order *order, gt_op_index op)
{
    if (order->wanted == NULL) {
        order->wanted = gt_calloc(order->w->op_count, sizeof *order->wanted);
        order->ended = gt_calloc(order->w->op_count, sizeof *order->ended);
    }
    order->wanted[op] = true;
}

static void find_wanted(struct gt_order *order)
{
    const struct gt_workload *w = order->w;

    for (uint32_t i = 0; i < w->op_count; i++) {
        for (uint32_t j = 0; j < w->ops[i].afters; j++) {
            gt_op_index before = w->afters[w->ops[i].first_after + j];

            if (w->ops[before].call == w->ops[i].call && w->calls[w->ops[i].call].kind == GT_CALL_GRAPH_LAUNCH)
                continue;
            want(order, before);
        }
        if (order->guesses != NULL && order->guesses[i] != GT_NONE)
            want(order, order->guesses[i]);
    }
}

gt_op_index *gt_order_guesses(const struct gt_workload *w)
{
    gt_op_index *guesses = gt_realloc(NULL, w->op_count + 1ull, sizeof *guesses);
    struct gt_replay replay;
    struct gt_device device;

    gt_device_init(&device);
    gt_replay_make(&replay, w, &device, &device, NULL);
    memset(guesses, 0xff, (w->op_count + 1ull) * sizeof *guesses); /* GT_NONE */
    for (gt_op_index i = 0; i < w->op_count && replay.inferred_waits > 0; i++) {
        for (uint32_t j = replay.edge_from[i]; j < replay.edge_from[i + 1]; j++)
            if (w->ops[replay.edge_to[j]].stream != w->ops[i].stream)
                guesses[replay.edge_to[j]] = i;
    }
    gt_replay_free(&replay);
    return guesses;
}

struct gt_order *gt_order_new(const struct gt_workload *w, const gt_op_index *guesses, gt_order_visitor *visit,
                              void *user)
{
    struct gt_order *order = gt_calloc(1, sizeof *order);

    order->w = w;
    order->guesses = guesses;
    order->visit = visit;
    order->user = user;
    make_streams(order);
    order->threads = gt_calloc(w->thread_count + 1ull, sizeof *order->threads);
    for (uint32_t i = 0; i < w->thread_count; i++) {
        order->threads[i].process = find_process(order, w->threads[i].process);
        order->threads[i].seen = gt_line_new(order->line_count++);
    }
    order->events = gt_calloc(w->event_count + 1ull, sizeof *order->events);
    find_processes(order);
    find_wanted(order);
    order->meetings = gt_order_meetings_new(w);
    order->executable_of_call = gt_executables_of_calls(w, &order->executable_count);
    order->executables = gt_calloc(order->executable_count + 1ull, sizeof *order->executables);
    return order;
}

static void free_streams(struct gt_order *order)
{
    for (uint32_t i = 0; i < order->w->stream_count; i++) {
        gt_line_free(&order->streams[i].line);
        free(order->streams[i].chains);
        free(order->streams[i].reached);
    }
    for (uint32_t i = 0; i < order->context_count; i++)
        free(order->contexts[i].asked);
    free(order->streams);
    free(order->contexts);
}

void gt_order_free(struct gt_order *order)
{
    free_streams(order);
    gt_order_meetings_free(order->meetings);
    for (uint32_t i = 0; i < order->w->thread_count; i++)
        gt_line_free(&order->threads[i].seen);
    for (uint32_t i = 0; i < order->w->event_count; i++)
        gt_line_free(&order->events[i].line);
    for (uint32_t i = 0; i < order->w->op_count && order->ended != NULL; i++)
        gt_line_free(&order->ended[i]);
    for (uint32_t i = 0; i < order->process_count; i++) {
        for (uint32_t j = 0; j < order->processes[i].pending_count; j++)
            gt_line_free(&order->processes[i].pending[j].line);
        gt_line_free(&order->processes[i].seen);
        free(order->processes[i].pending);
    }
    for (uint32_t i = 0; i < order->executable_count; i++)
        gt_line_free(&order->executables[i]);
    free(order->executables);
    free(order->executable_of_call);
    free(order->threads);
    free(order->events);
    free(order->records);
    free(order->processes);
    free(order->ended);
    free(order->wanted);
    free(order);
}
