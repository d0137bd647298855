/* What threads see end, and so know of before they ask for more. */
#include <string.h>

#include "sim/base/array.h"
#include "sim/check/order_parts.h"
#include "sim/workload/host_waits.h"

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
