/* Host threads: each walks its calls in order; its own work between them keeps its length, what it
 * waits for is simulated. */
#include "sim/stream/host_thread.h"

#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/machine/failure.h"
#include "sim/stream/api_call.h"
#include "sim/stream/call_times.h"
#include "sim/stream/host_noise.h"
#include "sim/stream/launch_order.h"
#include "sim/stream/waiting.h"

/* Locks that threads of a process share and hold while they call: an interpreter's (Python's GIL).
 *
 * Who finds it taken stands in line, first come, first served; a thread that has called stands at the end again, however
 * soon its next call comes.  From its release to the next one's call host.lock_us pass.  A call begins when its thread
 * has the lock; which calls need it gt_call_needs_lock() says. */

/* One thread with a lock, while they are numbered. */
struct holder {
    uint64_t process;
    uint32_t name;
    gt_thread_index thread;
};

static int by_lock(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;

    GT_ORDER(a->name, b->name);
    GT_ORDER(a->process, b->process);
    GT_ORDER(a->thread, b->thread);
    return 0;
}

void gt_thread_locks_build(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    struct holder *holders = gt_calloc(w->thread_count + 1ull, sizeof *holders);
    uint32_t count = 0, locks = 0;

    for (uint32_t i = 0; i < w->thread_count; i++) {
        m->threads[i].lock = GT_NONE;
        if (w->threads[i].lock != GT_NONE)
            holders[count++] = (struct holder){ w->threads[i].process, w->threads[i].lock, i };
    }
    qsort(holders, count, sizeof *holders, by_lock);
    for (uint32_t i = 0; i < count; i++) {
        locks += i == 0 || holders[i].name != holders[i - 1].name || holders[i].process != holders[i - 1].process;
        m->threads[holders[i].thread].lock = locks - 1;
    }
    m->locks = gt_calloc(locks, sizeof *m->locks);
    for (uint32_t i = 0; i < locks; i++)
        m->locks[i].head = GT_NONE;
    free(holders);
}

void gt_thread_locks_free(struct gt_machine *m)
{
    free(m->locks);
}

/* The thread's next call may begin: true. False: it is handed the lock later, by a GT_HANDLE_THREAD event whose stamp
 * is HAS_LOCK. */
enum { HAS_LOCK = 1 };
static bool take_lock(struct gt_machine *m, gt_thread_index thread)
{
    struct gt_thread_state *state = &m->threads[thread];
    struct gt_lock_state *lock;

    if (state->lock == GT_NONE || !gt_call_needs_lock(m->workload, state->calls[state->next]))
        return true;
    lock = &m->locks[state->lock];
    state->has_lock = true;
    if (!lock->taken) {
        lock->taken = true;
        return true;
    }
    m->fired[GT_RULE_LOCK]++;
    state->lock_next = GT_NONE;
    if (lock->head == GT_NONE)
        lock->head = thread;
    else
        m->threads[lock->tail].lock_next = thread;
    lock->tail = thread;
    return false;
}

/* Its call ends at that time, now or later; to be said before its next call is scheduled. */
static void give_lock(struct gt_machine *m, gt_thread_index thread, gt_time_ps end_ps)
{
    struct gt_thread_state *state = &m->threads[thread];

    if (!state->has_lock)
        return;
    state->has_lock = false;
    gt_engine_schedule(&m->engine, end_ps, GT_PHASE_HOST, GT_HANDLE_LOCK, state->lock, 0);
}

int gt_thread_lock_handler(void *machine, uint32_t index, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_lock_state *lock = &m->locks[index];
    gt_thread_index next = lock->head;

    (void)stamp;
    (void)error;
    if (next == GT_NONE) {
        lock->taken = false;
        return 0;
    }
    lock->head = m->threads[next].lock_next;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->device->lock_ps, GT_PHASE_HOST, GT_HANDLE_THREAD, next,
                       HAS_LOCK);
    return 0;
}

/* The thread's own work between two recorded calls, and what the second waits for its turn at the driver. */
static gt_time_ps own_work_ps(const struct gt_machine *m, const struct gt_thread_state *state, uint32_t next)
{
    const struct gt_call *call = &m->host->calls[state->calls[next]], *before;
    gt_time_ps before_end, held_ps = gt_replay_held_ps(&m->replay, state->calls[next]);

    if (call->start_ps == GT_TIME_NONE)
        return call->before_ps;
    if (next == 0)
        return call->start_ps + held_ps;
    before = &m->host->calls[state->calls[next - 1]];
    before_end = gt_call_measured_end(before);
    return (before_end == GT_TIME_NONE || before_end > call->start_ps ? 0 : call->start_ps - before_end) + held_ps;
}

static void fail_late_call(struct gt_machine *m, const struct gt_call *call)
{
    char place[512];

    gt_machine_place(m, call->line, place, sizeof place);
    gt_machine_fail(m,
                    "%s: a call of %s ends after more than 53 days of simulated time; look for an absurd "
                    "duration",
                    place, gt_call_kind_names[call->kind]);
}

static void finish_call(struct gt_machine *m, gt_thread_index thread, gt_time_ps end_ps)
{
    struct gt_thread_state *state = &m->threads[thread];
    struct gt_call_record record = {
        .call = state->calls[state->next],
        .start_ps = state->start_ps,
        .end_ps = end_ps,
        .blocked_ps = state->blocked_ps,
        .cause_op = state->cause_op,
        .pieces = state->pieces,
    };

    if (end_ps > GT_TIME_LIMIT_PS) {
        fail_late_call(m, &m->workload->calls[record.call]);
        return;
    }
    if (end_ps > m->end_ps)
        m->end_ps = end_ps;
    if (m->probe->call != NULL && m->probe->call(m->probe->user, &record, m->error) != 0)
        m->failed = true;
    give_lock(m, thread, end_ps);
    state->next++;
    if (state->next == state->call_count) {
        state->done = true;
        return;
    }
    gt_engine_schedule(&m->engine, end_ps + own_work_ps(m, state, state->next), GT_PHASE_HOST, GT_HANDLE_THREAD,
                       thread, 0);
}

/* When a call that waits for nothing is over. */
static gt_time_ps call_end_ps(const struct gt_machine *m, gt_call_index call)
{
    gt_time_ps end_ps = m->engine.now_ps + gt_call_cost_ps(m, call), until_ps = m->workload->calls[call].until_ps;

    return end_ps > until_ps ? end_ps : until_ps;
}

static void act(struct gt_machine *m, gt_thread_index thread)
{
    struct gt_thread_state *state = &m->threads[thread];
    gt_call_index call = state->calls[state->next];

    state->acted_ps = m->engine.now_ps;
    gt_api[m->workload->calls[call].kind].act(m, thread, call);
    gt_launch_order_made(m, call);
    if (state->pending == 0)
        finish_call(m, thread, call_end_ps(m, call));
}

/* The stream whose launch queue this call needs room in; GT_NONE when it submits nothing. */
static uint32_t submits_to(const struct gt_machine *m, const struct gt_call *call)
{
    return gt_api[call->kind].submits && call->ops > 0 ? m->workload->ops[call->first_op].stream : GT_NONE;
}

/* A call that submits work goes on until then. */
static void note_submission(struct gt_machine *m, gt_thread_index thread, gt_gpu_index gpu, gt_time_ps end_ps)
{
    m->submissions[m->next_submission] = (struct gt_submission){ thread, gpu, end_ps };
    m->next_submission = (m->next_submission + 1) % GT_SUBMISSIONS;
}

/* Other threads that are inside such a call, for the same GPU. Seen on H200: launches of 1 to 4 threads at once take
 * 3.1, 5.0, 6.0, 7.0 us each; of two threads on one GPU 4.3, on two GPUs 3.3, of one alone 3.4. */
static uint32_t others_submitting(const struct gt_machine *m, gt_thread_index thread, gt_gpu_index gpu)
{
    uint32_t others = 0;

    for (int i = 0; i < GT_SUBMISSIONS; i++)
        others += m->submissions[i].end_ps > m->engine.now_ps && m->submissions[i].thread != thread &&
                  m->submissions[i].gpu == gpu &&
                  m->workload->threads[m->submissions[i].thread].process == m->workload->threads[thread].process;
    return others;
}

/* What a call costs that was not measured, by itself and in this draw of the host's noise.  `stream`: it submits to; or
 * GT_NONE. */
static gt_time_ps cost_ps(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream)
{
    const struct gt_thread_state *state = &m->threads[thread];
    gt_call_index call = state->calls[state->next];
    gt_time_ps extra_ps = gt_call_extra_ps(m, thread, call), time_ps;
    uint32_t others;

    if (m->workload->calls[call].kind == GT_CALL_POLL)
        return gt_noise_call_ps(m, call, m->device->poll_query_ps);
    if (m->host->calls[call].duration_ps != GT_TIME_NONE)
        return 0;
    m->fired[GT_RULE_CALL_EXTRA] += extra_ps > 0;
    time_ps = gt_call_plain_ps(m, call) + extra_ps;
    if (stream == GT_NONE)
        return gt_noise_call_ps(m, call, time_ps);
    others = others_submitting(m, thread, m->streams[stream].gpu);
    m->fired[GT_RULE_CONTENTION] += others > 0;
    time_ps = gt_noise_call_ps(m, call, time_ps + others * m->device->submit_lock_ps);
    note_submission(m, thread, m->streams[stream].gpu, m->engine.now_ps + time_ps);
    return time_ps;
}

int gt_thread_handler(void *machine, gt_thread_index thread, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_thread_state *state = &m->threads[thread];
    gt_stream_index stream = submits_to(m, &m->workload->calls[state->calls[state->next]]);

    (void)error;
    if (stamp != HAS_LOCK && !(gt_launch_order_come(m, thread) && take_lock(m, thread)))
        return 0;
    state->start_ps = m->engine.now_ps;
    state->blocked_ps = 0;
    state->cause_op = state->staging_op = GT_NONE;
    state->staged_ps = GT_TIME_NONE;
    state->pieces = state->polled_number = 0;
    state->cost_ps = cost_ps(m, thread, stream);
    if (stream != GT_NONE &&
        m->streams[stream].submitted - m->streams[stream].completed >= m->device->launch_queue_depth) {
        state->waits_for_queue = true;
        m->fired[GT_RULE_LAUNCH_QUEUE]++;
        state->acted_ps = m->engine.now_ps;
        gt_thread_wait(m, thread, stream, m->streams[stream].submitted - m->device->launch_queue_depth + 1);
    } else {
        act(m, thread);
    }
    return m->failed ? -1 : 0;
}

/* A synchronisation that was not blocked when it was recorded takes what it took then, though what it asks for may be told
 * a little later than it was asked: a record, say, that has nothing before it. */
static bool not_blocked(const struct gt_machine *m, gt_call_index call, gt_time_ps waited_ps)
{
    const struct gt_call *c = &m->host->calls[call];

    return c->duration_ps != GT_TIME_NONE && m->replay.blocking_op[call] == GT_NONE && !(c->flags & GT_CALL_WAITS) &&
           !gt_api[c->kind].submits && waited_ps <= 2 * c->duration_ps;
}

void gt_thread_release(struct gt_machine *m, gt_thread_index thread, gt_op_index cause_op)
{
    struct gt_thread_state *state = &m->threads[thread];
    gt_time_ps now_ps = m->engine.now_ps, least_ps;
    gt_call_index call = state->calls[state->next];

    if (--state->pending > 0)
        return;
    state->blocked_ps += now_ps - state->acted_ps;
    state->cause_op = cause_op;
    if (state->waits_for_queue) {
        state->waits_for_queue = false;
        act(m, thread);
        return;
    }
    least_ps = state->acted_ps + gt_call_cost_ps(m, call);
    m->fired[GT_RULE_SYNC_RETURN]++;
    if (!not_blocked(m, call, now_ps - state->acted_ps))
        now_ps += gt_call_tail_ps(m, call);
    finish_call(m, thread, now_ps > least_ps ? now_ps : least_ps);
}

/* The poll under way is over, with so many pieces done. */
static void finish_poll(struct gt_machine *m, gt_thread_index thread, uint64_t pieces)
{
    gt_time_ps end_ps = gt_poll_end_ps(m, thread, pieces);

    m->threads[thread].pending = 0;
    m->threads[thread].polled_number = 0;
    m->threads[thread].pieces = pieces;
    finish_call(m, thread, end_ps > m->engine.now_ps ? end_ps : m->engine.now_ps);
}

void gt_thread_poll_answered(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream,
                             gt_command_number number, gt_op_index cause_op)
{
    struct gt_thread_state *state = &m->threads[thread];
    const struct gt_call *call;
    uint64_t pieces;

    if (state->polled_number != number || state->polled != stream)
        return; /* it has gone on meanwhile */
    call = &m->workload->calls[state->calls[state->next]];
    pieces = gt_poll_pieces(m, thread, m->engine.now_ps);
    if (call->most_pieces > 0 && pieces > call->most_pieces)
        return; /* it goes on before that */
    state->cause_op = cause_op;
    finish_poll(m, thread, pieces);
}

int gt_poll_handler(void *machine, gt_thread_index thread, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    const struct gt_thread_state *state = &m->threads[thread];

    (void)error;
    if (state->polled_number != 0 && state->next == stamp)
        finish_poll(m, thread, m->workload->calls[state->calls[state->next]].most_pieces);
    return m->failed ? -1 : 0;
}

void gt_thread_copy_started(struct gt_machine *m, gt_op_index op, gt_time_ps staged_ps)
{
    gt_thread_index thread = m->workload->calls[m->workload->ops[op].call].thread;

    if (m->threads[thread].staging_op != op)
        return;
    m->threads[thread].staging_op = GT_NONE;
    m->threads[thread].staged_ps = staged_ps;
    gt_thread_release(m, thread, op);
}
