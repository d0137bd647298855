/* Waits that a trace does not name: concluded from measured times.
 *
 * Profilers drop cudaStreamWaitEvent targets (Kineto without sync events, CUDA 12.9 and later) but
 * keep the calls.  An operation that starts clearly later than its launch and its stream explain,
 * asked for after such a call, waited for something; the operation of another stream that ended just
 * before it is taken for what it waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/plan.h"

/* Later than explained by this much: waited.  Ended at most this long before: waited for that. */
static const gt_time_ps late_ps = 3 * INT64_C(1000000), near_ps = 4 * INT64_C(1000000);
enum { LOOK_BACK = 64 };

/* Position in by_end of the last operation that ended at or before time_ps, plus one. */
static uint32_t ended_by(const struct gt_workload *w, const uint32_t *by_end, uint32_t count, gt_time_ps time_ps)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (gt_op_measured_end(&w->ops[by_end[middle]]) <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t awaited_by(const struct gt_workload *w, uint32_t index, gt_time_ps wait_called_ps,
                           const uint32_t *by_end, uint32_t count)
{
    const struct gt_op *op = &w->ops[index];
    uint32_t at = ended_by(w, by_end, count, op->start_ps);

    for (uint32_t looked = 0; at > 0 && looked < LOOK_BACK; looked++) {
        uint32_t other = by_end[--at];
        gt_time_ps asked_ps = w->calls[w->ops[other].call].start_ps;

        if (gt_op_measured_end(&w->ops[other]) + near_ps < op->start_ps)
            return GT_NONE;
        if (w->ops[other].stream != op->stream && other != index && asked_ps != GT_TIME_NONE
            && asked_ps < wait_called_ps
            && w->streams[w->ops[other].stream].gpu == w->streams[op->stream].gpu)
            return other;
    }
    return GT_NONE;
}

/* What this walk remembers: the last untargeted wait of each thread, the last operation's end and the
 * number of the last submitting call of each stream. */
struct walk {
    gt_time_ps *wait_called_ps, *stream_end_ps;
    uint32_t *wait_call, *stream_call;
};

static gt_time_ps explained_start(const struct gt_plan *plan, const struct gt_workload *w, uint32_t index,
                                  const struct walk *walk)
{
    const struct gt_op *op = &w->ops[index];
    int64_t asked = (int64_t)gt_call_measured_end(&w->calls[op->call]) + plan->latency_ps[op->kind];
    gt_time_ps stream_free = walk->stream_end_ps[op->stream];

    if (stream_free > 0)
        stream_free += plan->gap_ps[GT_OP_KERNEL][op->kind];
    return asked > (int64_t)stream_free ? (gt_time_ps)asked : stream_free;
}

static uint32_t infer_op(const struct gt_plan *plan, const struct gt_workload *w, uint32_t index,
                         const struct walk *walk, const uint32_t *by_end, uint32_t count)
{
    const struct gt_op *op = &w->ops[index];
    const struct gt_call *call = &w->calls[op->call];

    if (call->flags & GT_CALL_INFERRED || gt_call_measured_end(call) == GT_TIME_NONE
        || gt_op_measured_end(op) == GT_TIME_NONE || index != call->first_op)
        return GT_NONE;
    if (walk->wait_call[call->thread] == GT_NONE
        || (walk->stream_call[op->stream] != GT_NONE && walk->stream_call[op->stream] > walk->wait_call[call->thread]))
        return GT_NONE;
    if (op->start_ps < explained_start(plan, w, index, walk) + late_ps)
        return GT_NONE;
    return awaited_by(w, index, walk->wait_called_ps[call->thread], by_end, count);
}

static void walk_call(struct gt_plan *plan, const struct gt_workload *w, uint32_t number, struct walk *walk,
                      const uint32_t *by_end, uint32_t count, uint32_t *after)
{
    const struct gt_call *call = &w->calls[number];

    if (call->kind == GT_CALL_EVENT_WAIT && (call->event == GT_NONE || call->stream == GT_NONE)) {
        walk->wait_call[call->thread] = number;
        walk->wait_called_ps[call->thread] = call->start_ps;
    }
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++) {
        gt_time_ps end = gt_op_measured_end(&w->ops[i]);

        after[i] = infer_op(plan, w, i, walk, by_end, count);
        plan->inferred_waits += after[i] != GT_NONE;
        if (end != GT_TIME_NONE && end > walk->stream_end_ps[w->ops[i].stream])
            walk->stream_end_ps[w->ops[i].stream] = end;
        walk->stream_call[w->ops[i].stream] = number;
    }
}

uint32_t *gt_plan_infer_waits(struct gt_plan *plan, const struct gt_workload *w, const uint32_t *by_end, uint32_t count)
{
    uint32_t *after = gt_calloc(w->op_count, sizeof *after);
    struct walk walk = {
        .wait_called_ps = gt_calloc(w->thread_count + 1ull, sizeof(gt_time_ps)),
        .stream_end_ps = gt_calloc(w->stream_count + 1ull, sizeof(gt_time_ps)),
        .wait_call = gt_calloc(w->thread_count + 1ull, sizeof(uint32_t)),
        .stream_call = gt_calloc(w->stream_count + 1ull, sizeof(uint32_t)),
    };

    memset(walk.wait_call, 0xff, w->thread_count * sizeof *walk.wait_call);
    memset(walk.stream_call, 0xff, w->stream_count * sizeof *walk.stream_call);
    for (uint32_t i = 0; i < w->call_count; i++)
        walk_call(plan, w, i, &walk, by_end, count, after);
    free(walk.wait_called_ps);
    free(walk.stream_end_ps);
    free(walk.wait_call);
    free(walk.stream_call);
    if (plan->inferred_waits == 0) {
        free(after);
        return NULL;
    }
    return after;
}
