/* Streams: commands in order, each when the one before is complete and what it waits for has happened. */
#include "sim/stream/stream.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/call_times.h"
#include "sim/stream/graph.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/links.h"
#include "sim/stream/operation.h"
#include "sim/stream/programmatic.h"
#include "sim/stream/stream_order.h"
#include "sim/stream/waiting.h"

int gt_stream_handler(void *machine, gt_stream_index stream, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_stream_state *state = &m->streams[stream];

    (void)error;
    if (stamp != state->wake_stamp)
        return 0;
    state->wake_ps = GT_TIME_NONE;
    gt_stream_advance(m, stream);
    return m->failed ? -1 : 0;
}

static void release(struct gt_machine *m, gt_stream_index stream, const struct gt_waiter *waiter,
                    gt_op_index cause_op)
{
    struct gt_release now = { m->engine.now_ps, GT_CAUSE_OP, cause_op };

    if (waiter->kind == GT_WAITER_THREAD) {
        gt_thread_release(m, waiter->index, cause_op);
        return;
    }
    if (waiter->kind == GT_WAITER_POLL) {
        gt_thread_poll_answered(m, waiter->index, stream, waiter->number, cause_op);
        return;
    }
    if (waiter->kind == GT_WAITER_EVENT)
        m->streams[waiter->index].event_release = now;
    else
        m->streams[waiter->index].default_release = now;
    gt_stream_wake(m, waiter->index, m->engine.now_ps);
}

static void release_waiters(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];

    while (state->waiters != GT_NONE && m->waiters[state->waiters].number <= state->completed) {
        struct gt_waiter waiter = m->waiters[state->waiters];
        uint32_t done = state->waiters;

        state->waiters = waiter.next;
        gt_waiter_free(m, done);
        release(m, stream, &waiter, state->last_op);
    }
    for (;;) {
        gt_thread_index thread = gt_device_sync_released(m, stream);

        if (thread == GT_NONE)
            return;
        gt_thread_release(m, thread, state->last_op);
    }
}

/* A record that is still its event's last one: waits reached from now on find it complete. */
static void note_record(struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];
    struct gt_event_state *event = &m->events[m->workload->calls[c->index].event];

    if (event->number == c->number && event->stream == c->stream)
        event->completed = (struct gt_release){ m->engine.now_ps, GT_CAUSE_OP, m->streams[c->stream].last_op };
}

/* The head is complete: the next one is the head. */
void gt_stream_complete(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];
    gt_command_index command = state->head;

    if (m->commands[command].kind == GT_COMMAND_RECORD)
        note_record(m, command);
    gt_hw_queue_leave(m, command);
    if (m->commands[command].kind == GT_COMMAND_RECORD && state->triggered > 0 &&
        state->triggered + 1 == m->commands[command].number)
        state->triggered++; /* what comes behind it is right behind that kernel all the same */
    state->completed = m->commands[command].number;
    state->head = m->commands[command].next;
    state->held_by_default = false;
    if (state->head == GT_NONE)
        state->tail = GT_NONE;
    gt_device_sync_complete(m, command);
    gt_stream_command_free(m, command);
    release_waiters(m, stream);
    gt_stream_order_complete(m, stream);
}

/* A wait that came to its stream's head after the record was complete, as behind it in one hardware
 * queue: what follows keeps the gap to the record all the same. */
static void pass_wait(struct gt_machine *m, const struct gt_stream_command *command)
{
    const struct gt_event_state *event = &m->events[m->workload->calls[command->index].event];
    struct gt_release *latest = &m->streams[command->stream].event_release;

    if (!command->waiting && event->number == command->target_number && event->stream == command->target_stream &&
        event->completed.index != GT_NONE && event->completed.time_ps > latest->time_ps)
        *latest = event->completed;
}

/* A wait is over when the record it captured is complete, a graph may go when the launch before of its executable is; without
 * one at once. */
static bool wait_over(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command *c = &m->commands[command];

    if (c->target_number == 0)
        return true;
    if (m->streams[c->target_stream].completed >= c->target_number) {
        if (c->kind == GT_COMMAND_WAIT)
            pass_wait(m, c);
        m->streams[c->stream].waited_afar |= m->streams[c->stream].gpu != m->streams[c->target_stream].gpu;
        return true;
    }
    if (!c->waiting) {
        c->waiting = true;
        m->fired[GT_RULE_GRAPH_EXECUTABLE] += c->kind == GT_COMMAND_GRAPH;
        gt_stream_add_waiter(m, c->target_stream, c->target_number, c->stream, GT_WAITER_EVENT);
    }
    return false;
}

static gt_time_ps later(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a : b;
}

static const struct gt_op *op_at(const struct gt_machine *m, gt_op_index op)
{
    return op == GT_NONE ? NULL : &m->workload->ops[op];
}

/* Are their streams on different GPUs?  `before` may be GT_NONE. */
static bool crosses(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    const struct gt_op *first = op_at(m, before);

    return first != NULL && m->streams[first->stream].gpu != m->streams[op->stream].gpu;
}

/* From an operation's end to one on another GPU that waits for it by an event.  Measured between two H200s, November 2026:
 * from a kernel's end to one on the other GPU 4.5 us (on one GPU 1.8), between copies 6.0, from one to the other sort 10;
 * what passes a wait for another GPU's event, long recorded, comes 1.5 us later (link.wait_us). */
static gt_time_ps link_event_gap_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    const struct gt_op *first = op_at(m, before);

    if (first->kind == GT_OP_COPY && op->kind == GT_OP_COPY)
        return m->device->link_copy_event_gap_ps;
    return first->kind == GT_OP_COPY || op->kind == GT_OP_COPY ? m->device->link_engine_event_gap_ps
                                                               : m->device->link_event_gap_ps;
}

static bool pulled(const struct gt_op *op)
{
    return op != NULL && op->kind == GT_OP_COPY && op->direction == GT_P2P && op->from_peer;
}

/* Added to any gap by copies that are pulled, before and behind it.  A copy that its stream pulls from another GPU is asked of
 * that one's engine and told of by it: two pulls in a row are 10.5 us apart, two pushes 2.1. */
static gt_time_ps pull_ps(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    return m->device->link_pull_ps * (gt_time_ps)(pulled(op_at(m, before)) + pulled(op));
}

static bool goes_between(const struct gt_op *op)
{
    return op != NULL && op->kind == GT_OP_COPY && op->direction == GT_P2P;
}

/* Are both copies between GPUs?  Then link.gap_us is what lies between them in a stream. */
static bool both_between_gpus(const struct gt_machine *m, gt_op_index before, const struct gt_op *op)
{
    return goes_between(op_at(m, before)) && goes_between(op);
}

static gt_time_ps event_gap_ps(const struct gt_machine *m, uint32_t before, const struct gt_op *op)
{
    gt_time_ps gap_ps = crosses(m, before, op) ? link_event_gap_ps(m, before, op)
                                               : gt_replay_event_gap_ps(&m->replay, op_at(m, before), op);

    return gap_ps + pull_ps(m, before, op);
}

/* Seen on H200: from kernel to kernel 1.6 us pass while up to two connections (quiet_connections) have work, 2.5 us
 * with three, 3.5 us with eight. */
static gt_time_ps busy_queue_gap_ps(const struct gt_machine *m, gt_gpu_index gpu, gt_op_index op)
{
    uint32_t waiting = m->gpus[gpu].queues_waiting, quiet = m->device->quiet_connections;

    if (waiting <= quiet || m->workload->ops[op].kind != GT_OP_KERNEL)
        return 0;
    return m->replay.busy_queue_gap_ps + (waiting - quiet) * m->replay.busy_connection_ps;
}

/* The rule that the gap between two operations follows. */
static enum gt_rule_number gap_rule(const struct gt_machine *m, gt_op_index before, gt_op_index after,
                                    enum gt_rule_number plain)
{
    const struct gt_op *first = op_at(m, before), *op = &m->workload->ops[after];

    if (plain == GT_RULE_EVENT_GAP && crosses(m, before, op))
        return GT_RULE_LINK_EVENT_GAP;
    if (plain == GT_RULE_STREAM_GAP && both_between_gpus(m, before, op))
        return GT_RULE_LINK_GAP;
    if (first != NULL && gt_replay_switches_engine(&m->replay, first, op))
        return GT_RULE_ENGINE_GAP;
    return plain == GT_RULE_STREAM_GAP && first->kind == GT_OP_COPY && op->kind == GT_OP_COPY ? GT_RULE_COPY_GAP
                                                                                              : plain;
}

/* Gaps that hold the operation at a stream's head back for longer than the host did. */
static void count_gaps(struct gt_machine *m, gt_stream_index stream, const struct gt_stream_command *c,
                       gt_op_index op)
{
    const struct gt_stream_state *state = &m->streams[stream];
    bool by_stream = c->releases[GT_WAIT_STREAM].time_ps > c->visible_ps;
    bool by_event = c->releases[GT_WAIT_EVENT].time_ps > c->visible_ps;

    if ((by_stream || by_event) && busy_queue_gap_ps(m, state->gpu, op) > 0) {
        m->fired[GT_RULE_CROWD]++;
        m->fired[GT_RULE_BUSY_CONNECTION]++;
    }
    /* Where streams share connections fewer of these hold work, and the gap is the shorter for it. */
    if ((by_stream || by_event) && m->workload->ops[op].kind == GT_OP_KERNEL) {
        uint32_t shared = gt_hw_queues_shared(m, stream);

        m->fired[GT_RULE_CONNECTIONS] +=
            shared > 0 && m->gpus[state->gpu].queues_waiting + shared > m->device->quiet_connections;
    }
    m->fired[GT_RULE_LINK_WAIT] += by_stream && state->waited_afar;
    m->fired[GT_RULE_LINK_PULL] +=
        by_stream && state->last_op != GT_NONE && pull_ps(m, state->last_op, &m->workload->ops[op]) > 0;
    if (by_stream && state->last_op != GT_NONE)
        m->fired[gap_rule(m, state->last_op, op, GT_RULE_STREAM_GAP)]++;
    if (by_stream && state->default_release.time_ps > 0)
        m->fired[gap_rule(m, state->default_release.index, op, GT_RULE_EVENT_GAP)]++;
    if (by_event)
        m->fired[gap_rule(m, state->event_release.index, op, GT_RULE_EVENT_GAP)]++;
}

static gt_time_ps stream_gap_ps(const struct gt_machine *m, gt_op_index before, gt_op_index op)
{
    const struct gt_op *next = &m->workload->ops[op];
    gt_time_ps gap_ps = both_between_gpus(m, before, next)
                            ? m->device->link_gap_ps
                            : gt_replay_gap_ps(&m->replay, &m->workload->ops[before], next);

    return gap_ps + pull_ps(m, before, next);
}

/* When a kernel may come that does so programmatically.  One that was seen to start behind the end of the one before has
 * what that took in its own gap and duration. */
static bool programmatic_due(const struct gt_machine *m, gt_command_index head, gt_op_index op, gt_time_ps *due_ps)
{
    return m->programmatic && !gt_launch_gap_is(m->replay.launch_gaps, op, GT_LAUNCH_GAP_STREAM) &&
           gt_programmatic_due(m, head, due_ps);
}

/* A gap after the operation before it in its stream, which has ended; more_ps: what holds up any start besides. */
static gt_time_ps behind_last_ps(const struct gt_machine *m, gt_command_index head, gt_op_index op,
                                 gt_time_ps more_ps)
{
    const struct gt_stream_state *state = &m->streams[m->commands[head].stream];
    gt_time_ps due_ps, gap_ps;

    if (programmatic_due(m, head, op, &due_ps))
        return due_ps + more_ps;
    gap_ps = stream_gap_ps(m, state->last_op, op) + (state->waited_afar ? m->device->link_wait_ps : 0) + more_ps;
    return state->end_ps + gt_launch_gap_ps(m->replay.launch_gaps, op, GT_LAUNCH_GAP_STREAM, gap_ps);
}

/* A gap after what the operation waited for in another stream. */
static gt_time_ps behind_wait_ps(const struct gt_machine *m, const struct gt_release *release, gt_op_index op,
                                 gt_time_ps more_ps)
{
    gt_time_ps gap_ps = event_gap_ps(m, release->index, &m->workload->ops[op]) + more_ps;

    return release->time_ps + gt_launch_gap_ps(m->replay.launch_gaps, op, GT_LAUNCH_GAP_WAIT, gap_ps);
}

/* The operation at the head: when may it start, as far as its stream and its edges are concerned? */
static gt_time_ps op_due(struct gt_machine *m, gt_stream_index stream, gt_command_index head)
{
    const struct gt_stream_state *state = &m->streams[stream];
    const struct gt_stream_command *c = &m->commands[head];
    gt_op_index op = c->kind == GT_COMMAND_GRAPH ? m->workload->calls[c->index].first_op : c->index;
    gt_call_index call = c->kind == GT_COMMAND_GRAPH ? c->index : m->workload->ops[c->index].call;
    gt_time_ps more_ps = busy_queue_gap_ps(m, state->gpu, op) + gt_cooperative_ps(m, &m->workload->ops[op]);

    gt_stream_command_hold(m, head, GT_WAIT_HOST, c->visible_ps, GT_CAUSE_CALL, call);
    if (gt_starts_as_recorded(m, op))
        return later(c->visible_ps, m->workload->ops[op].start_ps);
    if (state->last_op != GT_NONE)
        gt_stream_command_hold(m, head, GT_WAIT_STREAM, behind_last_ps(m, head, op, more_ps), GT_CAUSE_OP,
                               state->last_op);
    if (state->default_release.time_ps > 0)
        gt_stream_command_hold(m, head, GT_WAIT_STREAM, behind_wait_ps(m, &state->default_release, op, more_ps),
                               GT_CAUSE_OP, state->default_release.index);
    if (state->event_release.time_ps > 0)
        gt_stream_command_hold(m, head, GT_WAIT_EVENT, behind_wait_ps(m, &state->event_release, op, more_ps),
                               GT_CAUSE_OP, state->event_release.index);
    count_gaps(m, stream, c, op);
    return later(c->visible_ps, later(c->releases[GT_WAIT_STREAM].time_ps, c->releases[GT_WAIT_EVENT].time_ps));
}

/* Start the operation (or graph) at the head if it is due. */
static void try_op(struct gt_machine *m, gt_stream_index stream, gt_command_index head)
{
    struct gt_stream_command *c = &m->commands[head];
    gt_time_ps due_ps = op_due(m, stream, head), line_ps = gt_link_line_due(m, head);

    if (due_ps <= m->engine.now_ps && line_ps > m->engine.now_ps) {
        m->fired[GT_RULE_LINK_LINE]++;
        if (line_ps == GT_TIME_NONE)
            return; /* who is before it in its line wakes the stream */
        due_ps = line_ps;
    }
    if (due_ps > m->engine.now_ps) {
        gt_stream_wake(m, stream, due_ps);
        return;
    }
    if (c->kind == GT_COMMAND_OP && m->op_afters_left != NULL && m->op_afters_left[c->index] > 0)
        return; /* the last of them wakes the stream */
    c->started = true;
    if (c->kind == GT_COMMAND_OP &&
        programmatic_due(m, head, c->index, &due_ps)) /* its blocks still wait for what is over only just */
        c->depends_ps = due_ps + m->device->programmatic_wait_ps;
    m->streams[stream].event_release.time_ps = m->streams[stream].default_release.time_ps = 0;
    m->streams[stream].waited_afar = false;
    if (c->kind == GT_COMMAND_GRAPH)
        gt_graph_start(m, head);
    else
        gt_op_ready(m, head);
}

/* What became visible while its stream was busy has been read meanwhile. */
static void read_command(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command *c = &m->commands[command];
    gt_time_ps more_ps = c->read ? 0 : gt_link_command_ps(m, command);

    c->read = true;
    c->visible_ps += more_ps;
    m->fired[GT_RULE_LINK_READS] += more_ps > 0;
}

/* Kernels behind those that run, as far as these let them come. */
static void come_early(struct gt_machine *m, gt_stream_index stream)
{
    gt_command_index next;

    while (!m->failed && (next = gt_programmatic_next(m, stream)) != GT_NONE)
        gt_op_ready(m, next);
}

/* Go on with the stream as far as it goes now. */
void gt_stream_advance(struct gt_machine *m, gt_stream_index stream)
{
    struct gt_stream_state *state = &m->streams[stream];

    while (state->head != GT_NONE && !m->commands[state->head].started && !m->failed) {
        gt_command_index head = state->head;
        struct gt_stream_command *c = &m->commands[head];

        if (c->visible_ps == m->engine.now_ps && c->kind == GT_COMMAND_OP)
            read_command(m, head);
        if (c->visible_ps > m->engine.now_ps) {
            gt_stream_wake(m, stream, c->visible_ps);
            return;
        }
        if (!gt_hw_queue_allows(m, head) || gt_stream_order_holds(m, stream))
            return;
        if ((c->kind == GT_COMMAND_WAIT || c->kind == GT_COMMAND_GRAPH) && !wait_over(m, head))
            return;
        if (c->kind == GT_COMMAND_OP || c->kind == GT_COMMAND_GRAPH) {
            try_op(m, stream, head);
            break; /* it completes by an event of its own */
        }
        gt_stream_complete(m, stream);
    }
    if (m->programmatic)
        come_early(m, stream);
}
