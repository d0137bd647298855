/* Groups of a graph's nodes take places in hardware queues one after the other, as the driver writes them. */
#include "sim/stream/graph_groups.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/hw_queue.h"
#include "sim/stream/waiting.h"

gt_command_index gt_graph_add_node(struct gt_machine *m, gt_command_index graph, gt_op_index op)
{
    gt_command_index node = gt_stream_command_new(m, GT_COMMAND_NODE, op, m->commands[graph].stream);

    m->commands[node].parent = graph;
    m->commands[node].submit_ps = m->commands[graph].submit_ps;
    m->commands[node].visible_ps = m->node_visible_ps[op];
    gt_stream_command_hold(m, node, GT_WAIT_HOST, m->node_visible_ps[op], GT_CAUSE_CALL, m->commands[graph].index);
    m->op_commands[op] = node;
    return node;
}

/* The next group has been written: it takes its place in a hardware queue. */
static void write_next(struct gt_machine *m)
{
    gt_command_index node = m->unwritten;
    gt_op_index behind = m->replay.graphs.behind[m->commands[node].index];

    while (behind != GT_NONE && m->workload->ops[behind].kind == GT_OP_COPY)
        behind = m->replay.graphs.behind[behind];
    m->unwritten = m->commands[node].queue_next;
    m->commands[node].unwritten = false;
    gt_hw_queue_push_group(m, node, behind == GT_NONE ? GT_NONE : m->op_commands[behind]);
}

void gt_graph_write_rest(struct gt_machine *m)
{
    while (m->unwritten != GT_NONE)
        write_next(m);
}

void gt_graph_write_node(struct gt_machine *m, gt_command_index node)
{
    while (m->commands[node].unwritten)
        write_next(m);
}

/* The driver writes until the GPU is told of the nodes. */
static void schedule_writing(struct gt_machine *m)
{
    gt_time_ps written_ps, latency_ps = m->replay.graph_latency_ps > 0 ? (gt_time_ps)m->replay.graph_latency_ps : 0;

    if (m->unwritten == GT_NONE)
        return;
    written_ps = m->commands[m->unwritten].visible_ps;
    written_ps = written_ps > latency_ps + m->engine.now_ps ? written_ps - latency_ps : m->engine.now_ps;
    gt_engine_schedule(&m->engine, written_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, m->unwritten, GT_NODE_GROUP_WRITTEN);
}

void gt_graph_group_written(struct gt_machine *m, gt_command_index node)
{
    if (m->unwritten != node)
        return; /* somebody had it written before */
    write_next(m);
    schedule_writing(m);
}

bool gt_graph_in_groups(const struct gt_machine *m, gt_command_index graph)
{
    gt_op_index first = m->workload->calls[m->commands[graph].index].first_op;
    const struct gt_recorded_graphs *recorded = &m->replay.recorded_graphs;

    if (m->workload->ops[first].gap_ps != GT_TIME_NONE) /* stated as it was recorded */
        return false;
    return recorded->behind_ps == NULL || recorded->behind_ps[first] == GT_TIME_NONE;
}

void gt_graph_submitted(struct gt_machine *m, gt_command_index graph)
{
    gt_command_index before = GT_NONE;

    if (!gt_graph_in_groups(m, graph))
        return;

    for (gt_op_index op = m->replay.graphs.first[m->commands[graph].index]; op != GT_NONE;
         op = m->replay.graphs.next[op]) {
        gt_command_index node;

        if (m->workload->ops[op].kind == GT_OP_COPY)
            continue;
        node = gt_graph_add_node(m, graph, op);
        m->commands[node].unwritten = true;
        m->commands[node].queue_next = GT_NONE;
        if (before == GT_NONE)
            m->unwritten = node;
        else
            m->commands[before].queue_next = node;
        before = node;
    }
    schedule_writing(m);
}
