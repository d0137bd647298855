#include "sim/stream/stalled.h"

#include "sim/replay/equivalent.h"
#include "sim/stream/host_thread.h"
#include "sim/stream/launch_order.h"
#include "sim/stream/waiting.h"

/* An operation that waits for what was inferred. */
struct held {
    gt_op_index op;    /* GT_NONE: none */
    bool unasked;      /* what it waits for has not even been asked for */
    uint32_t inferred; /* edges that are not met */
};

/* Nodes have no command before their graph starts, and a graph that has started stands first in its stream. */
static bool graph_has_started(const struct gt_machine *m, gt_call_index call)
{
    gt_stream_index stream = gt_call_stream(m->workload, &m->workload->calls[call]);
    gt_command_index head = m->streams[stream].head;

    if (m->streams[stream].completed >= m->op_numbers[m->workload->calls[call].first_op])
        return true;
    return head != GT_NONE && m->commands[head].kind == GT_COMMAND_GRAPH && m->commands[head].index == call &&
           m->commands[head].started;
}

static bool has_ended(const struct gt_machine *m, gt_op_index op)
{
    gt_call_index call = m->workload->ops[op].call;

    if (m->op_numbers[op] == 0 || m->op_commands[op] != GT_NONE)
        return false;
    return m->workload->calls[call].kind != GT_CALL_GRAPH_LAUNCH || graph_has_started(m, call);
}

static void look_at_edge(const struct gt_machine *m, gt_op_index before, struct held *held)
{
    if (before == GT_NONE || has_ended(m, before))
        return;
    held->inferred++;
    held->unasked |= m->op_numbers[before] == 0;
}

static struct held look_at(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_op *o = &m->workload->ops[op];
    struct held held = { .op = GT_NONE };

    if (m->op_afters_left[op] == 0 || m->replay.given_up[op])
        return held;
    for (uint32_t i = o->afters - o->inferred_afters; i < o->afters; i++)
        look_at_edge(m, m->workload->afters[o->first_after + i], &held);
    if (m->replay.inferred_after != NULL)
        look_at_edge(m, m->replay.inferred_after[op], &held);
    if (held.inferred > 0)
        held.op = op;
    return held;
}

/* What has not been asked for is the furthest away; of equals the one that was asked for first waits for the others least. */
static void choose(struct held *best, const struct held *other)
{
    if (other->op == GT_NONE)
        return;
    if (best->op == GT_NONE || (other->unasked && !best->unasked) ||
        (other->unasked == best->unasked && other->op < best->op))
        *best = *other;
}

/* Whatever is stuck waits, at last, for what stands first in some stream: an operation, or nodes of a graph. */
static struct held find_held(const struct gt_machine *m)
{
    struct held best = { .op = GT_NONE }, held;

    for (gt_stream_index i = 0; i < m->workload->stream_count; i++) {
        const struct gt_stream_command *head =
            m->streams[i].head == GT_NONE ? NULL : &m->commands[m->streams[i].head];

        if (head != NULL && head->kind == GT_COMMAND_OP && !head->started) {
            held = look_at(m, head->index);
            choose(&best, &held);
        } else if (head != NULL && head->kind == GT_COMMAND_GRAPH && head->started) {
            const struct gt_call *call = &m->workload->calls[head->index];

            for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
                held = look_at(m, op);
                choose(&best, &held);
            }
        }
    }
    return best;
}

static bool release_op(struct gt_machine *m)
{
    struct held held = { .op = GT_NONE };
    gt_command_index command;

    if (m->replay.given_up != NULL && m->op_afters_left != NULL)
        held = find_held(m);
    if (held.op == GT_NONE)
        return false;
    m->replay.given_up[held.op] = true;
    m->op_afters_left[held.op] -= held.inferred;
    command = m->op_commands[held.op];
    if (m->commands[command].kind != GT_COMMAND_NODE)
        gt_stream_wake(m, m->commands[command].stream, m->engine.now_ps);
    else if (m->op_afters_left[held.op] == 0)
        gt_node_wake(m, command, m->engine.now_ps);
    return true;
}

/* Is it a synchronisation that does not say for what, so that it waits for what its measured return followed? */
static bool waits_for_guess(const struct gt_call *call)
{
    return (call->kind == GT_CALL_STREAM_SYNC && call->stream == GT_NONE) ||
           (call->kind == GT_CALL_EVENT_SYNC && call->event == GT_NONE);
}

static bool release_thread(struct gt_machine *m)
{
    for (gt_thread_index i = 0; i < m->workload->thread_count; i++) {
        const struct gt_thread_state *thread = &m->threads[i];

        if (thread->call_count == 0 || thread->done || thread->pending != 1 ||
            !waits_for_guess(&m->workload->calls[thread->calls[thread->next]]) || gt_thread_forget_waits(m, i) == 0)
            continue;
        gt_thread_release(m, i, GT_NONE);
        return true;
    }
    return false;
}

bool gt_stalled_release(struct gt_machine *m)
{
    if (m->failed)
        return false;
    if (release_op(m))
        return true;
    if (!gt_launch_order_release(m) && !release_thread(m))
        return false;
    m->calls_released++;
    return true;
}
