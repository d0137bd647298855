/* Hardware queues: streams share a limited number of connections (CUDA_DEVICE_MAX_CONNECTIONS).
 *
 * A stream has a connection while commands of it stand there, and gets one anew afterwards: its last one if that is
 * free, any other that is, and only where none is the one with the fewest commands.  Seen on H200s: of 14 streams of random
 * traces those that a fixed division by eight would put together passed each other as freely as any others, while of
 * 8 to 40 streams that are all busy stream i waits for stream i - 8 (validate/RULES.md, connections).
 *
 * A graph's nodes go by groups (sim/replay/graph_launch.h), each in a connection from when the driver has written it until its
 * first node may go: behind the group that it waits for where that is the last of its connection, else in the one with
 * the fewest commands.  Seen on H200: with n groups that wait, one each for a memset that is released at a time of its own,
 * kernels of other streams and graphs start at once for n up to 6, with 8 the first waits for the first group,
 * the second for the second; of 9 to 14 groups where each later one stands says the order of release.
 *
 * A connection is a FIFO in order of submission.  Only its head may act: a kernel leaves it when it is
 * in the line for SMs, a copy when its engine's queue has it, a wait when it is satisfied.  So
 * a command that waits for its own stream holds back the other streams of its connection: the false
 * dependencies of Bakita & Anderson, RTAS'24 (who have a channel free when the last kernel of its stream is
 * fully dispatched: on a GPU with room both are one). */
#include "sim/stream/hw_queue.h"

#include "sim/machine/free_lists.h"
#include "sim/stream/waiting.h"

static struct gt_hw_queue_state *queue_of(const struct gt_machine *m, gt_command_index command)
{
    return &m->queues[m->commands[command].queue];
}

/* Of the stream's connections the one with the fewest commands, the first of several. */
static gt_queue_index least_busy(const struct gt_machine *m, const struct gt_stream_state *stream)
{
    gt_queue_index first = stream->first_queue, least = first;

    for (gt_queue_index queue = first; queue < first + stream->connections; queue++)
        if (m->queues[queue].count < m->queues[least].count)
            least = queue;
    return least;
}

static void push(struct gt_machine *m, gt_command_index command, gt_queue_index index)
{
    struct gt_hw_queue_state *queue = &m->queues[index];

    m->commands[command].queue = index;
    m->commands[command].in_queue = true;
    m->commands[command].queue_next = GT_NONE;
    if (queue->head == GT_NONE) {
        queue->head = command;
        m->gpus[m->streams[m->commands[command].stream].gpu].queues_waiting++;
    } else {
        m->commands[queue->tail].queue_next = command;
    }
    queue->tail = command;
    queue->count++;
}

bool gt_hw_queue_allows(const struct gt_machine *m, gt_command_index command)
{
    return !m->commands[command].in_queue || queue_of(m, command)->head == command;
}

uint32_t gt_hw_queues_shared(const struct gt_machine *m, gt_stream_index stream)
{
    gt_queue_index first = m->streams[stream].first_queue;
    uint32_t shared = 0;

    for (gt_queue_index queue = first; queue < first + m->streams[stream].connections; queue++) {
        const struct gt_hw_queue_state *state = &m->queues[queue];

        if (state->count > 1)
            shared += m->commands[state->head].stream != m->commands[state->tail].stream ||
                      m->commands[state->tail].kind == GT_COMMAND_NODE;
    }
    return shared;
}

/* Did `next` stand behind `command` with nothing else to wait for?  Groups of one graph are all of its stream. */
static bool held_by(const struct gt_machine *m, gt_command_index next, gt_command_index command)
{
    const struct gt_stream_command *held = &m->commands[next], *by = &m->commands[command];

    if (held->kind == GT_COMMAND_NODE)
        return held->waiting;
    return (held->stream != by->stream || by->kind == GT_COMMAND_NODE) && held->visible_ps < m->engine.now_ps;
}

void gt_hw_queue_leave(struct gt_machine *m, gt_command_index command)
{
    struct gt_hw_queue_state *queue = queue_of(m, command);
    uint32_t next = m->commands[command].queue_next;
    bool is_op = m->commands[command].kind == GT_COMMAND_OP || m->commands[command].kind == GT_COMMAND_NODE;

    if (!m->commands[command].in_queue)
        return;
    if (queue->head != command)
        gt_bug("a command leaves its hardware queue from behind the head");
    m->commands[command].in_queue = false;
    if (m->commands[command].kind != GT_COMMAND_NODE)
        m->streams[m->commands[command].stream].queued--;
    queue->count--;
    queue->head = next;
    if (next == GT_NONE) {
        m->gpus[m->streams[m->commands[command].stream].gpu].queues_waiting--;
        return;
    }
    m->fired[GT_RULE_CONNECTIONS] += held_by(m, next, command);
    if (m->commands[next].stream != m->commands[command].stream && is_op)
        gt_stream_command_hold(m, next, GT_WAIT_QUEUE, m->engine.now_ps, GT_CAUSE_OP, m->commands[command].index);
    /* Not at once: whoever leaves is in the middle of its own step. */
    if (m->commands[next].kind != GT_COMMAND_NODE)
        gt_stream_wake(m, m->commands[next].stream, m->engine.now_ps);
    else if (m->commands[next].waiting)
        gt_node_wake(m, next, m->engine.now_ps);
}

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

/* A group, by its first node, goes behind the group that it waits for where that is the last in its queue (`behind`, by its
 * first node; GT_NONE: it waits for none), else to the queue with the fewest commands. */
static void push_group(struct gt_machine *m, gt_command_index node, gt_command_index behind)
{
    bool follows = behind != GT_NONE && m->commands[behind].in_queue && queue_of(m, behind)->tail == behind;

    push(m, node, follows ? m->commands[behind].queue : least_busy(m, &m->streams[m->commands[node].stream]));
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
    push_group(m, node, behind == GT_NONE ? GT_NONE : m->op_commands[behind]);
}

/* Somebody else submits work: the graph that is being written has been by then. */
static void write_rest(struct gt_machine *m)
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

/* Do the graph's groups of nodes take places in hardware queues? Else, where the launch was recorded, the graph does. */
static bool in_groups(const struct gt_machine *m, gt_command_index graph)
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

    if (!in_groups(m, graph))
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

void gt_hw_queue_push(struct gt_machine *m, gt_command_index command)
{
    struct gt_stream_state *stream = &m->streams[m->commands[command].stream];

    write_rest(m);
    if (m->commands[command].kind == GT_COMMAND_GRAPH && in_groups(m, command))
        return;
    /* Without a command in one: its last one, if that is free. */
    if (stream->queued++ == 0 && m->queues[stream->queue].head != GT_NONE)
        stream->queue = least_busy(m, stream);
    push(m, command, stream->queue);
}
