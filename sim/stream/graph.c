/* Graphs and edges: nodes start when all they come after has ended, a gap later.
 *
 * A graph is one command of the stream it was launched into; its nodes are not in any stream's order
 * but count as work of the stream they were recorded on. */
#include "sim/stream/graph.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/operation.h"
#include "sim/stream/stream.h"
#include "sim/stream/waiting.h"

/* Nothing holds the node from then on, if it has been written by then. */
static void schedule_node(struct gt_machine *m, gt_command_index command, gt_time_ps time_ps)
{
    if (m->commands[command].visible_ps > time_ps)
        time_ps = m->commands[command].visible_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, command, 0);
}

int gt_node_handler(void *machine, gt_command_index command, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)stamp;
    (void)error;
    gt_op_ready(m, command);
    return m->failed ? -1 : 0;
}

static uint32_t add_node(struct gt_machine *m, gt_command_index graph, gt_op_index op)
{
    gt_command_index node = gt_stream_command_new(m, GT_COMMAND_NODE, op, m->commands[graph].stream);

    m->commands[node].parent = graph;
    m->commands[node].submit_ps = m->commands[graph].submit_ps;
    m->commands[node].visible_ps = m->node_visible_ps[op];
    for (int reason = 0; reason < GT_WAITS; reason++)
        m->commands[node].releases[reason] = m->commands[graph].releases[reason];
    gt_stream_command_hold(m, node, GT_WAIT_HOST, m->node_visible_ps[op], GT_CAUSE_CALL, m->commands[graph].index);
    if (m->op_commands != NULL)
        m->op_commands[op] = node;
    return node;
}

/* In the recording the graph had been handed over before its stream let it go: its nodes that come after none started
 * so long after its first one all the same. */
static gt_time_ps behind_start_ps(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_recorded_graphs *recorded = &m->replay.recorded_graphs;

    if (recorded->behind_ps == NULL || recorded->behind_ps[op] == GT_TIME_NONE ||
        !recorded->queued[m->workload->ops[op].call])
        return 0;
    return recorded->behind_ps[op];
}

void gt_graph_start(struct gt_machine *m, gt_command_index graph)
{
    const struct gt_call *call = &m->workload->calls[m->commands[graph].index];

    m->commands[graph].nodes_left = call->ops;
    gt_hw_queue_leave(m, graph);
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
        gt_command_index node = add_node(m, graph, op);

        if (m->op_afters_left == NULL || m->op_afters_left[op] == 0)
            schedule_node(m, node, m->engine.now_ps + behind_start_ps(m, op));
    }
}

void gt_graph_node_ended(struct gt_machine *m, gt_command_index graph, gt_op_index op)
{
    gt_stream_index stream = m->commands[graph].stream;

    if (--m->commands[graph].nodes_left > 0)
        return;
    m->streams[stream].last_op = op;
    m->streams[stream].end_ps = m->engine.now_ps;
    gt_stream_complete(m, stream);
    gt_stream_advance(m, stream);
}

static gt_time_ps edge_gap_ps(const struct gt_machine *m, uint32_t before, gt_op_index op)
{
    const gt_time_ps *recorded_ps = m->replay.recorded_graphs.gap_ps;

    if (recorded_ps != NULL && recorded_ps[op] != GT_TIME_NONE &&
        m->workload->ops[before].call == m->workload->ops[op].call)
        return recorded_ps[op];
    return gt_replay_edge_gap_ps(&m->replay, &m->workload->ops[before], &m->workload->ops[op]);
}

/* One of the operations that `op` comes after has ended. */
static void edge_met(struct gt_machine *m, uint32_t before, gt_op_index op)
{
    gt_time_ps gap_ps = edge_gap_ps(m, before, op);
    gt_command_index command = m->op_commands[op];
    enum gt_wait reason;

    if (m->workload->ops[before].call == m->workload->ops[op].call)
        m->fired[gt_replay_switches_engine(&m->workload->ops[before], &m->workload->ops[op]) ? GT_RULE_ENGINE_GAP
                                                                                             : GT_RULE_GRAPH_GAP]++;
    if (--m->op_afters_left[op] > 0 || command == GT_NONE)
        return;
    /* Within its stream's chain the gap is the stream's, across streams it is a wait. */
    reason = m->workload->ops[before].stream == m->workload->ops[op].stream ? GT_WAIT_STREAM : GT_WAIT_EVENT;
    gt_stream_command_hold(m, command, reason, m->engine.now_ps + gap_ps, GT_CAUSE_OP, before);
    if (m->commands[command].kind == GT_COMMAND_NODE)
        schedule_node(m, command, m->engine.now_ps + gap_ps);
    else
        gt_stream_wake(m, m->commands[command].stream, m->engine.now_ps);
}

void gt_graph_op_ended(struct gt_machine *m, gt_op_index op)
{
    m->op_commands[op] = GT_NONE;
    for (uint32_t i = m->replay.edge_from[op]; i < m->replay.edge_from[op + 1]; i++)
        edge_met(m, op, m->replay.edge_to[i]);
}
