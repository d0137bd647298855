#include "sim/stream/programmatic.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/stream_order.h"
#include "sim/stream/waiting.h"

/* Workers of a task graph do not wait for the kernel before: such a kernel comes when that one is over. */
static bool is_programmatic(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    return m->commands[command].kind == GT_COMMAND_OP && op->programmatic &&
           m->workload->kernels[op->kernel].tasks == NULL;
}

/* A kernel whose blocks launch others is over when those are, too, which is all that the next one can wait for. */
static bool launches(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = &m->workload->ops[m->commands[command].index];

    return op->kind == GT_OP_KERNEL && m->workload->kernels[op->kernel].launch_count > 0;
}

/* Does `op`, of the same graph, come programmatically behind `before`? */
static bool comes_behind(const struct gt_machine *m, gt_op_index before, gt_op_index op)
{
    return m->programmatic && m->workload->ops[op].programmatic && m->workload->ops[before].kind == GT_OP_KERNEL &&
           m->workload->ops[op].call == m->workload->ops[before].call && m->replay.edges_in[op] == 1;
}

/* Kernels of the graph that come after this one alone. */
static void let_nodes_come(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;
    gt_time_ps due_ps = m->commands[command].triggered_ps + m->device->programmatic_ps;

    if (m->replay.edge_count == 0)
        return;
    for (uint32_t i = m->replay.edge_from[op]; i < m->replay.edge_from[op + 1]; i++) {
        gt_command_index node = m->op_commands[m->replay.edge_to[i]];

        if (node == GT_NONE || !comes_behind(m, op, m->replay.edge_to[i]))
            continue;
        m->fired[GT_RULE_PROGRAMMATIC]++;
        m->commands[node].depends_ps = GT_TIME_NONE;
        gt_stream_command_hold(m, node, GT_WAIT_STREAM, due_ps, GT_CAUSE_OP, op);
        gt_node_wake(m, node, due_ps > m->engine.now_ps ? due_ps : m->engine.now_ps);
    }
}

void gt_programmatic_triggered(struct gt_machine *m, gt_command_index command, gt_time_ps time_ps)
{
    if (m->commands[command].triggered_ps != GT_TIME_NONE)
        return;
    if (m->commands[command].kind == GT_COMMAND_NODE) {
        m->commands[command].triggered_ps = time_ps;
        let_nodes_come(m, command);
    } else if (m->commands[command].kind == GT_COMMAND_OP && !launches(m, command)) {
        m->commands[command].triggered_ps = time_ps;
        gt_stream_wake(m, m->commands[command].stream, m->engine.now_ps);
    }
}

void gt_programmatic_ended(struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];
    struct gt_stream_state *stream = &m->streams[c->stream];

    if (c->kind != GT_COMMAND_OP || m->workload->ops[c->index].kind != GT_OP_KERNEL)
        return;
    stream->triggered = c->number;
    stream->triggered_ps = c->triggered_ps != GT_TIME_NONE ? c->triggered_ps : m->engine.now_ps;
}

bool gt_programmatic_due(const struct gt_machine *m, gt_command_index command, gt_time_ps *due_ps)
{
    const struct gt_stream_state *stream = &m->streams[m->commands[command].stream];

    if (!is_programmatic(m, command) || stream->triggered == 0 ||
        stream->triggered + 1 != m->commands[command].number)
        return false;
    *due_ps = stream->triggered_ps + m->device->programmatic_ps;
    return true;
}

/* Its turn is when what holds it back is gone: the host, the kernel before it, its connection, the default stream. */
static bool may_come(struct gt_machine *m, gt_command_index before, gt_command_index next)
{
    struct gt_stream_command *c = &m->commands[next];
    gt_time_ps triggered_ps = m->commands[before].triggered_ps, due_ps;

    if (m->commands[before].kind != GT_COMMAND_OP || triggered_ps == GT_TIME_NONE || !is_programmatic(m, next))
        return false;
    due_ps = triggered_ps + m->device->programmatic_ps;
    gt_stream_command_hold(m, next, GT_WAIT_HOST, c->visible_ps, GT_CAUSE_CALL, m->workload->ops[c->index].call);
    gt_stream_command_hold(m, next, GT_WAIT_STREAM, due_ps, GT_CAUSE_OP, m->commands[before].index);
    due_ps = c->visible_ps > due_ps ? c->visible_ps : due_ps;
    if (due_ps > m->engine.now_ps) {
        gt_stream_wake(m, c->stream, due_ps);
        return false;
    }
    return gt_hw_queue_allows(m, next) && gt_stream_order_lets(m, next) &&
           (m->op_afters_left == NULL || m->op_afters_left[c->index] == 0);
}

gt_command_index gt_programmatic_behind(const struct gt_machine *m, gt_command_index command)
{
    do
        command = m->commands[command].next;
    while (command != GT_NONE && m->commands[command].kind == GT_COMMAND_RECORD);
    return command;
}

/* Records on the way have nothing to wait for in their connection. */
static void pass_records(struct gt_machine *m, gt_command_index before, gt_command_index next)
{
    for (gt_command_index i = m->commands[before].next; i != next; i = m->commands[i].next)
        if (m->commands[i].visible_ps <= m->engine.now_ps && gt_hw_queue_allows(m, i))
            gt_hw_queue_leave(m, i);
}

gt_command_index gt_programmatic_next(struct gt_machine *m, gt_stream_index stream)
{
    gt_command_index before = m->streams[stream].head, next;

    if (before == GT_NONE || !m->commands[before].started)
        return GT_NONE;
    for (next = gt_programmatic_behind(m, before); next != GT_NONE && m->commands[next].started;
         next = gt_programmatic_behind(m, next))
        before = next;
    if (next == GT_NONE || !is_programmatic(m, next) || m->commands[before].triggered_ps == GT_TIME_NONE)
        return GT_NONE;
    pass_records(m, before, next);
    if (!may_come(m, before, next))
        return GT_NONE;
    m->fired[GT_RULE_PROGRAMMATIC]++;
    m->commands[next].started = true;
    m->commands[next].depends_ps = GT_TIME_NONE;
    return next;
}
