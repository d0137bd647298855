/* The begin and the end: which streams, contexts, processes and threads there are. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order.h"
#include "sim/check/order_parts.h"
#include "sim/replay/replay.h"
#include "sim/workload/executables.h"
#include "sim/workload/host_waits.h"
#include "sim/workload/processes.h"

static uint32_t find_context(struct gt_order *order, const struct gt_stream *stream, uint64_t process)
{
    for (uint32_t i = 0; i < order->context_count; i++)
        if (order->contexts[i].gpu == stream->gpu && order->contexts[i].id == stream->context &&
            order->contexts[i].process == process)
            return i;
    gt_array_grow(order->contexts, order->context_count, order->context_room);
    order->contexts[order->context_count] = (struct gt_order_context){
        .gpu = stream->gpu, .id = stream->context, .process = process, .null_stream = GT_NONE, .foreign = GT_NONE
    };
    return order->context_count++;
}

static uint32_t find_process(struct gt_order *order, uint64_t id)
{
    for (uint32_t i = 0; i < order->process_count; i++)
        if (order->processes[i].id == id)
            return i;
    gt_array_grow(order->processes, order->process_count, order->process_room);
    order->processes[order->process_count] =
        (struct gt_order_process){ .id = id, .line = gt_steps_add_line(&order->steps) };
    return order->process_count++;
}

static void make_streams(struct gt_order *order)
{
    const struct gt_workload *w = order->w;
    uint64_t *processes = gt_stream_processes(w);

    order->streams = gt_calloc(w->stream_count + 1ull, sizeof *order->streams);
    for (uint32_t i = 0; i < w->stream_count; i++) {
        struct gt_order_stream *stream = &order->streams[i];
        struct gt_order_context *context;

        *stream = (struct gt_order_stream){ .line = gt_steps_add_line(&order->steps),
                                            .process = processes[i],
                                            .used = processes[i] != GT_PROCESS_NONE,
                                            .after_thread = GT_NONE,
                                            .after_default = GT_NONE,
                                            .after_all = GT_NONE,
                                            .synced_by = GT_NONE };
        stream->context = find_context(order, &w->streams[i], stream->process);
        context = &order->contexts[stream->context];
        if (w->streams[i].flags & GT_STREAM_LEGACY_DEFAULT && context->null_stream == GT_NONE)
            context->null_stream = i;
    }
    free(processes);
}

static void make_threads(struct gt_order *order)
{
    const struct gt_workload *w = order->w;

    order->threads = gt_calloc(w->thread_count + 1ull, sizeof *order->threads);
    for (uint32_t i = 0; i < w->thread_count; i++)
        order->threads[i] = (struct gt_order_thread){ .line = gt_steps_add_line(&order->steps),
                                                      .told = GT_NONE,
                                                      .from_them = GT_NONE,
                                                      .process = find_process(order, w->threads[i].process) };
}

static gt_step_index *none(uint64_t count)
{
    gt_step_index *steps = gt_realloc(NULL, count + 1, sizeof *steps);

    memset(steps, 0xff, (count + 1) * sizeof *steps); /* GT_NONE */
    return steps;
}

gt_op_index *gt_order_guesses(const struct gt_workload *w)
{
    gt_op_index *guesses = gt_realloc(NULL, w->op_count + 1ull, sizeof *guesses);
    struct gt_replay replay;
    struct gt_device device;

    gt_device_init(&device);
    gt_replay_make(&replay, w, &device, &device, NULL, true);
    memset(guesses, 0xff, (w->op_count + 1ull) * sizeof *guesses); /* GT_NONE */
    for (gt_op_index i = 0; i < w->op_count && replay.inferred_waits > 0; i++) {
        for (uint32_t j = replay.edge_from[i]; j < replay.edge_from[i + 1]; j++)
            if (w->ops[replay.edge_to[j]].stream != w->ops[i].stream)
                guesses[replay.edge_to[j]] = i;
    }
    gt_replay_free(&replay);
    return guesses;
}

struct gt_order *gt_order_new(const struct gt_workload *w, const gt_op_index *guesses)
{
    struct gt_order *order = gt_calloc(1, sizeof *order);
    uint32_t executables;

    order->w = w;
    order->guesses = guesses;
    make_streams(order);
    make_threads(order);
    order->events = none(w->event_count);
    order->ended = none(w->op_count);
    order->instances = gt_order_collectives_new(w);
    order->memory = gt_order_memory_new(w);
    order->executable_of_call = gt_executables_of_calls(w, &executables);
    order->executables = none(executables);
    order->of_call = gt_calloc(w->call_count + 1ull, sizeof *order->of_call);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        order->of_call[i] = order->steps.count;
        gt_order_call(order, i);
    }
    order->of_call[w->call_count] = order->steps.count;
    return order;
}

void gt_order_walk(const struct gt_order *order, const struct gt_step_visitor *visitor, void *user)
{
    gt_steps_walk(&order->steps, visitor, user);
}

void gt_order_free(struct gt_order *order)
{
    for (uint32_t i = 0; i < order->w->stream_count; i++)
        free(order->streams[i].chains);
    for (uint32_t i = 0; i < order->context_count; i++)
        free(order->contexts[i].asked);
    for (uint32_t i = 0; i < order->process_count; i++)
        free(order->processes[i].pending);
    gt_order_collectives_free(order->instances);
    gt_order_memory_free(order->memory);
    gt_steps_free(&order->steps);
    free(order->streams);
    free(order->contexts);
    free(order->processes);
    free(order->threads);
    free(order->events);
    free(order->ended);
    free(order->of_call);
    free(order->executable_of_call);
    free(order->executables);
    free(order);
}

/* What threads see end, and so know of before they ask for more. */

void gt_order_see(struct gt_order *order, gt_thread_index thread, gt_step_index step)
{
    if (step != GT_NONE)
        gt_steps_order(&order->steps, step,
                       gt_steps_add(&order->steps, order->threads[thread].line, GT_STEP_PLAIN, GT_NONE));
}

void gt_order_see_stream(struct gt_order *order, gt_thread_index thread, gt_stream_index index)
{
    gt_order_see(order, thread, gt_order_last(order, index));
    if (gt_stream_host_wait(order->w, index) != GT_HOST_WAIT_BLOCKING_STREAMS)
        return;
    for (uint32_t i = 0; i < order->w->stream_count; i++)
        if (i != index && order->streams[i].used && order->streams[i].context == order->streams[index].context &&
            !(order->w->streams[i].flags & GT_STREAM_NON_BLOCKING))
            gt_order_see(order, thread, gt_order_last(order, i));
}

void gt_order_see_streams(struct gt_order *order, gt_thread_index thread, uint32_t context, gt_gpu_index gpu)
{
    uint64_t process = order->w->threads[thread].process;
    gt_step_index seen = GT_NONE;

    for (uint32_t i = 0; i < order->w->stream_count; i++) {
        struct gt_order_stream *stream = &order->streams[i];
        gt_step_index last = gt_order_last(order, i);

        if (!stream->used || stream->process != process || (context != GT_NONE && stream->context != context) ||
            (gpu != GT_NONE && order->w->streams[i].gpu != gpu) || last == GT_NONE ||
            (stream->synced_by == thread && stream->synced == last))
            continue;
        if (seen == GT_NONE)
            seen = gt_steps_add(&order->steps, order->threads[thread].line, GT_STEP_PLAIN, GT_NONE);
        gt_steps_order(&order->steps, last, seen);
        stream->synced_by = thread;
        stream->synced = last;
    }
}

/* Synchronisations of the process that had returned when a call of one of its threads began. */
void gt_order_see_returned(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_thread *thread = &order->threads[call->thread];
    struct gt_order_process *process = &order->processes[thread->process];
    gt_step_index seen = GT_NONE;
    uint32_t kept = 0;

    if (call->start_ps == GT_TIME_NONE)
        return;
    for (uint32_t i = 0; i < process->pending_count; i++) {
        if (process->pending[i].end_ps > call->start_ps) {
            process->pending[kept++] = process->pending[i];
            continue;
        }
        if (seen == GT_NONE)
            seen = gt_steps_add(&order->steps, process->line, GT_STEP_PLAIN, GT_NONE);
        gt_steps_order(&order->steps, process->pending[i].seen, seen);
    }
    process->pending_count = kept;
    seen = order->steps.last[process->line];
    if (seen == thread->from_them)
        return;
    gt_order_see(order, call->thread, seen);
    thread->from_them = seen;
    thread->told = gt_order_seen(order, call->thread);
}

/* The call has let its thread see ends: so will it the others, where it is known when it returned. */
void gt_order_tell_process(struct gt_order *order, const struct gt_call *call)
{
    struct gt_order_thread *thread = &order->threads[call->thread];
    struct gt_order_process *process = &order->processes[thread->process];
    gt_time_ps end_ps = gt_call_measured_end(call);
    gt_step_index seen = gt_order_seen(order, call->thread);

    if (end_ps == GT_TIME_NONE || seen == thread->told)
        return;
    thread->told = seen;
    gt_array_grow(process->pending, process->pending_count, process->pending_room);
    process->pending[process->pending_count++] = (struct gt_order_pending){ end_ps, seen };
}
