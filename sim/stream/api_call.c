/* The calls: one row a kind, one function a behaviour. */
#include "sim/stream/api_call.h"

#include "sim/machine/free_lists.h"
#include "sim/machine/staging.h"
#include "sim/stream/call_times.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/links.h"
#include "sim/stream/stream_order.h"
#include "sim/stream/waiting.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/host_waits.h"

/* A copy that is staged whole takes a buffer a chunk, in turn, and holds the host up until the copy that
 * had them last is done.  Seen on H200: of copies of 128 KiB to 1 MiB behind a kernel the third blocks. */
static void take_buffers(struct gt_machine *m, gt_thread_index thread, const struct gt_op *op, uint64_t number)
{
    struct gt_gpu_state *state = &m->gpus[m->streams[op->stream].gpu];
    uint64_t chunks;

    if (op->direction != GT_H2D || m->workload->calls[op->call].duration_ps != GT_TIME_NONE ||
        !gt_copy_staged(m->device, op))
        return;
    chunks = gt_staging_chunks(m->device, op);
    for (uint64_t i = 0; i < chunks && i < m->device->staging_buffers; i++) {
        struct gt_buffer_state *buffer = &state->buffers[state->next_buffer];

        m->fired[GT_RULE_STAGING_BUFFERS] += m->streams[buffer->stream].completed < buffer->number;
        if (buffer->number != 0)
            gt_thread_wait(m, thread, buffer->stream, buffer->number);
        *buffer = (struct gt_buffer_state){ op->stream, number };
        state->next_buffer = (state->next_buffer + 1) % m->device->staging_buffers;
    }
}

static void count_staging(struct gt_machine *m, const struct gt_op *op)
{
    bool staged = gt_copy_staged(m->device, op);

    if (op->kind != GT_OP_COPY || op->memory != GT_MEMORY_PAGEABLE)
        return;
    m->fired[GT_RULE_STAGING]++; /* what goes with the commands is copied by the host too */
    m->fired[GT_RULE_INLINE] += !staged;
    m->fired[GT_RULE_COPY_GAP] += staged && gt_staging_chunks(m->device, op) > 1; /* between chunks */
    m->fired[GT_RULE_STAGING_BUFFERS] += staged && gt_staging_chunks(m->device, op) > m->device->staging_buffers;
}

/* At the stream's tail, where the GPU sees it from `visible_ps` on, though not before the commands ahead of it.
 * Returns its number in the stream. */
static gt_command_number put_into_stream(struct gt_machine *m, gt_command_index command, gt_time_ps visible_ps)
{
    struct gt_stream_command *c = &m->commands[command];
    struct gt_stream_state *state = &m->streams[c->stream];

    c->submit_ps = m->engine.now_ps;
    c->visible_ps = visible_ps > state->last_visible_ps ? visible_ps : state->last_visible_ps;
    state->last_visible_ps = c->visible_ps;
    c->number = ++state->submitted;
    gt_stream_order_submit(m, command);
    gt_device_sync_submit(m, command);
    gt_link_line_push(m, command);
    gt_hw_queue_push(m, command);
    c->to_idle = state->head == GT_NONE;
    if (c->to_idle) {
        state->head = state->tail = command;
        gt_stream_wake(m, c->stream, c->visible_ps);
    } else {
        m->commands[state->tail].next = command;
        state->tail = command;
        if (m->programmatic) /* it may come before what is ahead of it is over */
            gt_stream_wake(m, c->stream, c->visible_ps);
    }
    return c->number;
}

static void submit_op(struct gt_machine *m, gt_thread_index thread, gt_call_index call, gt_op_index op)
{
    const struct gt_op *o = &m->workload->ops[op];
    gt_command_index command = gt_stream_command_new(m, GT_COMMAND_OP, op, o->stream);
    bool waits = gt_call_waits_for_end(m, call, o);

    if (m->op_commands != NULL)
        m->op_commands[op] = command;
    count_staging(m, o);
    m->op_numbers[op] = put_into_stream(m, command, gt_op_visible_ps(m, call, o, waits));
    if (o->kind == GT_OP_COPY && !waits)
        take_buffers(m, thread, o, m->op_numbers[op]);
    if (!waits && gt_call_waits_for_start(m, call, o)) {
        m->threads[thread].staging_op = op;
        m->threads[thread].pending++;
        m->waits++;
    }
    if (waits || m->options->serialize)
        gt_thread_wait(m, thread, o->stream, m->op_numbers[op]);
}

static void submit(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];

    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++)
        if (m->children == NULL || gt_child_launch_of(m->workload, op) == NULL)
            submit_op(m, thread, call, op);
}

static void submit_graph(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    gt_stream_index stream;
    gt_command_index command;
    gt_time_ps first_ps = GT_TIME_NONE;
    uint64_t position;

    if (c->ops == 0)
        return;
    m->fired[GT_RULE_GRAPH_LAUNCH] += m->replay.graphs.call_ps[call] > m->device->graph_call_ps;
    for (gt_op_index i = c->first_op; i < c->first_op + c->ops; i++) {
        m->node_visible_ps[i] = gt_node_visible_ps(m, call, i);
        first_ps = m->node_visible_ps[i] < first_ps ? m->node_visible_ps[i] : first_ps;
    }
    stream = c->stream != GT_NONE ? c->stream : m->workload->ops[c->first_op].stream;
    command = gt_stream_command_new(m, GT_COMMAND_GRAPH, call, stream);
    position = put_into_stream(m, command, first_ps);
    gt_graph_submitted(m, command);
    for (uint32_t i = c->first_op; i < c->first_op + c->ops; i++)
        m->op_numbers[i] = position;
    if (m->options->serialize)
        gt_thread_wait(m, thread, stream, position);
}

static void record_event(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    gt_command_index command;

    (void)thread;
    if (c->stream == GT_NONE || c->event == GT_NONE)
        return;
    command = gt_stream_command_new(m, GT_COMMAND_RECORD, call, c->stream);
    m->events[c->event].stream = c->stream;
    m->events[c->event].completed.index = GT_NONE;
    m->events[c->event].number =
        put_into_stream(m, command, gt_call_visible_ps(m, call, m->replay.latency_ps[GT_OP_KERNEL]));
}

/* The wait captures the event's last record at this call; without one it is a no-op. */
static void wait_event(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    gt_command_index command;

    (void)thread;
    if (c->stream == GT_NONE || c->event == GT_NONE || m->events[c->event].number == 0)
        return;
    command = gt_stream_command_new(m, GT_COMMAND_WAIT, call, c->stream);
    m->commands[command].target_stream = m->events[c->event].stream;
    m->commands[command].target_number = m->events[c->event].number;
    put_into_stream(m, command, gt_call_visible_ps(m, call, m->replay.latency_ps[GT_OP_KERNEL]));
}

/* A synchronisation whose target the trace does not name waits for the operation that its measured
 * return followed, if it was blocked at all. */
static void sync_unknown(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    gt_op_index op = m->replay.blocking_op[call];

    if (op == GT_NONE)
        op = m->workload->calls[call].awaited;

    if (op != GT_NONE && m->op_numbers[op] != 0)
        gt_thread_wait(m, thread, m->workload->ops[op].stream, m->op_numbers[op]);
}

static void sync_event(struct gt_machine *m, gt_thread_index thread, gt_event_index event)
{
    if (m->events[event].number != 0)
        gt_thread_wait(m, thread, m->events[event].stream, m->events[event].number);
}

/* A call that has no operations of its own and is there to wait. */
static void synchronise(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    enum gt_host_wait wait = gt_call_host_wait(m->workload, c, GT_HOST_WAITS_OBSERVED);

    switch (wait) {
    case GT_HOST_WAIT_NONE: break; /* cudaFreeAsync */
    case GT_HOST_WAIT_EVENT: sync_event(m, thread, c->event); break;
    case GT_HOST_WAIT_STREAM: gt_thread_wait(m, thread, c->stream, m->streams[c->stream].submitted); break;
    case GT_HOST_WAIT_UNKNOWN: sync_unknown(m, thread, call); break;
    default: gt_device_sync_wait(m, thread, c, wait);
    }
}

/* A poll: the thread works piece by piece beside the GPU, and asks in between whether an event or a stream is done.
 *
 * It asks (host.poll_query_us), and as long as the answer is no does a piece and asks again, its most pieces at most.
 * The answer is yes from latency.poll_seen_us after the end of what is asked for, which is the event's last record, or
 * all of the stream, as the poll begins. */

static const struct gt_call *call_of(const struct gt_machine *m, gt_thread_index thread)
{
    const struct gt_thread_state *state = &m->threads[thread];

    return &m->workload->calls[state->calls[state->next]];
}

static gt_time_ps query_ps(const struct gt_machine *m, gt_thread_index thread)
{
    return m->threads[thread].cost_ps;
}

gt_time_ps gt_poll_end_ps(const struct gt_machine *m, gt_thread_index thread, uint64_t pieces)
{
    const struct gt_call *call = call_of(m, thread);
    gt_time_ps end_ps = m->threads[thread].acted_ps + query_ps(m, thread);

    if (pieces > GT_TIME_LIMIT_PS / (query_ps(m, thread) + call->piece_ps + 1))
        return GT_TIME_LIMIT_PS + 1; /* refused as too late */
    return end_ps + pieces * (query_ps(m, thread) + call->piece_ps);
}

uint64_t gt_poll_pieces(const struct gt_machine *m, gt_thread_index thread, gt_time_ps over_ps)
{
    gt_time_ps seen_ps = over_ps + m->device->poll_seen_ps, first_ps = gt_poll_end_ps(m, thread, 0);
    gt_time_ps round_ps = query_ps(m, thread) + call_of(m, thread)->piece_ps;

    if (seen_ps <= first_ps || round_ps == 0)
        return 0;
    return (seen_ps - first_ps + round_ps - 1) / round_ps;
}

/* The thread asks for the first time.  It is pending then, unless the answer is yes. */
static void poll_begin(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    struct gt_thread_state *state = &m->threads[thread];

    state->polled = c->event != GT_NONE ? m->events[c->event].stream : c->stream;
    state->polled_number = c->event != GT_NONE ? m->events[c->event].number : m->streams[c->stream].submitted;
    if (state->polled_number == 0 || m->streams[state->polled].completed >= state->polled_number)
        return;
    state->pending++;
    m->fired[GT_RULE_POLL]++;
    gt_stream_add_waiter(m, state->polled, state->polled_number, thread, GT_WAITER_POLL);
    if (c->most_pieces > 0)
        gt_engine_schedule(&m->engine, gt_poll_end_ps(m, thread, c->most_pieces), GT_PHASE_HOST, GT_HANDLE_POLL,
                           thread, state->next);
}

static void nothing(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    (void)m;
    (void)thread;
    (void)call;
}

#define COST(field) offsetof(struct gt_device, field)
const struct gt_api_row gt_api[GT_CALL_KINDS] = {
    [GT_CALL_HOST_WORK] = { COST(other_call_ps), false, nothing },
    [GT_CALL_LAUNCH] = { COST(launch_call_ps), true, submit },
    [GT_CALL_GRAPH_LAUNCH] = { COST(graph_call_ps), true, submit_graph },
    [GT_CALL_COPY] = { COST(copy_call_ps), true, submit },
    [GT_CALL_MEMSET] = { COST(memset_call_ps), true, submit },
    [GT_CALL_HOST_FUNCTION] = { COST(host_function_call_ps), true, submit },
    [GT_CALL_STREAM_CREATE] = { COST(stream_call_ps), false, nothing },
    [GT_CALL_STREAM_SYNC] = { COST(sync_call_ps), false, synchronise },
    [GT_CALL_STREAM_QUERY] = { COST(event_call_ps), false, nothing },
    [GT_CALL_EVENT_CREATE] = { COST(event_call_ps), false, nothing },
    [GT_CALL_EVENT_RECORD] = { COST(event_call_ps), false, record_event },
    [GT_CALL_EVENT_WAIT] = { COST(event_call_ps), false, wait_event },
    [GT_CALL_EVENT_QUERY] = { COST(event_call_ps), false, nothing },
    [GT_CALL_EVENT_SYNC] = { COST(sync_call_ps), false, synchronise },
    [GT_CALL_DEVICE_SYNC] = { COST(sync_call_ps), false, synchronise },
    [GT_CALL_ALLOC] = { COST(other_call_ps), false, nothing },
    [GT_CALL_FREE] = { COST(other_call_ps), false, synchronise },
    [GT_CALL_POLL] = { COST(poll_query_ps), false, poll_begin },
    [GT_CALL_RECORD_STREAM] = { COST(other_call_ps), false, nothing },
    [GT_CALL_OTHER] = { COST(other_call_ps), false, nothing },
};
