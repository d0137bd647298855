/* Host threads: each walks its calls in order; its own work between them keeps its length, what it
 * waits for is simulated. */
#include "sim/stream/host_thread.h"

#include "sim/machine/failure.h"
#include "sim/stream/api_call.h"
#include "sim/stream/waiting.h"

/* The thread's own work between two recorded calls. */
static gt_time_ps own_work_ps(const struct gt_machine *m, const struct gt_thread_state *thread, uint32_t next)
{
    const struct gt_call *call = &m->workload->calls[thread->calls[next]], *before;
    gt_time_ps before_end;

    if (call->start_ps == GT_TIME_NONE)
        return 0;
    if (next == 0)
        return call->start_ps;
    before = &m->workload->calls[thread->calls[next - 1]];
    before_end = gt_call_measured_end(before);
    return before_end == GT_TIME_NONE || before_end > call->start_ps ? 0 : call->start_ps - before_end;
}

static void fail_late_call(struct gt_machine *m, const struct gt_call *call)
{
    char place[512];

    gt_machine_place(m, call->line, place, sizeof place);
    gt_machine_fail(m, "%s: a call of %s ends after more than 53 days of simulated time; look for an absurd "
                    "duration",
                    place, gt_call_kind_names[call->kind]);
}

static void finish_call(struct gt_machine *m, uint32_t number, gt_time_ps end_ps)
{
    struct gt_thread_state *thread = &m->threads[number];
    struct gt_call_record record = {
        .call = thread->calls[thread->next], .start_ps = thread->start_ps, .end_ps = end_ps,
        .blocked_ps = thread->blocked_ps, .cause_op = thread->cause_op,
    };

    if (end_ps > GT_TIME_LIMIT_PS) {
        fail_late_call(m, &m->workload->calls[record.call]);
        return;
    }
    if (end_ps > m->end_ps)
        m->end_ps = end_ps;
    if (m->probe->call != NULL && m->probe->call(m->probe->user, &record, m->error) != 0)
        m->failed = true;
    thread->next++;
    if (thread->next == thread->call_count) {
        thread->done = true;
        return;
    }
    gt_engine_schedule(&m->engine, end_ps + own_work_ps(m, thread, thread->next), GT_PHASE_HOST,
                       GT_HANDLE_THREAD, number, 0);
}

static void act(struct gt_machine *m, uint32_t number)
{
    struct gt_thread_state *thread = &m->threads[number];
    uint32_t call = thread->calls[thread->next];

    thread->acted_ps = m->engine.now_ps;
    gt_api[m->workload->calls[call].kind].act(m, number, call);
    if (thread->pending == 0)
        finish_call(m, number, m->engine.now_ps + gt_call_cost_ps(m, call));
}

/* The stream whose launch queue this call needs room in; GT_NONE when it submits nothing. */
static uint32_t submits_to(const struct gt_machine *m, const struct gt_call *call)
{
    return gt_api[call->kind].submits && call->ops > 0 ? m->workload->ops[call->first_op].stream : GT_NONE;
}

/* A call that submits work goes on until then. */
static void note_submission(struct gt_machine *m, uint32_t number, gt_time_ps end_ps)
{
    m->submissions[m->next_submission] = (struct gt_submission){ number, end_ps };
    m->next_submission = (m->next_submission + 1) % GT_SUBMISSIONS;
}

/* Other threads that are inside such a call. Seen on H200: launches of 1 to 4 threads at once take 3.1,
 * 5.0, 6.0, 7.0 us each. */
static uint32_t others_submitting(const struct gt_machine *m, uint32_t number)
{
    uint32_t others = 0;

    for (int i = 0; i < GT_SUBMISSIONS; i++)
        others += m->submissions[i].end_ps > m->engine.now_ps && m->submissions[i].thread != number
                  && m->workload->threads[m->submissions[i].thread].process
                         == m->workload->threads[number].process;
    return others;
}

/* What a call that submits to this stream costs beyond its row; a recorded one has it in its time. */
static gt_time_ps more_ps(struct gt_machine *m, uint32_t number, uint32_t stream)
{
    const struct gt_thread_state *thread = &m->threads[number];
    const struct gt_call *call = &m->workload->calls[thread->calls[thread->next]];
    gt_time_ps time_ps = 0;

    if (stream == GT_NONE || call->duration_ps != GT_TIME_NONE)
        return 0;
    if (call->kind == GT_CALL_LAUNCH && !m->streams[stream].launched)
        time_ps += m->device->first_launch_ps;
    m->streams[stream].launched |= call->kind == GT_CALL_LAUNCH;
    time_ps += others_submitting(m, number) * m->device->submit_lock_ps;
    note_submission(m, number,
                    m->engine.now_ps
                        + *(const uint64_t *)((const char *)m->device + gt_api[call->kind].cost_offset)
                        + time_ps);
    return time_ps;
}

int gt_thread_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_thread_state *thread = &m->threads[number];
    uint32_t stream = submits_to(m, &m->workload->calls[thread->calls[thread->next]]);

    (void)stamp;
    (void)error;
    thread->start_ps = m->engine.now_ps;
    thread->blocked_ps = 0;
    thread->cause_op = GT_NONE;
    thread->more_ps = more_ps(m, number, stream);
    if (stream != GT_NONE
        && m->streams[stream].submitted - m->streams[stream].completed >= m->device->launch_queue_depth) {
        thread->waits_for_room = true;
        thread->acted_ps = m->engine.now_ps;
        gt_thread_wait(m, number, stream, m->streams[stream].submitted - m->device->launch_queue_depth + 1);
    } else {
        act(m, number);
    }
    return m->failed ? -1 : 0;
}

void gt_thread_release(struct gt_machine *m, uint32_t number, uint32_t cause_op)
{
    struct gt_thread_state *thread = &m->threads[number];
    gt_time_ps now_ps = m->engine.now_ps, least_ps;
    uint32_t call = thread->calls[thread->next];

    if (--thread->pending > 0)
        return;
    thread->blocked_ps += now_ps - thread->acted_ps;
    thread->cause_op = cause_op;
    if (thread->waits_for_room) {
        thread->waits_for_room = false;
        act(m, number);
        return;
    }
    least_ps = thread->acted_ps + gt_call_cost_ps(m, call);
    now_ps += gt_call_tail_ps(m, call);
    finish_call(m, number, now_ps > least_ps ? now_ps : least_ps);
}
