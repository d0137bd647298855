#include "sim/stream/waiting.h"

#include "sim/machine/free_lists.h"

void gt_stream_wake(struct gt_machine *m, uint32_t number, gt_time_ps time_ps)
{
    struct gt_stream_state *stream = &m->streams[number];

    if (stream->wake_ps != GT_TIME_NONE && stream->wake_ps <= time_ps)
        return; /* it looks again before that anyway */
    stream->wake_ps = time_ps;
    gt_engine_schedule(&m->engine, time_ps, GT_PHASE_WAKE, GT_HANDLE_STREAM, number, ++stream->wake_stamp);
}

void gt_stream_add_waiter(struct gt_machine *m, uint32_t number, uint64_t until, uint32_t index,
                          enum gt_waiter_kind kind)
{
    uint32_t waiter = gt_waiter_new(m);
    struct gt_stream_state *stream = &m->streams[number];
    uint32_t *link = &stream->waiters;

    m->waiters[waiter].number = until;
    m->waiters[waiter].index = index;
    m->waiters[waiter].kind = kind;
    if (stream->waiters != GT_NONE && m->waiters[stream->waiters_tail].number <= until)
        link = &m->waiters[stream->waiters_tail].next; /* nearly always: waits come in order */
    while (*link != GT_NONE && m->waiters[*link].number <= until)
        link = &m->waiters[*link].next;
    m->waiters[waiter].next = *link;
    if (*link == GT_NONE)
        stream->waiters_tail = waiter;
    *link = waiter;
}

void gt_thread_wait(struct gt_machine *m, uint32_t number, uint32_t stream, uint64_t until)
{
    if (m->streams[stream].completed >= until)
        return;
    m->threads[number].pending++;
    gt_stream_add_waiter(m, stream, until, number, GT_WAITER_THREAD);
}
