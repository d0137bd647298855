/* Streams: commands in order, each when the one before is complete and what it waits for has happened. */
#include "sim/stream/stream.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/default_stream.h"
#include "sim/stream/graph.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/operation.h"
#include "sim/stream/waiting.h"

int gt_stream_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_stream_state *stream = &m->streams[number];

    (void)error;
    if (stamp != stream->wake_stamp)
        return 0;
    stream->wake_ps = GT_TIME_NONE;
    gt_stream_advance(m, number);
    return m->failed ? -1 : 0;
}

static void release(struct gt_machine *m, const struct gt_waiter *waiter, uint32_t cause_op)
{
    struct gt_mark mark = { m->engine.now_ps, GT_CAUSE_OP, cause_op };

    if (waiter->kind == GT_WAITER_THREAD) {
        gt_thread_release(m, waiter->index, cause_op);
        return;
    }
    if (waiter->kind == GT_WAITER_EVENT)
        m->streams[waiter->index].event = mark;
    else
        m->streams[waiter->index].barrier = mark;
    gt_stream_wake(m, waiter->index, m->engine.now_ps);
}

static void release_waiters(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];

    while (stream->waiters != GT_NONE && m->waiters[stream->waiters].number <= stream->completed) {
        struct gt_waiter waiter = m->waiters[stream->waiters];
        uint32_t done = stream->waiters;

        stream->waiters = waiter.next;
        gt_waiter_free(m, done);
        release(m, &waiter, stream->last_op);
    }
}

/* A record that is still its event's last one: waits reached from now on find it complete. */
static void note_record(struct gt_machine *m, uint32_t number)
{
    const struct gt_stream_command *command = &m->commands[number];
    struct gt_event_state *event = &m->events[m->workload->calls[command->index].event];

    if (event->number == command->number && event->stream == command->stream)
        event->completed = (struct gt_mark){ m->engine.now_ps, GT_CAUSE_OP,
                                             m->streams[command->stream].last_op };
}

/* The head is complete: the next one is the head. */
void gt_stream_complete(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];
    uint32_t command = stream->head;

    if (m->commands[command].kind == GT_COMMAND_RECORD)
        note_record(m, command);
    gt_hw_queue_leave(m, command);
    stream->completed = m->commands[command].number;
    stream->head = m->commands[command].next;
    stream->on_barrier = false;
    if (stream->head == GT_NONE)
        stream->tail = GT_NONE;
    gt_stream_command_free(m, command);
    release_waiters(m, number);
    gt_default_stream_complete(m, number);
}

/* A wait that came to its stream's head after the record was complete, as behind it in one hardware
 * queue: what follows keeps the gap to the record all the same. */
static void pass_wait(struct gt_machine *m, const struct gt_stream_command *command)
{
    const struct gt_event_state *event = &m->events[m->workload->calls[command->index].event];
    struct gt_mark *mark = &m->streams[command->stream].event;

    if (!command->waiting && event->number == command->target_number && event->stream == command->target_stream &&
        event->completed.index != GT_NONE && event->completed.time_ps > mark->time_ps)
        *mark = event->completed;
}

/* A wait is over when the record it captured is complete; without one it is over at once. */
static bool wait_over(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_command *command = &m->commands[number];

    if (command->target_number == 0)
        return true;
    if (m->streams[command->target_stream].completed >= command->target_number) {
        pass_wait(m, command);
        return true;
    }
    if (!command->waiting) {
        command->waiting = true;
        gt_stream_add_waiter(m, command->target_stream, command->target_number, command->stream, GT_WAITER_EVENT);
    }
    return false;
}

static gt_time_ps later(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a : b;
}

static gt_time_ps event_gap_ps(const struct gt_machine *m, uint32_t before, const struct gt_op *op)
{
    return gt_replay_event_gap_ps(&m->replay, before == GT_NONE ? NULL : &m->workload->ops[before], op);
}

/* Seen on H200: from kernel to kernel 1.6 us pass while up to two connections have work, 2.5 us with three,
 * 3.5 us with eight. */
static gt_time_ps busy_queue_gap_ps(const struct gt_machine *m, uint32_t gpu, uint32_t op)
{
    uint32_t waiting = m->gpus[gpu].queues_waiting;

    if (waiting <= 2 || m->workload->ops[op].kind != GT_OP_KERNEL)
        return 0;
    return m->replay.busy_queue_gap_ps + (waiting - 2) * m->replay.busy_connection_ps;
}

/* The operation at the head: when may it start, as far as its stream and its edges are concerned? */
static gt_time_ps op_due(struct gt_machine *m, uint32_t number, uint32_t head)
{
    const struct gt_stream_state *stream = &m->streams[number];
    const struct gt_stream_command *command = &m->commands[head];
    uint32_t op = command->kind == GT_COMMAND_GRAPH ? m->workload->calls[command->index].first_op : command->index;
    uint32_t call = command->kind == GT_COMMAND_GRAPH ? command->index : m->workload->ops[command->index].call;
    gt_time_ps more_ps = busy_queue_gap_ps(m, stream->gpu, op);

    gt_stream_command_mark(m, head, GT_WAIT_HOST, command->visible_ps, GT_CAUSE_CALL, call);
    if (stream->last_op != GT_NONE)
        gt_stream_command_mark(m, head, GT_WAIT_STREAM,
                     stream->end_ps + gt_replay_gap_ps(&m->replay, &m->workload->ops[stream->last_op],
                                                     &m->workload->ops[op]) + more_ps,
                     GT_CAUSE_OP, stream->last_op);
    if (stream->barrier.time_ps > 0)
        gt_stream_command_mark(m, head, GT_WAIT_STREAM,
                     stream->barrier.time_ps + more_ps
                     + event_gap_ps(m, stream->barrier.index, &m->workload->ops[op]),
                     GT_CAUSE_OP, stream->barrier.index);
    if (stream->event.time_ps > 0)
        gt_stream_command_mark(m, head, GT_WAIT_EVENT,
                     stream->event.time_ps + more_ps
                     + event_gap_ps(m, stream->event.index, &m->workload->ops[op]),
                     GT_CAUSE_OP, stream->event.index);
    return later(command->visible_ps,
                 later(command->marks[GT_WAIT_STREAM].time_ps, command->marks[GT_WAIT_EVENT].time_ps));
}

/* Start the operation (or graph) at the head if it is due. */
static void try_op(struct gt_machine *m, uint32_t number, uint32_t head)
{
    struct gt_stream_command *command = &m->commands[head];
    gt_time_ps due_ps = op_due(m, number, head);

    if (due_ps > m->engine.now_ps) {
        gt_stream_wake(m, number, due_ps);
        return;
    }
    if (command->kind == GT_COMMAND_OP && m->op_afters_left != NULL && m->op_afters_left[command->index] > 0)
        return; /* the last of them wakes the stream */
    command->started = true;
    m->streams[number].event.time_ps = m->streams[number].barrier.time_ps = 0;
    if (command->kind == GT_COMMAND_GRAPH)
        gt_graph_start(m, head);
    else
        gt_op_ready(m, head);
}

/* Go on with the stream as far as it goes now. */
void gt_stream_advance(struct gt_machine *m, uint32_t number)
{
    struct gt_stream_state *stream = &m->streams[number];

    while (stream->head != GT_NONE && !m->commands[stream->head].started && !m->failed) {
        uint32_t head = stream->head;
        struct gt_stream_command *command = &m->commands[head];

        if (command->visible_ps > m->engine.now_ps) {
            gt_stream_wake(m, number, command->visible_ps);
            return;
        }
        if (!gt_hw_queue_allows(m, head) || gt_default_stream_holds(m, number))
            return;
        if (command->kind == GT_COMMAND_OP || command->kind == GT_COMMAND_GRAPH) {
            try_op(m, number, head);
            return; /* it completes by an event of its own */
        }
        if (command->kind == GT_COMMAND_WAIT && !wait_over(m, head))
            return;
        gt_stream_complete(m, number);
    }
}
