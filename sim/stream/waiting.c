#include "sim/stream/waiting.h"

#include "sim/machine/free_lists.h"

void gt_stream_wake(struct gt_machine *m, gt_stream_index stream, gt_time_ps time_ps)
{
    struct gt_stream_state *state = &m->streams[stream];

    if (state->wake_ps != GT_TIME_NONE && state->wake_ps <= time_ps)
        return; /* it looks again before that anyway */
    state->wake_ps = time_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_STREAM, stream, ++state->wake_stamp);
}

void gt_node_wake(struct gt_machine *m, gt_command_index node, gt_time_ps time_ps)
{
    if (m->commands[node].visible_ps > time_ps)
        time_ps = m->commands[node].visible_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_NODE, node, GT_NODE_MAY_GO);
}

void gt_stream_add_waiter(struct gt_machine *m, gt_stream_index stream, uint64_t number, uint32_t index,
                          enum gt_waiter_kind kind)
{
    gt_waiter_index waiter = gt_waiter_new(m);
    struct gt_stream_state *state = &m->streams[stream];
    uint32_t *link = &state->waiters;

    m->waits++;
    m->waiters[waiter].number = number;
    m->waiters[waiter].index = index;
    m->waiters[waiter].kind = kind;
    if (state->waiters != GT_NONE && m->waiters[state->waiters_tail].number <= number)
        link = &m->waiters[state->waiters_tail].next; /* nearly always: waits come in order */
    while (*link != GT_NONE && m->waiters[*link].number <= number)
        link = &m->waiters[*link].next;
    m->waiters[waiter].next = *link;
    if (*link == GT_NONE)
        state->waiters_tail = waiter;
    *link = waiter;
}

uint32_t gt_thread_forget_waits(struct gt_machine *m, gt_thread_index thread)
{
    uint32_t forgotten = 0;

    for (gt_stream_index stream = 0; stream < m->workload->stream_count; stream++) {
        struct gt_stream_state *state = &m->streams[stream];
        uint32_t *link = &state->waiters, tail = GT_NONE;

        while (*link != GT_NONE) {
            gt_waiter_index waiter = *link;

            if (m->waiters[waiter].kind == GT_WAITER_THREAD && m->waiters[waiter].index == thread) {
                *link = m->waiters[waiter].next;
                gt_waiter_free(m, waiter);
                forgotten++;
            } else {
                tail = waiter;
                link = &m->waiters[waiter].next;
            }
        }
        state->waiters_tail = tail;
    }
    return forgotten;
}

void gt_thread_wait(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream, uint64_t number)
{
    if (m->streams[stream].completed >= number)
        return;
    m->threads[thread].pending++;
    gt_stream_add_waiter(m, stream, number, thread, GT_WAITER_THREAD);
}
