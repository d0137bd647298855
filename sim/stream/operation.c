/* The life of an operation once its stream lets it go: ready, started, ended. */
#include "sim/stream/operation.h"

#include "sim/machine/durations.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/child_launch.h"
#include "sim/stream/graph.h"
#include "sim/stream/host_noise.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/programmatic.h"
#include "sim/stream/stream.h"

static uint32_t op_of(const struct gt_machine *m, gt_command_index command)
{
    return m->commands[command].index;
}

void gt_timed_op_start(struct gt_machine *m, gt_command_index command, gt_time_ps duration_ps)
{
    m->commands[command].start_ps = m->engine.now_ps;
    gt_hw_queue_leave(m, command);
    gt_engine_schedule(&m->engine, m->engine.now_ps + duration_ps, GT_PHASE_END, GT_HANDLE_TIMED_OP, command, 0);
}

/* When, in the run whose host is taken or in the recording, the host function could have been picked up: its call had
 * returned, and what came before it in its stream, or was waited for last, had ended. */
static gt_time_ps measured_ready_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[op_of(m, command)];
    const struct gt_release *releases = m->commands[command].releases;
    const struct gt_release *waited = &releases[GT_WAIT_EVENT], *behind = &releases[GT_WAIT_STREAM];
    gt_op_index before[] = { m->streams[op->stream].last_op, waited->cause == GT_CAUSE_OP ? waited->index : GT_NONE,
                             behind->cause == GT_CAUSE_OP ? behind->index : GT_NONE };
    gt_time_ps ready_ps = gt_call_measured_end(&m->host->calls[op->call]);

    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        gt_time_ps end_ps = before[i] == GT_NONE ? 0 : gt_op_measured_end(&m->host->ops[before[i]]);

        if (end_ps != GT_TIME_NONE && (ready_ps == GT_TIME_NONE || end_ps > ready_ps))
            ready_ps = end_ps;
    }
    return ready_ps;
}

/* The driver's thread wakes up for it: that is the host's part.  Where the run shows more than this many times the
 * usual, something else was waited for. */
enum { PICK_UP_MOST = 4 };
static gt_time_ps pick_up_ps(const struct gt_machine *m, gt_command_index command)
{
    gt_time_ps start_ps = m->host->ops[op_of(m, command)].start_ps, usual_ps = m->device->host_function_ps, ready_ps;

    if (start_ps == GT_TIME_NONE)
        return gt_noise_pick_up_ps(m, op_of(m, command), usual_ps);
    ready_ps = measured_ready_ps(m, command);
    if (ready_ps == GT_TIME_NONE || ready_ps > start_ps || start_ps - ready_ps > PICK_UP_MOST * usual_ps)
        return usual_ps;
    return start_ps - ready_ps;
}

/* The driver's thread picks a host function up a little later; the stream is blocked meanwhile. */
void gt_host_function_start(struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[op_of(m, command)];
    gt_time_ps start_ps = m->engine.now_ps + pick_up_ps(m, command);

    gt_stream_command_hold(m, command, GT_WAIT_STREAM, start_ps, GT_CAUSE_CALL, op->call);
    m->commands[command].start_ps = start_ps;
    m->fired[GT_RULE_HOST_FUNCTION] += m->device->host_function_ps > 0;
    gt_hw_queue_leave(m, command);
    gt_engine_schedule(&m->engine, start_ps + (op->duration_ps == GT_TIME_NONE ? 0 : op->duration_ps), GT_PHASE_END,
                       GT_HANDLE_TIMED_OP, command, 0);
}

/* One operation at a time, whatever thread, stream or graph it is of (--serialize).
 *
 * Whoever launched an operation waits for its end anyway, but other threads, the nodes of a graph beside each
 * other and the operations of one call would still overlap.  So the machine has one place: an operation that
 * its stream lets go while another has the place stands in line, in the order in which streams let them go, and
 * starts when those before it have ended, as though an edge led to it from the one before. */

static gt_time_ps gap_behind_last_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *last = &m->workload->ops[m->serial.last_op];
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    return last->stream == op->stream && last->call != op->call ? gt_replay_gap_ps(&m->replay, last, op)
                                                                : gt_replay_edge_gap_ps(&m->replay, last, op);
}

/* The place is free: this command has it from the gap behind the last operation on.  Returns whether that is now. */
static bool take_place(struct gt_machine *m, gt_command_index command)
{
    uint32_t last = m->serial.last_op;
    gt_time_ps due_ps;

    m->serial.running = command;
    if (last == GT_NONE)
        return true;
    due_ps = m->serial.end_ps + gap_behind_last_ps(m, command);
    if (due_ps <= m->engine.now_ps)
        return true;
    gt_stream_command_hold(m, command,
                           m->workload->ops[last].stream == m->workload->ops[m->commands[command].index].stream
                               ? GT_WAIT_STREAM
                               : GT_WAIT_EVENT,
                           due_ps, GT_CAUSE_OP, last);
    gt_engine_schedule(&m->engine, due_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, command, 0);
    return false;
}

/* May an operation start that its stream, or its graph, lets go? Else gt_node_handler() is told when it may. */
static bool serial_allows(struct gt_machine *m, gt_command_index command)
{
    struct gt_serial_state *serial = &m->serial;

    if (serial->running == command)
        return true; /* the gap has passed */
    if (serial->running == GT_NONE)
        return take_place(m, command);
    m->commands[command].wait_next = GT_NONE;
    if (serial->head == GT_NONE)
        serial->head = command;
    else
        m->commands[serial->tail].wait_next = command;
    serial->tail = command;
    return false;
}

/* The operation that had the place has ended: the next one in line has it. */
static void serial_ended(struct gt_machine *m, gt_op_index op)
{
    struct gt_serial_state *serial = &m->serial;
    uint32_t next = serial->head;

    serial->last_op = op;
    serial->end_ps = m->engine.now_ps;
    serial->running = GT_NONE;
    if (next == GT_NONE)
        return;
    serial->head = m->commands[next].wait_next;
    m->commands[next].wait_next = GT_NONE;
    /* Not at once: whoever ends is in the middle of its own step. */
    if (take_place(m, next))
        gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, next, 0);
}

void gt_op_ready(struct gt_machine *m, gt_command_index command)
{
    if (m->options->serialize && !serial_allows(m, command))
        return;
    m->op_rules[m->workload->ops[op_of(m, command)].kind].start(m, command);
}

int gt_timed_op_handler(void *machine, gt_command_index command, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)stamp;
    (void)error;
    m->op_rules[m->workload->ops[op_of(m, command)].kind].timed_end(m, command);
    return m->failed ? -1 : 0;
}

/* Split the stream's idle time before this operation by what it waited for in turn. */
static void split_waits(const struct gt_machine *m, const struct gt_stream_command *command,
                        struct gt_op_record *record)
{
    gt_time_ps at_ps = m->streams[m->workload->ops[command->index].stream].idle_from_ps, latest_ps = 0;
    enum gt_wait rest = m->workload->ops[command->index].kind == GT_OP_COPY ? GT_WAIT_ENGINE : GT_WAIT_RESOURCE;

    if (command->kind == GT_COMMAND_CHILD) /* its stream is its parent's, which runs in it meanwhile */
        at_ps = command->submit_ps;
    for (int reason = 0; reason < GT_WAITS; reason++) {
        gt_time_ps until_ps = command->releases[reason].time_ps;

        if (until_ps > latest_ps && until_ps <= record->start_ps) {
            latest_ps = until_ps;
            record->cause = (enum gt_cause)command->releases[reason].cause;
            record->cause_index = command->releases[reason].index;
        }
        if (until_ps > record->start_ps)
            until_ps = record->start_ps;
        if (until_ps > at_ps) {
            record->wait_ps[reason] = until_ps - at_ps;
            at_ps = until_ps;
        }
    }
    if (record->start_ps > at_ps)
        record->wait_ps[rest] += record->start_ps - at_ps;
}

static void report_op(struct gt_machine *m, const struct gt_stream_command *command)
{
    /* clang-format off */
    struct gt_op_record record = {
        .op = command->index, .submit_ps = command->submit_ps, .start_ps = command->start_ps,
        .end_ps = m->engine.now_ps, .cause_index = GT_NONE,
    };
    /* clang-format on */

    if (m->probe->op == NULL)
        return;
    split_waits(m, command, &record);
    if (m->probe->op(m->probe->user, &record, m->error) != 0)
        m->failed = true;
}

static void report_progress(struct gt_machine *m)
{
    m->ended_ops++;
    if (m->probe->progress == NULL || m->ended_ops < m->progress_at)
        return;
    m->progress_at = m->ended_ops + 2048;
    if (m->probe->progress(m->probe->user, m->ended_ops, m->workload->op_count, m->error) != 0)
        m->failed = true;
}

void gt_op_ended(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command c = m->commands[command];
    struct gt_stream_state *stream = &m->streams[m->workload->ops[c.index].stream];

    report_op(m, &c);
    report_progress(m);
    if (m->engine.now_ps > stream->idle_from_ps)
        stream->idle_from_ps = m->engine.now_ps;
    if (m->engine.now_ps > m->end_ps)
        m->end_ps = m->engine.now_ps;
    if (m->options->serialize)
        serial_ended(m, c.index);
    if (m->children == NULL || !gt_child_parent_ended(m, command))
        gt_op_complete(m, command);
}

void gt_op_complete(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_command c = m->commands[command];
    struct gt_stream_state *stream = &m->streams[m->workload->ops[c.index].stream];

    if (m->replay.edge_count > 0)
        gt_graph_op_ended(m, c.index);
    if (c.kind == GT_COMMAND_CHILD) {
        gt_stream_command_free(m, command);
        gt_child_complete(m, c.index);
        return;
    }
    stream->last_op = c.index;
    stream->end_ps = m->engine.now_ps;
    if (m->programmatic)
        gt_programmatic_ended(m, command);
    if (c.kind == GT_COMMAND_NODE) {
        gt_stream_command_free(m, command);
        gt_graph_node_ended(m, c.parent, c.index);
    } else {
        gt_stream_complete(m, c.stream);
        gt_stream_advance(m, c.stream);
    }
}
