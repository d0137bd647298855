#include "sim/replay/learned.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"

/* Samples further out than this are no latency or gap but something the trace does not show. */
static const int64_t sample_limit_ps = 50 * INT64_C(1000000);
/* An operation asked for this long before its stream fell idle was held up by the stream alone;
 * one asked for this long after it found the stream idle. */
static const gt_time_ps clear_margin_ps = 3 * INT64_C(1000000);
/* A gap that is longer holds a wait. */
static const int64_t longest_gap_ps = 5 * INT64_C(1000000);

enum { SAMPLE_ROOM = 1 << 16, FEWEST_SAMPLES = 2, ENOUGH_SAMPLES = 8 };

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

/* The median, where there are enough samples to tell. */
static int64_t median(struct samples *samples)
{
    int64_t value = GT_NOT_LEARNED;

    if (samples->count >= FEWEST_SAMPLES) {
        qsort(samples->values, samples->count, sizeof *samples->values, gt_by_i64);
        value = samples->values[samples->count / 2];
    }
    free(samples->values);
    return value;
}

/* Samples of every constant. */
struct gt_survey {
    struct samples latency[GT_OP_KINDS], graph_latency, sync_return, engine_gap;
    struct samples gap[GT_OP_KINDS][GT_OP_KINDS], graph_gap[GT_OP_KINDS][GT_OP_KINDS],
        event_gap[GT_OP_KINDS][GT_OP_KINDS];
    struct samples crowded_gap; /* between kernels, beside other streams' */
};

/* When kernels began and ended, rising. */
struct crowd {
    uint64_t *begins_ps, *ends_ps;
    uint32_t count;
};

static void gather(struct crowd *crowd, const struct gt_workload *w)
{
    *crowd = (struct crowd){
        .begins_ps = gt_calloc(w->op_count + 1ull, sizeof *crowd->begins_ps),
        .ends_ps = gt_calloc(w->op_count + 1ull, sizeof *crowd->ends_ps),
    };
    for (gt_op_index i = 0; i < w->op_count; i++) {
        if (w->ops[i].kind != GT_OP_KERNEL || gt_op_measured_end(&w->ops[i]) == GT_TIME_NONE)
            continue;
        crowd->begins_ps[crowd->count] = w->ops[i].start_ps;
        crowd->ends_ps[crowd->count++] = gt_op_measured_end(&w->ops[i]);
    }
    qsort(crowd->begins_ps, crowd->count, sizeof *crowd->begins_ps, gt_by_u64);
    qsort(crowd->ends_ps, crowd->count, sizeof *crowd->ends_ps, gt_by_u64);
}

/* Between the end of a stream's operation and the start of its next, did kernels of other streams run? Then the next one may
 * have waited for room, too. */
static bool crowded(const struct crowd *crowd, gt_time_ps end_ps, gt_time_ps start_ps)
{
    return gt_count_until(crowd->begins_ps, crowd->count, start_ps > 0 ? start_ps - 1 : 0) >
           gt_count_until(crowd->ends_ps, crowd->count, end_ps);
}

struct last_op {
    gt_time_ps end_ps;
    gt_op_index op;
};

static bool follows_in_crowd(const struct crowd *crowd, const struct gt_workload *w, const struct last_op *last,
                             const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL && w->ops[last->op].kind == GT_OP_KERNEL &&
           crowded(crowd, last->end_ps, op->start_ps);
}

/* What the operation's start shows: of a graph's gaps, of latencies or of its stream's gaps. */
static void survey_start(struct gt_survey *survey, const struct gt_workload *w, const struct crowd *crowd,
                         gt_op_index index, const struct last_op *last)
{
    const struct gt_op *op = &w->ops[index];
    const struct gt_call *call = &w->calls[op->call];
    gt_time_ps call_end = gt_call_measured_end(call);
    bool in_graph = call->kind == GT_CALL_GRAPH_LAUNCH, first = index == call->first_op;

    if (last->op != GT_NONE && in_graph && !first && w->ops[last->op].call == op->call) {
        if (!crowded(crowd, last->end_ps, op->start_ps)) /* each node's own gap is found elsewhere */
            sample(&survey->graph_gap[w->ops[last->op].kind][op->kind], (int64_t)(op->start_ps - last->end_ps));
    } else if (call_end != GT_TIME_NONE && !(call->flags & GT_CALL_INFERRED) && first) {
        if (last->op == GT_NONE || last->end_ps + clear_margin_ps < call->start_ps)
            sample(in_graph ? &survey->graph_latency : &survey->latency[op->kind],
                   (int64_t)(op->start_ps - call_end));
        else if (op->kind != GT_OP_COPY && call_end + clear_margin_ps < last->end_ps && op->start_ps >= last->end_ps)
            sample(follows_in_crowd(crowd, w, last, op) ? &survey->crowded_gap
                                                        : &survey->gap[w->ops[last->op].kind][op->kind],
                   (int64_t)(op->start_ps - last->end_ps));
    }
}

static void survey_op(struct gt_survey *survey, const struct gt_workload *w, const struct crowd *crowd,
                      gt_op_index index, struct last_op *last)
{
    const struct gt_op *op = &w->ops[index];
    gt_time_ps end = gt_op_measured_end(op);

    if (end == GT_TIME_NONE)
        return;
    if (op->kind != GT_OP_HOST_FUNCTION) /* how soon it was picked up is its own (sim/stream/operation.c) */
        survey_start(survey, w, crowd, index, last);
    if (last->op == GT_NONE || end > last->end_ps)
        *last = (struct last_op){ end, index };
}

/* Copies that follow each other on one engine leave only its gap, whatever streams they are of. */
static bool same_engine(const struct gt_op *before, const struct gt_op *after)
{
    return before->kind == GT_OP_COPY && after->kind == GT_OP_COPY && before->direction == after->direction;
}

/* A copy that was asked for long before it started: did its stream hold it up, or its engine? */
static void survey_copy(struct gt_survey *survey, const struct gt_workload *w, const struct gt_op *op,
                        const struct last_op *stream, const struct last_op *engine)
{
    const struct gt_call *call = &w->calls[op->call];
    gt_time_ps asked_ps = gt_call_measured_end(call);

    if (asked_ps == GT_TIME_NONE || call->flags & GT_CALL_INFERRED)
        return;
    asked_ps += clear_margin_ps;
    if (asked_ps < stream->end_ps && engine->end_ps <= stream->end_ps && op->start_ps >= stream->end_ps) {
        const struct gt_op *before = &w->ops[stream->op];

        sample(same_engine(before, op) ? &survey->engine_gap : &survey->gap[before->kind][GT_OP_COPY],
               (int64_t)(op->start_ps - stream->end_ps));
    } else if (asked_ps < engine->end_ps && stream->end_ps + clear_margin_ps < engine->end_ps &&
               op->start_ps >= engine->end_ps) {
        sample(&survey->engine_gap, (int64_t)(op->start_ps - engine->end_ps));
    }
}

/* Copies wait for their engine too: what is a gap of their stream and what of the engine shows only
 * when operations are taken in the order they ran. */
static void survey_copies(struct gt_survey *survey, const struct gt_workload *w, const uint32_t *by_end,
                          uint32_t count)
{
    struct last_op *streams = gt_calloc(w->stream_count + 1ull, sizeof *streams);
    struct last_op *engines = gt_calloc(w->gpu_count * (uint64_t)GT_DIRECTIONS + 1, sizeof *engines);

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_op *op = &w->ops[by_end[i]];
        struct last_op now = { gt_op_measured_end(op), by_end[i] };

        if (op->kind == GT_OP_COPY) {
            struct last_op *engine = &engines[w->streams[op->stream].gpu * GT_DIRECTIONS + op->direction];

            survey_copy(survey, w, op, &streams[op->stream], engine);
            *engine = now;
        }
        streams[op->stream] = now;
    }
    free(streams);
    free(engines);
}

/* Did a copy within a device and a kernel run there at the same time? Of two that did the one that ended first had not
 * when the other began. */
static bool copies_beside_kernels(const struct gt_workload *w, const uint32_t *by_end, uint32_t count)
{
    gt_time_ps *kernel_end_ps = gt_calloc(w->gpu_count + 1ull, sizeof *kernel_end_ps);
    gt_time_ps *copy_end_ps = gt_calloc(w->gpu_count + 1ull, sizeof *copy_end_ps);
    bool beside = false;

    for (uint32_t i = 0; i < count && !beside; i++) {
        const struct gt_op *op = &w->ops[by_end[i]];
        gt_gpu_index gpu = w->streams[op->stream].gpu;
        bool copy = op->kind == GT_OP_COPY && op->direction == GT_D2D;

        if (!copy && op->kind != GT_OP_KERNEL)
            continue;
        beside = (copy ? kernel_end_ps : copy_end_ps)[gpu] > op->start_ps + clear_margin_ps;
        (copy ? copy_end_ps : kernel_end_ps)[gpu] = gt_op_measured_end(op);
    }
    free(kernel_end_ps);
    free(copy_end_ps);
    return beside;
}

static void survey_syncs(struct gt_survey *survey, const struct gt_workload *w, const uint32_t *blocking_op)
{
    for (uint32_t i = 0; i < w->call_count; i++) {
        gt_op_index op = blocking_op[i];

        if (op != GT_NONE && w->calls[i].ops == 0)
            sample(&survey->sync_return,
                   (int64_t)(gt_call_measured_end(&w->calls[i]) - gt_op_measured_end(&w->ops[op])));
    }
}

static void survey_ops(struct gt_survey *survey, const struct gt_workload *w)
{
    struct last_op *last = gt_calloc(w->stream_count + 1ull, sizeof *last);
    struct crowd crowd;

    gather(&crowd, w);
    for (uint32_t i = 0; i < w->stream_count; i++)
        last[i].op = GT_NONE;
    for (uint32_t i = 0; i < w->op_count; i++)
        survey_op(survey, w, &crowd, i, &last[w->ops[i].stream]);
    free(last);
    free(crowd.begins_ps);
    free(crowd.ends_ps);
}

static void conclude_gaps(struct samples from[GT_OP_KINDS][GT_OP_KINDS], int64_t to[GT_OP_KINDS][GT_OP_KINDS])
{
    for (int before = 0; before < GT_OP_KINDS; before++)
        for (int after = 0; after < GT_OP_KINDS; after++)
            to[before][after] = median(&from[before][after]);
}

/* A gap that was only seen beside other kernels: where most are much longer than the shortest, waits for room are in them. */
static int64_t crowded_gap_ps(struct samples *samples)
{
    uint32_t count = samples->count;
    int64_t short_ps, middle_ps;

    if (count < FEWEST_SAMPLES) {
        free(samples->values);
        return GT_NOT_LEARNED;
    }
    qsort(samples->values, count, sizeof *samples->values, gt_by_i64);
    short_ps = samples->values[count / 10];
    middle_ps = samples->values[count / 2];
    free(samples->values);
    middle_ps = middle_ps > 2 * short_ps ? short_ps : middle_ps;
    return middle_ps > longest_gap_ps ? GT_NOT_LEARNED : middle_ps;
}

static int64_t kernel_gap_ps(struct gt_survey *survey, const struct gt_learned *learned)
{
    bool few = survey->gap[GT_OP_KERNEL][GT_OP_KERNEL].count < ENOUGH_SAMPLES;
    int64_t crowded_ps = crowded_gap_ps(&survey->crowded_gap);

    return few && crowded_ps != GT_NOT_LEARNED ? crowded_ps : learned->gap_ps[GT_OP_KERNEL][GT_OP_KERNEL];
}

struct gt_survey *gt_survey_begin(const struct gt_workload *w, const uint32_t *by_end, uint32_t count,
                                  const uint32_t *blocking_op, struct gt_learned *learned)
{
    struct gt_survey *survey = gt_calloc(1, sizeof *survey);

    survey_ops(survey, w);
    survey_copies(survey, w, by_end, count);
    survey_syncs(survey, w, blocking_op);
    for (int kind = 0; kind < GT_OP_KINDS; kind++)
        learned->latency_ps[kind] = median(&survey->latency[kind]);
    learned->graph_latency_ps = median(&survey->graph_latency);
    conclude_gaps(survey->gap, learned->gap_ps);
    learned->gap_ps[GT_OP_KERNEL][GT_OP_KERNEL] = kernel_gap_ps(survey, learned);
    conclude_gaps(survey->graph_gap, learned->graph_gap_ps);
    learned->sync_return_ps = median(&survey->sync_return);
    learned->copy_gap_ps = median(&survey->engine_gap);
    learned->copies_beside_kernels = copies_beside_kernels(w, by_end, count);
    return survey;
}

void gt_survey_wait(void *user, uint32_t before_kind, uint32_t after_kind, int64_t gap_ps)
{
    if (after_kind != GT_OP_HOST_FUNCTION)
        sample(&((struct gt_survey *)user)->event_gap[before_kind][after_kind], gap_ps);
}

void gt_survey_end(struct gt_survey *survey, struct gt_learned *learned)
{
    conclude_gaps(survey->event_gap, learned->event_gap_ps);
    free(survey);
}
