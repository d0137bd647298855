/* One operation at a time, whatever thread, stream or graph it is of (--serialize).
 *
 * Whoever launched an operation waits for its end anyway, but other threads, the nodes of a graph beside each
 * other and the operations of one call would still overlap.  So the machine has one place: an operation that
 * its stream lets go while another has the place stands in line, in the order in which streams let them go, and
 * starts when those before it have ended, as though an edge led to it from the one before. */
#include "sim/stream/serial.h"

#include "sim/machine/free_lists.h"

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

bool gt_serial_allows(struct gt_machine *m, gt_command_index command)
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

void gt_serial_ended(struct gt_machine *m, gt_op_index op)
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
