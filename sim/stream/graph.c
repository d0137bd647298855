/* Graphs and edges: nodes start when all they come after has ended, a gap later.
 *
 * A graph is one command of the stream it was launched into; its nodes are not in any stream's order
 * but count as work of the stream they were recorded on. */
#include "sim/stream/graph.h"

#include "sim/machine/free_lists.h"
#include "sim/machine/priority.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/operation.h"
#include "sim/stream/stream.h"
#include "sim/stream/waiting.h"

static bool waits_for_groups(const struct gt_machine *m, gt_op_index op)
{
    return m->replay.graphs.waits != NULL && m->replay.graphs.waits[op];
}

/* Does the node run on the SMs? */
static bool takes_room(const struct gt_machine *m, const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL || (op->kind == GT_OP_MEMSET && op->bytes > m->device->copied_memset_bytes);
}

/* Seen on H200: a node behind other groups that finds kernels waiting for room gets into their line only when the last
 * of them has been handed out. One behind its own group, or the first of its group, is in it at once. */
static bool held_by_line(struct gt_machine *m, gt_command_index command)
{
    gt_op_index index = m->commands[command].index;
    const struct gt_op *op = &m->workload->ops[index];
    const struct gt_gpu_state *gpu = &m->gpus[m->streams[op->stream].compute];
    uint32_t level = gt_op_level(m, op);
    struct gt_grid *last;

    if (m->device->graph_turn_ps == 0 || !waits_for_groups(m, index) || m->replay.graphs.begins[index] ||
        !takes_room(m, op) || !(gpu->levels_used & UINT64_C(1) << level))
        return false;
    m->fired[GT_RULE_GRAPH_TURN]++;
    last = &m->grids[gpu->level_tail[level]];
    m->commands[command].wait_next = GT_NONE;
    if (last->held_head == GT_NONE)
        last->held_head = command;
    else
        m->commands[last->held_tail].wait_next = command;
    last->held_tail = command;
    return true;
}

void gt_graph_handed_out(struct gt_machine *m, gt_grid_index grid)
{
    gt_time_ps turn_ps = m->engine.now_ps + m->device->graph_turn_ps;

    for (gt_command_index at = m->grids[grid].held_head; at != GT_NONE; at = m->commands[at].wait_next) {
        gt_engine_schedule(&m->engine, turn_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, at, GT_NODE_HAD_ITS_TURN);
        turn_ps += m->device->graph_next_ps;
    }
}

int gt_node_handler(void *machine, gt_command_index command, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)error;
    if (stamp == GT_NODE_GROUP_WRITTEN) {
        gt_graph_group_written(m, command);
        return 0;
    }
    gt_graph_write_node(m, command);
    if (!gt_hw_queue_allows(m, command)) {
        m->commands[command].waiting = true;
        return 0;
    }
    gt_hw_queue_leave(m, command);
    if (stamp == GT_NODE_HAD_ITS_TURN || !held_by_line(m, command))
        gt_op_ready(m, command);
    return m->failed ? -1 : 0;
}

/* In the recording the graph had been handed over before its stream let it go: its nodes that come after none started
 * so long after its first one all the same. */
static gt_time_ps behind_start_ps(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_recorded_graphs *recorded = &m->replay.recorded_graphs;

    if (m->workload->ops[op].gap_ps != GT_TIME_NONE)
        return m->workload->ops[op].gap_ps;
    if (recorded->behind_ps == NULL || recorded->behind_ps[op] == GT_TIME_NONE ||
        !recorded->queued[m->workload->ops[op].call])
        return 0;
    return recorded->behind_ps[op];
}

static gt_time_ps as_recorded_ps(const struct gt_machine *m, gt_op_index op)
{
    gt_time_ps start_ps = m->workload->ops[op].start_ps;

    return start_ps > m->engine.now_ps ? start_ps : m->engine.now_ps;
}

void gt_graph_start(struct gt_machine *m, gt_command_index graph)
{
    const struct gt_call *call = &m->workload->calls[m->commands[graph].index];

    m->commands[graph].nodes_left = call->ops;
    gt_hw_queue_leave(m, graph);
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
        gt_command_index node = m->op_commands[op] != GT_NONE ? m->op_commands[op] : gt_graph_add_node(m, graph, op);

        for (int reason = 0; reason < GT_WAITS; reason++)
            if (m->commands[graph].releases[reason].time_ps > m->commands[node].releases[reason].time_ps)
                m->commands[node].releases[reason] = m->commands[graph].releases[reason];
        if (m->op_afters_left == NULL || m->op_afters_left[op] == 0)
            gt_node_wake(m, node,
                         gt_starts_as_recorded(m, op) ? as_recorded_ps(m, op)
                                                      : m->engine.now_ps + behind_start_ps(m, op));
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

/* From the end of `before` to the start of `op`, which is the one that it lets go after `let_go` others. */
static gt_time_ps edge_gap_ps(struct gt_machine *m, gt_op_index before, gt_op_index op, uint32_t let_go)
{
    const struct gt_op *from = &m->workload->ops[before], *to = &m->workload->ops[op];
    const gt_time_ps *recorded_ps = m->replay.recorded_graphs.gap_ps;
    gt_time_ps gap_ps = gt_replay_edge_gap_ps(&m->replay, from, to);

    if (from->call != to->call)
        return gt_launch_gap_ps(m->replay.launch_gaps, op, GT_LAUNCH_GAP_WAIT, gap_ps);
    m->fired[gt_replay_switches_engine(&m->replay, from, to) ? GT_RULE_ENGINE_GAP : GT_RULE_GRAPH_GAP]++;
    if (to->gap_ps != GT_TIME_NONE)
        return to->gap_ps;
    if (recorded_ps != NULL && recorded_ps[op] != GT_TIME_NONE)
        return recorded_ps[op];
    if (gt_replay_switches_engine(&m->replay, from, to) || gt_replay_learned_graph_gap(&m->replay, from, to))
        return gap_ps;
    m->fired[GT_RULE_GRAPH_WAIT] += m->replay.graphs.waits[op];
    m->fired[GT_RULE_GRAPH_NEXT] += let_go > 0;
    return gap_ps + (m->replay.graphs.waits[op] ? m->device->graph_wait_ps : 0) + let_go * m->device->graph_next_ps;
}

/* One of the operations that `op` comes after has ended. Was it the last? */
static bool edge_met(struct gt_machine *m, gt_op_index before, gt_op_index op, uint32_t let_go)
{
    gt_command_index command = m->op_commands[op];
    gt_time_ps due_ps;
    enum gt_wait reason;

    if (m->replay.given_up != NULL && m->replay.given_up[op] &&
        gt_replay_is_inferred(&m->replay, m->workload, before, op))
        return false;
    if (--m->op_afters_left[op] > 0 || command == GT_NONE)
        return false;
    if (m->commands[command].kind == GT_COMMAND_NODE && !m->commands[m->commands[command].parent].started)
        return false;
    if (m->commands[command].depends_ps != 0) /* it has come before this end */
        return false;
    due_ps =
        gt_starts_as_recorded(m, op) ? as_recorded_ps(m, op) : m->engine.now_ps + edge_gap_ps(m, before, op, let_go);
    /* Within its stream's chain the gap is the stream's, across streams it is a wait. */
    reason = m->workload->ops[before].stream == m->workload->ops[op].stream ? GT_WAIT_STREAM : GT_WAIT_EVENT;
    gt_stream_command_hold(m, command, reason, due_ps, GT_CAUSE_OP, before);
    if (m->commands[command].kind == GT_COMMAND_NODE)
        gt_node_wake(m, command, due_ps);
    else
        gt_stream_wake(m, m->commands[command].stream, m->engine.now_ps);
    return true;
}

/* Seen on H200: of nodes that one end lets go, those that come after their own group's only start 1.2, 1.4, 1.7, 2.0 us
 * after it in order of creation; those that come after other groups' too 2.2, 2.4, 2.6, the last created first. */
void gt_graph_op_ended(struct gt_machine *m, gt_op_index op)
{
    const struct gt_replay *replay = &m->replay;
    uint32_t let_go = 0, first = replay->edge_from[op], end = replay->edge_from[op + 1];

    m->op_commands[op] = GT_NONE;
    for (uint32_t i = end; i-- > first;) { /* which stand the last one first */
        if (!waits_for_groups(m, replay->edge_to[i]))
            let_go += edge_met(m, op, replay->edge_to[i], let_go);
    }
    for (uint32_t i = first; i < end; i++) {
        if (waits_for_groups(m, replay->edge_to[i]))
            let_go += edge_met(m, op, replay->edge_to[i], let_go);
    }
}
