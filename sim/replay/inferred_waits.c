/* Waits that a trace does not name: concluded from measured times.
 *
 * Profilers drop the events of cudaStreamWaitEvent (Kineto without sync events; with them, CUDA 12.9
 * and later) but keep the calls.  An operation asked for after such a call, which was ready to start
 * when an operation of another stream was still running and started soon after that one's end, is
 * taken to have waited for it; best for the one that was its stream's last at the wait, since that
 * is what an event recorded for the purpose stands behind.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/replay/replay.h"
#include "sim/workload/processes.h"

/* Ended at most this long before the start: waited for that. Gaps of copies come to 10 us. */
static const gt_time_ps near_ps = 20 * INT64_C(1000000);
enum { LOOK_BACK = 64 };

/* What the walk over the calls remembers. */
struct walk {
    const uint32_t *by_end; /* measured operations by end */
    uint32_t count;
    gt_time_ps *stream_end_ps;     /* by stream: latest end of an operation */
    uint32_t *stream_call;         /* by stream: the last call that put something into it */
    uint32_t *stream_op, *next_op; /* by stream: its last operation; by operation: its stream's next */
    uint32_t *stream_wait;         /* by stream: the last wait of unknown event on it */
    uint32_t *thread_wait;         /* by thread: the last wait of which not even the stream is known */
    uint32_t *process;             /* by thread: the first one of its process */
    uint32_t *process_wait;        /* by that: as thread_wait, of all its threads */
    uint32_t *event_op;            /* by event: the operation before its last record */
    uint32_t *known_wait;          /* by stream: the operation that a known wait since its last waits for */
    const struct gt_gap_sampler *sampler;
};

static uint32_t *none(uint64_t count)
{
    uint32_t *array = gt_realloc(NULL, count + 1, sizeof *array);

    memset(array, 0xff, (count + 1) * sizeof *array);
    return array;
}

/* When the operation could have started as far as its own call and stream are concerned. */
static gt_time_ps ready_ps(const struct gt_replay *replay, const struct gt_workload *w, gt_op_index index,
                           const struct walk *walk)
{
    const struct gt_op *op = &w->ops[index];
    int64_t asked = (int64_t)gt_call_measured_end(&w->calls[op->call]) + replay->latency_ps[op->kind];
    gt_time_ps stream_free = walk->stream_end_ps[op->stream];

    if (walk->stream_op[op->stream] != GT_NONE)
        stream_free += gt_replay_gap_ps(replay, &w->ops[walk->stream_op[op->stream]], op);
    return asked > (int64_t)stream_free ? (gt_time_ps)asked : stream_free;
}

/* Was it the last operation of its stream that had been asked for at that time? */
static bool last_at(const struct gt_workload *w, const struct walk *walk, gt_op_index op, gt_time_ps time_ps)
{
    uint32_t next = walk->next_op[op];

    return next == GT_NONE || w->calls[w->ops[next].call].start_ps > time_ps;
}

static uint32_t awaited_by(const struct gt_workload *w, gt_op_index index, gt_time_ps ready,
                           gt_time_ps wait_called_ps, const struct walk *walk)
{
    const struct gt_op *op = &w->ops[index];
    uint32_t at = gt_replay_ended_by(w, walk->by_end, walk->count, op->start_ps), found = GT_NONE;

    for (uint32_t looked = 0; at > 0 && looked < LOOK_BACK; looked++) {
        uint32_t other = walk->by_end[--at];
        gt_time_ps asked_ps = w->calls[w->ops[other].call].start_ps;
        gt_time_ps end_ps = gt_op_measured_end(&w->ops[other]);

        if (end_ps + near_ps < op->start_ps || end_ps <= ready)
            break;
        if (w->ops[other].stream == op->stream || asked_ps == GT_TIME_NONE || asked_ps >= wait_called_ps ||
            w->streams[w->ops[other].stream].gpu != w->streams[op->stream].gpu)
            continue;
        if (last_at(w, walk, other, wait_called_ps))
            return other;
        if (found == GT_NONE)
            found = other;
    }
    return found;
}

static bool newer(gt_call_index call, uint32_t than)
{
    return call != GT_NONE && (than == GT_NONE || call > than);
}

/* The unknown wait that stands right before this operation in its stream, as far as can be told: of its own thread, else of
 * another of its process, since PyTorch's backward pass goes on in a thread of its own where the forward pass waited. */
static uint32_t unknown_wait(const struct gt_workload *w, gt_op_index index, const struct walk *walk)
{
    const struct gt_op *op = &w->ops[index];
    uint32_t of_stream = walk->stream_wait[op->stream];
    uint32_t of_thread = walk->thread_wait[w->calls[op->call].thread];
    uint32_t of_process = walk->process_wait[walk->process[w->calls[op->call].thread]];
    uint32_t before = walk->stream_call[op->stream];

    if (newer(of_stream, before))
        return of_stream;
    if (newer(of_thread, before))
        return of_thread;
    return newer(of_process, before) ? of_process : GT_NONE;
}

static void sample_gap(const struct gt_workload *w, uint32_t before, gt_op_index index, const struct walk *walk)
{
    walk->sampler->sample(walk->sampler->user, w->ops[before].kind, w->ops[index].kind,
                          (int64_t)(w->ops[index].start_ps - gt_op_measured_end(&w->ops[before])));
}

static uint32_t infer_op(const struct gt_replay *replay, const struct gt_workload *w, gt_op_index index,
                         const struct walk *walk)
{
    const struct gt_op *op = &w->ops[index];
    const struct gt_call *call = &w->calls[op->call];
    uint32_t known = walk->known_wait[op->stream], wait, awaited;
    gt_time_ps ready;

    if (call->flags & GT_CALL_INFERRED || gt_call_measured_end(call) == GT_TIME_NONE ||
        gt_op_measured_end(op) == GT_TIME_NONE || index != call->first_op)
        return GT_NONE;
    ready = ready_ps(replay, w, index, walk);
    if (known != GT_NONE && gt_op_measured_end(&w->ops[known]) > ready &&
        gt_op_measured_end(&w->ops[known]) <= op->start_ps)
        sample_gap(w, known, index, walk);
    wait = unknown_wait(w, index, walk);
    if (walk->sampler->known_only || wait == GT_NONE || op->start_ps <= ready)
        return GT_NONE;
    awaited = awaited_by(w, index, ready, w->calls[wait].start_ps, walk);
    if (awaited != GT_NONE)
        sample_gap(w, awaited, index, walk);
    return awaited;
}

static void note_wait(const struct gt_workload *w, gt_call_index call, struct walk *walk)
{
    const struct gt_call *c = &w->calls[call];
    gt_op_index op = c->event == GT_NONE ? GT_NONE : walk->event_op[c->event];

    if (c->stream == GT_NONE) {
        walk->thread_wait[c->thread] = walk->process_wait[walk->process[c->thread]] = call;
    } else if (c->event == GT_NONE) {
        walk->stream_wait[c->stream] = call;
    } else if (op != GT_NONE && gt_op_measured_end(&w->ops[op]) != GT_TIME_NONE) {
        uint32_t *known = &walk->known_wait[c->stream];

        if (*known == GT_NONE || gt_op_measured_end(&w->ops[op]) > gt_op_measured_end(&w->ops[*known]))
            *known = op;
    }
}

static void note_op(const struct gt_workload *w, gt_op_index index, struct walk *walk)
{
    gt_stream_index stream = w->ops[index].stream;
    gt_time_ps end = gt_op_measured_end(&w->ops[index]);

    if (end != GT_TIME_NONE && end > walk->stream_end_ps[stream])
        walk->stream_end_ps[stream] = end;
    walk->stream_op[stream] = index;
    walk->known_wait[stream] = GT_NONE;
}

static void walk_call(struct gt_replay *replay, const struct gt_workload *w, gt_call_index call, struct walk *walk,
                      uint32_t *after)
{
    const struct gt_call *c = &w->calls[call];

    if (c->kind == GT_CALL_EVENT_RECORD && c->event != GT_NONE && c->stream != GT_NONE)
        walk->event_op[c->event] = walk->stream_op[c->stream];
    if (c->kind == GT_CALL_EVENT_WAIT)
        note_wait(w, call, walk);
    for (uint32_t i = c->first_op; i < c->first_op + c->ops; i++) {
        after[i] = infer_op(replay, w, i, walk);
        replay->inferred_waits += after[i] != GT_NONE;
        note_op(w, i, walk);
        walk->stream_call[w->ops[i].stream] = call;
    }
}

static void link_streams(const struct gt_workload *w, struct walk *walk)
{
    for (uint32_t i = 0; i < w->op_count; i++) {
        uint32_t *last = &walk->stream_op[w->ops[i].stream];

        if (*last != GT_NONE)
            walk->next_op[*last] = i;
        *last = i;
    }
    memset(walk->stream_op, 0xff, w->stream_count * sizeof *walk->stream_op);
}

uint32_t *gt_replay_infer_waits(struct gt_replay *replay, const struct gt_workload *w, const uint32_t *by_end,
                                uint32_t count, const struct gt_gap_sampler *sampler)
{
    uint32_t *after = none(w->op_count);
    /* clang-format off */
    struct walk walk = {
        .by_end = by_end, .count = count, .sampler = sampler,
        .stream_end_ps = gt_calloc(w->stream_count + 1ull, sizeof(gt_time_ps)),
        .stream_call = none(w->stream_count), .stream_op = none(w->stream_count),
        .next_op = none(w->op_count),
        .stream_wait = none(w->stream_count), .thread_wait = none(w->thread_count),
        .process = gt_thread_processes(w), .process_wait = none(w->thread_count),
        .event_op = none(w->event_count), .known_wait = none(w->stream_count),
    };
    /* clang-format on */

    if (count > 0) {
        link_streams(w, &walk);
        for (uint32_t i = 0; i < w->call_count; i++)
            walk_call(replay, w, i, &walk, after);
    }
    free(walk.stream_end_ps);
    free(walk.stream_call);
    free(walk.stream_op);
    free(walk.next_op);
    free(walk.stream_wait);
    free(walk.thread_wait);
    free(walk.process);
    free(walk.process_wait);
    free(walk.event_op);
    free(walk.known_wait);
    if (replay->inferred_waits == 0) {
        free(after);
        return NULL;
    }
    return after;
}
