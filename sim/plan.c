#include "sim/plan.h"

#include <stdlib.h>
#include <string.h>

/* Samples further out than this are no latency or gap but something the trace does not show. */
static const int64_t sample_limit_ps = 50 * INT64_C(1000000);
/* An operation asked for this long before its stream fell idle was held up by the stream alone;
 * one asked for this long after it found the stream idle. */
static const gt_time_ps clear_margin_ps = 3 * INT64_C(1000000);

enum { SAMPLE_ROOM = 1 << 16, FEWEST_SAMPLES = 2 };

/* At most SAMPLE_ROOM values, evenly thinned as more come, so that any trace costs the same memory. */
struct samples {
    int64_t *values;
    uint32_t count;
    uint64_t seen, stride;
};

static void sample(struct samples *samples, int64_t value)
{
    if (value > sample_limit_ps || value < -sample_limit_ps)
        return;
    if (samples->values == NULL) {
        samples->values = gt_calloc(SAMPLE_ROOM, sizeof *samples->values);
        samples->stride = 1;
    }
    if (samples->seen++ % samples->stride != 0)
        return;
    if (samples->count == SAMPLE_ROOM) {
        for (uint32_t i = 0; i < SAMPLE_ROOM / 2; i++)
            samples->values[i] = samples->values[2 * i];
        samples->count = SAMPLE_ROOM / 2;
        samples->stride *= 2;
    }
    samples->values[samples->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* The median, or `fallback` where there are too few samples to tell. */
static int64_t median(struct samples *samples, int64_t fallback)
{
    int64_t value = fallback;

    if (samples->count >= FEWEST_SAMPLES) {
        qsort(samples->values, samples->count, sizeof *samples->values, by_value);
        value = samples->values[samples->count / 2];
    }
    free(samples->values);
    return value;
}

gt_time_ps gt_call_measured_end(const struct gt_call *call)
{
    if (call->start_ps == GT_TIME_NONE || call->duration_ps == GT_TIME_NONE)
        return GT_TIME_NONE;
    return call->start_ps + call->duration_ps;
}

gt_time_ps gt_op_measured_end(const struct gt_op *op)
{
    if (op->start_ps == GT_TIME_NONE || op->duration_ps == GT_TIME_NONE)
        return GT_TIME_NONE;
    return op->start_ps + op->duration_ps;
}

/* What comes out of one walk over the operations: samples of every constant. */
struct survey {
    struct samples latency[GT_OP_KINDS], graph_latency, gap[GT_OP_KINDS][GT_OP_KINDS], graph_gap[GT_OP_KINDS][GT_OP_KINDS],
        event_gap[GT_OP_KINDS][GT_OP_KINDS], sync_return;
};

struct last_op { gt_time_ps end_ps; uint32_t op; };

static void survey_op(struct survey *survey, const struct gt_workload *w, uint32_t index, struct last_op *last)
{
    const struct gt_op *op = &w->ops[index];
    const struct gt_call *call = &w->calls[op->call];
    gt_time_ps call_end = gt_call_measured_end(call), end = gt_op_measured_end(op);
    bool in_graph = call->kind == GT_CALL_GRAPH_LAUNCH, first = index == call->first_op;

    if (end == GT_TIME_NONE)
        return;
    if (last->op != GT_NONE && in_graph && !first && w->ops[last->op].call == op->call) {
        sample(&survey->graph_gap[w->ops[last->op].kind][op->kind], (int64_t)(op->start_ps - last->end_ps));
    } else if (call_end != GT_TIME_NONE && !(call->flags & GT_CALL_INFERRED) && first) {
        if (last->op == GT_NONE || last->end_ps + clear_margin_ps < call->start_ps)
            sample(in_graph ? &survey->graph_latency : &survey->latency[op->kind],
                   (int64_t)(op->start_ps - call_end));
        else if (call_end + clear_margin_ps < last->end_ps && op->start_ps >= last->end_ps)
            sample(&survey->gap[w->ops[last->op].kind][op->kind], (int64_t)(op->start_ps - last->end_ps));
    }
    if (last->op == GT_NONE || end > last->end_ps)
        *last = (struct last_op){ end, index };
}

static void survey_syncs(struct gt_plan *plan, struct survey *survey, const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->call_count; i++) {
        uint32_t op = plan->released_by[i];

        if (op != GT_NONE && w->calls[i].kind != GT_CALL_COPY)
            sample(&survey->sync_return,
                   (int64_t)(gt_call_measured_end(&w->calls[i]) - gt_op_measured_end(&w->ops[op])));
    }
}

static gt_time_ps not_negative(int64_t time_ps)
{
    return time_ps > 0 ? (gt_time_ps)time_ps : 0;
}

/* The constants: what the trace shows, else the recorded device's; `device` shifts them by its difference. */
static void conclude(struct gt_plan *plan, struct survey *survey, const struct gt_device *recorded,
                     const struct gt_device *device)
{
#define LEARN(samples, field) (median(samples, (int64_t)recorded->field) + (int64_t)(device->field - recorded->field))
    if (survey->gap[GT_OP_KERNEL][GT_OP_KERNEL].count < FEWEST_SAMPLES)
        plan->busy_connection_ps = device->busy_connection_ps;
    plan->latency_ps[GT_OP_KERNEL] = LEARN(&survey->latency[GT_OP_KERNEL], launch_latency_ps);
    plan->latency_ps[GT_OP_COPY] = LEARN(&survey->latency[GT_OP_COPY], copy_submit_ps);
    plan->latency_ps[GT_OP_MEMSET] = LEARN(&survey->latency[GT_OP_MEMSET], launch_latency_ps);
    plan->latency_ps[GT_OP_HOST_FUNCTION] = LEARN(&survey->latency[GT_OP_HOST_FUNCTION], launch_latency_ps);
    plan->graph_latency_ps = LEARN(&survey->graph_latency, launch_latency_ps);
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++) {
            plan->gap_ps[before][after] = not_negative(LEARN(&survey->gap[before][after], stream_gap_ps));
            plan->graph_gap_ps[before][after] = not_negative(LEARN(&survey->graph_gap[before][after], graph_gap_ps));
        }
    }
    plan->sync_return_ps = not_negative(LEARN(&survey->sync_return, sync_return_ps));
#undef LEARN
}

static void sample_wait(void *user, uint32_t before_kind, uint32_t after_kind, int64_t gap_ps)
{
    sample(&((struct survey *)user)->event_gap[before_kind][after_kind], gap_ps);
}

/* What waits cost, once it is known which operations waited. */
static void conclude_waits(struct gt_plan *plan, struct survey *survey, const struct gt_device *recorded,
                           const struct gt_device *device)
{
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++)
            plan->event_gap_ps[before][after] =
                not_negative(median(&survey->event_gap[before][after], (int64_t)recorded->event_gap_ps)
                             + (int64_t)(device->event_gap_ps - recorded->event_gap_ps));
    }
}

static const struct gt_op *sort_ops;

static int by_measured_end(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    gt_time_ps left_end = gt_op_measured_end(&sort_ops[left]), right_end = gt_op_measured_end(&sort_ops[right]);

    if (left_end != right_end)
        return left_end < right_end ? -1 : 1;
    return (left > right) - (left < right);
}

/* Measured operations by end time. */
static uint32_t *sorted_by_end(const struct gt_workload *w, uint32_t *count)
{
    uint32_t *order = gt_calloc(w->op_count, sizeof *order);

    *count = 0;
    for (uint32_t i = 0; i < w->op_count; i++) {
        if (gt_op_measured_end(&w->ops[i]) != GT_TIME_NONE)
            order[(*count)++] = i;
    }
    sort_ops = w->ops;
    qsort(order, *count, sizeof *order, by_measured_end);
    return order;
}

uint32_t gt_plan_ended_by(const struct gt_workload *w, const uint32_t *by_end, uint32_t count, gt_time_ps time_ps)
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

enum { LOOK_BACK = 4096 };

/* The operation whose end let this synchronising call return: the last to end within the call among
 * those asked for before it, in the stream it names if it names one. */
static uint32_t find_release(const struct gt_workload *w, const struct gt_call *call, uint32_t stream,
                             const uint32_t *by_end, uint32_t count)
{
    gt_time_ps end = gt_call_measured_end(call);
    uint32_t at = gt_plan_ended_by(w, by_end, count, end);

    for (uint32_t looked = 0; at > 0 && looked < LOOK_BACK; looked++) {
        const struct gt_op *op = &w->ops[by_end[--at]];
        const struct gt_call *asked = &w->calls[op->call];

        if (gt_op_measured_end(op) < call->start_ps)
            return GT_NONE;
        if ((stream == GT_NONE || op->stream == stream)
            && w->threads[asked->thread].process == w->threads[call->thread].process
            && (asked->start_ps == GT_TIME_NONE || asked->start_ps < call->start_ps))
            return by_end[at];
    }
    return GT_NONE;
}

/* A copy call that returned only after its copy had ended waited for it, if the memory or the form
 * of the call allows that. */
static bool copy_blocked(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = &w->ops[call->first_op];

    if (call->kind != GT_CALL_COPY || call->ops != 1)
        return false;
    if (!(call->flags & GT_CALL_SYNCHRONOUS) && op->memory != GT_MEMORY_PAGEABLE && op->memory != GT_MEMORY_UNKNOWN)
        return false;
    return gt_op_measured_end(op) <= gt_call_measured_end(call) && op->start_ps >= call->start_ps;
}

static void find_blocked_calls(struct gt_plan *plan, const struct gt_workload *w, const uint32_t *by_end, uint32_t count)
{
    gt_time_ps *stream_end = gt_calloc(w->stream_count + 1ull, sizeof *stream_end);
    uint32_t *event_stream = gt_realloc(NULL, w->event_count + 1ull, sizeof *event_stream);

    memset(event_stream, 0xff, w->event_count * sizeof *event_stream);
    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];
        gt_time_ps end = gt_call_measured_end(call);

        plan->released_by[i] = GT_NONE;
        if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE)
            event_stream[call->event] = call->stream;
        if (end == GT_TIME_NONE)
            continue;
        if (call->kind == GT_CALL_STREAM_SYNC)
            plan->released_by[i] = find_release(w, call, call->stream, by_end, count);
        else if (call->kind == GT_CALL_EVENT_SYNC)
            plan->released_by[i] = find_release(w, call, call->event == GT_NONE ? GT_NONE : event_stream[call->event],
                                                by_end, count);
        else if (call->kind == GT_CALL_DEVICE_SYNC)
            plan->released_by[i] = find_release(w, call, GT_NONE, by_end, count);
        else if (copy_blocked(w, call)) {
            const struct gt_op *op = &w->ops[call->first_op];
            gt_time_ps from = call->start_ps > stream_end[op->stream] ? call->start_ps : stream_end[op->stream];
            gt_time_ps lead_ns = op->start_ps > from ? (op->start_ps - from) / 1000 : 0;

            plan->released_by[i] = call->first_op;
            plan->lead_ns[i] = lead_ns < UINT32_MAX ? (uint32_t)lead_ns : UINT32_MAX;
        }
        for (uint32_t j = call->first_op; j < call->first_op + call->ops; j++) {
            gt_time_ps op_end = gt_op_measured_end(&w->ops[j]);

            if (op_end != GT_TIME_NONE && op_end > stream_end[w->ops[j].stream])
                stream_end[w->ops[j].stream] = op_end;
        }
    }
    free(stream_end);
    free(event_stream);
}

void gt_plan_make(struct gt_plan *plan, const struct gt_workload *w, const struct gt_device *recorded,
                  const struct gt_device *device)
{
    struct survey survey;
    struct last_op *last = gt_calloc(w->stream_count + 1ull, sizeof *last);
    uint32_t measured, *by_end = sorted_by_end(w, &measured), *inferred;

    memset(plan, 0, sizeof *plan);
    memset(&survey, 0, sizeof survey);
    plan->released_by = gt_calloc(w->call_count, sizeof *plan->released_by);
    plan->lead_ns = gt_calloc(w->call_count, sizeof *plan->lead_ns);
    find_blocked_calls(plan, w, by_end, measured);
    for (uint32_t i = 0; i < w->stream_count; i++)
        last[i].op = GT_NONE;
    for (uint32_t i = 0; i < w->op_count; i++)
        survey_op(&survey, w, i, &last[w->ops[i].stream]);
    survey_syncs(plan, &survey, w);
    conclude(plan, &survey, recorded, device);
    inferred = gt_plan_infer_waits(plan, w, by_end, measured, &(struct gt_gap_sampler){ sample_wait, &survey });
    conclude_waits(plan, &survey, recorded, device);
    gt_plan_edges(plan, w, inferred);
    free(inferred);
    free(by_end);
    free(last);
}

void gt_plan_free(struct gt_plan *plan)
{
    free(plan->released_by);
    free(plan->lead_ns);
    free(plan->edge_from);
    free(plan->edge_to);
    free(plan->edges_in);
    memset(plan, 0, sizeof *plan);
}
