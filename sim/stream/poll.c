#include "sim/stream/poll.h"

#include "sim/stream/waiting.h"

static const struct gt_call *call_of(const struct gt_machine *m, gt_thread_index thread)
{
    const struct gt_thread_state *state = &m->threads[thread];

    return &m->workload->calls[state->calls[state->next]];
}

static gt_time_ps query_ps(const struct gt_machine *m, gt_thread_index thread)
{
    return m->threads[thread].cost_ps;
}

void gt_poll_begin(struct gt_machine *m, gt_thread_index thread, gt_call_index call)
{
    const struct gt_call *c = &m->workload->calls[call];
    struct gt_thread_state *state = &m->threads[thread];

    state->polled = c->event != GT_NONE ? m->events[c->event].stream : c->stream;
    state->polled_number = c->event != GT_NONE ? m->events[c->event].number : m->streams[c->stream].submitted;
    if (state->polled_number == 0 || m->streams[state->polled].completed >= state->polled_number)
        return;
    state->pending++;
    m->fired[GT_RULE_POLL]++;
    gt_stream_add_waiter(m, state->polled, state->polled_number, thread, GT_WAITER_POLL);
    if (c->most_pieces > 0)
        gt_engine_schedule(&m->engine, gt_poll_end_ps(m, thread, c->most_pieces), GT_PHASE_HOST, GT_HANDLE_POLL,
                           thread, state->next);
}

uint64_t gt_poll_pieces(const struct gt_machine *m, gt_thread_index thread, gt_time_ps over_ps)
{
    gt_time_ps seen_ps = over_ps + m->device->poll_seen_ps, first_ps = gt_poll_end_ps(m, thread, 0);
    gt_time_ps round_ps = query_ps(m, thread) + call_of(m, thread)->piece_ps;

    if (seen_ps <= first_ps || round_ps == 0)
        return 0;
    return (seen_ps - first_ps + round_ps - 1) / round_ps;
}

gt_time_ps gt_poll_end_ps(const struct gt_machine *m, gt_thread_index thread, uint64_t pieces)
{
    const struct gt_call *call = call_of(m, thread);
    gt_time_ps end_ps = m->threads[thread].acted_ps + query_ps(m, thread);

    if (pieces > GT_TIME_LIMIT_PS / (query_ps(m, thread) + call->piece_ps + 1))
        return GT_TIME_LIMIT_PS + 1; /* refused as too late */
    return end_ps + pieces * (query_ps(m, thread) + call->piece_ps);
}
