#include "sim/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"

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

/* The median, or `fallback` where there are too few samples to tell. */
static int64_t median(struct samples *samples, int64_t fallback)
{
    int64_t value = fallback;

    if (samples->count >= FEWEST_SAMPLES) {
        qsort(samples->values, samples->count, sizeof *samples->values, gt_by_i64);
        value = samples->values[samples->count / 2];
    }
    free(samples->values);
    return value;
}

/* What comes out of one walk over the operations: samples of every constant. */
struct survey {
    struct samples latency[GT_OP_KINDS], graph_latency, sync_return, engine_gap;
    struct samples gap[GT_OP_KINDS][GT_OP_KINDS], graph_gap[GT_OP_KINDS][GT_OP_KINDS],
        event_gap[GT_OP_KINDS][GT_OP_KINDS];
};

struct last_op {
    gt_time_ps end_ps;
    gt_op_index op;
};

static void survey_op(struct survey *survey, const struct gt_workload *w, gt_op_index index, struct last_op *last)
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
        else if (op->kind != GT_OP_COPY && call_end + clear_margin_ps < last->end_ps && op->start_ps >= last->end_ps)
            sample(&survey->gap[w->ops[last->op].kind][op->kind], (int64_t)(op->start_ps - last->end_ps));
    }
    if (last->op == GT_NONE || end > last->end_ps)
        *last = (struct last_op){ end, index };
}

/* Copies that follow each other on one engine leave only its gap, whatever streams they are of. */
static bool same_engine(const struct gt_op *before, const struct gt_op *after)
{
    return before->kind == GT_OP_COPY && after->kind == GT_OP_COPY && before->direction == after->direction;
}

/* A copy that was asked for long before it started: did its stream hold it up, or its engine? */
static void survey_copy(struct survey *survey, const struct gt_workload *w, const struct gt_op *op,
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
static void survey_copies(struct survey *survey, const struct gt_workload *w, const uint32_t *by_end, uint32_t count)
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

static void survey_syncs(struct gt_replay *replay, struct survey *survey, const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->call_count; i++) {
        gt_op_index op = replay->blocking_op[i];

        if (op != GT_NONE && w->calls[i].kind != GT_CALL_COPY)
            sample(&survey->sync_return,
                   (int64_t)(gt_call_measured_end(&w->calls[i]) - gt_op_measured_end(&w->ops[op])));
    }
}

static gt_time_ps not_negative(int64_t time_ps)
{
    return time_ps > 0 ? (gt_time_ps)time_ps : 0;
}

/* A gap that the trace shows, moved by what the device simulated takes longer. */
static gt_time_ps learn_gap(struct samples *samples, int64_t more_ps)
{
    int64_t gap_ps = median(samples, INT64_MAX);

    return gap_ps == INT64_MAX ? GT_TIME_NONE : not_negative(gap_ps + more_ps);
}

/* The constants: what the trace shows, else the recorded device's; `device` shifts them by its difference. */
static void conclude(struct gt_replay *replay, struct survey *survey, const struct gt_device *recorded,
                     const struct gt_device *device)
{
#define LEARN(samples, field) (median(samples, (int64_t)recorded->field) + (int64_t)(device->field - recorded->field))
    if (survey->gap[GT_OP_KERNEL][GT_OP_KERNEL].count < FEWEST_SAMPLES) {
        replay->busy_connection_ps = device->busy_connection_ps;
        replay->busy_queue_gap_ps = device->busy_queue_gap_ps;
    }
    replay->stream_gap_ps = device->stream_gap_ps;
    replay->inline_bytes = device->inline_pinned_bytes;
    replay->inline_pageable_bytes = device->staging_chunk_bytes > 0 ? device->inline_bytes : 0;
    replay->engine_gap_ps = device->engine_gap_ps;
    replay->plain_graph_gap_ps = device->graph_gap_ps;
    replay->latency_ps[GT_OP_KERNEL] = LEARN(&survey->latency[GT_OP_KERNEL], launch_latency_ps);
    replay->latency_ps[GT_OP_COPY] = LEARN(&survey->latency[GT_OP_COPY], copy_submit_ps);
    replay->latency_ps[GT_OP_MEMSET] = LEARN(&survey->latency[GT_OP_MEMSET], launch_latency_ps);
    replay->latency_ps[GT_OP_HOST_FUNCTION] = LEARN(&survey->latency[GT_OP_HOST_FUNCTION], launch_latency_ps);
    replay->graph_latency_ps = LEARN(&survey->graph_latency, launch_latency_ps);
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++) {
            replay->gap_ps[before][after] =
                learn_gap(&survey->gap[before][after], (int64_t)(device->stream_gap_ps - recorded->stream_gap_ps));
            replay->graph_gap_ps[before][after] = learn_gap(&survey->graph_gap[before][after],
                                                            (int64_t)(device->graph_gap_ps - recorded->graph_gap_ps));
        }
    }
    replay->sync_return_ps = not_negative(LEARN(&survey->sync_return, sync_return_ps));
    replay->engine_switch_gap_ps = survey->engine_gap.count < FEWEST_SAMPLES ? device->engine_gap_ps : GT_TIME_NONE;
    replay->copy_gap_ps = not_negative(LEARN(&survey->engine_gap, copy_gap_ps));
    if (replay->engine_switch_gap_ps == GT_TIME_NONE) /* the samples are of such copies too */
        replay->engine_switch_gap_ps = replay->copy_gap_ps;
#undef LEARN
}

static void sample_wait(void *user, uint32_t before_kind, uint32_t after_kind, int64_t gap_ps)
{
    sample(&((struct survey *)user)->event_gap[before_kind][after_kind], gap_ps);
}

/* What waits cost, once it is known which operations waited. */
static void conclude_waits(struct gt_replay *replay, struct survey *survey, const struct gt_device *recorded,
                           const struct gt_device *device)
{
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++)
            replay->event_gap_ps[before][after] = learn_gap(&survey->event_gap[before][after],
                                                            (int64_t)(device->event_gap_ps - recorded->event_gap_ps));
    }
    replay->plain_event_gap_ps = device->event_gap_ps;
    replay->engine_event_gap_ps = device->engine_event_gap_ps;
}

bool gt_replay_with_commands(const struct gt_replay *replay, const struct gt_op *op)
{
    if (op->kind != GT_OP_COPY || op->direction != GT_H2D)
        return false;
    return op->bytes <= (op->memory == GT_MEMORY_PAGEABLE ? replay->inline_pageable_bytes : replay->inline_bytes);
}

/* Whose turn it is to run an operation. */
enum lane { LANE_KERNELS, LANE_IN, LANE_OUT, LANE_HOST };

static enum lane lane_of(const struct gt_replay *replay, const struct gt_op *op)
{
    if (op->kind == GT_OP_HOST_FUNCTION)
        return LANE_HOST;
    if (op->kind != GT_OP_COPY || gt_replay_with_commands(replay, op))
        return LANE_KERNELS;
    return op->direction == GT_H2D ? LANE_IN : op->direction == GT_D2H ? LANE_OUT : LANE_KERNELS;
}

/* What is told to the host function's thread has latency.host_function_us of its own. */
bool gt_replay_switches_engine(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after)
{
    return lane_of(replay, after) != LANE_HOST && lane_of(replay, before) != lane_of(replay, after);
}

gt_time_ps gt_replay_gap_ps(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after)
{
    gt_time_ps gap_ps = replay->gap_ps[before->kind][after->kind];

    if (same_engine(before, after) && lane_of(replay, before) == lane_of(replay, after) &&
        !gt_replay_with_commands(replay, after))
        return replay->copy_gap_ps;
    if (gap_ps != GT_TIME_NONE)
        return gap_ps;
    return gt_replay_switches_engine(replay, before, after) ? replay->engine_gap_ps : replay->stream_gap_ps;
}

gt_time_ps gt_replay_graph_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                  const struct gt_op *after)
{
    gt_time_ps gap_ps = replay->graph_gap_ps[before->kind][after->kind];

    if (gap_ps != GT_TIME_NONE)
        return gap_ps;
    return gt_replay_switches_engine(replay, before, after) ? replay->engine_gap_ps : replay->plain_graph_gap_ps;
}

bool gt_replay_learned_graph_gap(const struct gt_replay *replay, const struct gt_op *before,
                                 const struct gt_op *after)
{
    return replay->graph_gap_ps[before->kind][after->kind] != GT_TIME_NONE;
}

/* Seen on H200: of a kernel and a copy within the device that is kept apart and wait for one event, the kernel goes first. */
static bool turns_to_copying(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after)
{
    return replay->within_alone && after->kind == GT_OP_COPY && before->kind != GT_OP_COPY;
}

gt_time_ps gt_replay_event_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                  const struct gt_op *after)
{
    gt_time_ps gap_ps = replay->event_gap_ps[before == NULL ? GT_OP_KERNEL : before->kind][after->kind];

    if (gap_ps != GT_TIME_NONE)
        return gap_ps;
    return before != NULL &&
                   (gt_replay_switches_engine(replay, before, after) || turns_to_copying(replay, before, after))
               ? replay->engine_event_gap_ps
               : replay->plain_event_gap_ps;
}

gt_time_ps gt_replay_edge_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                 const struct gt_op *after)
{
    return before->call == after->call ? gt_replay_graph_gap_ps(replay, before, after)
                                       : gt_replay_event_gap_ps(replay, before, after);
}

void gt_replay_make(struct gt_replay *replay, const struct gt_workload *w, const struct gt_device *recorded,
                    const struct gt_device *device)
{
    struct survey survey;
    struct last_op *last = gt_calloc(w->stream_count + 1ull, sizeof *last);
    uint32_t measured, *by_end = gt_replay_sort_by_end(w, &measured), *inferred;

    memset(replay, 0, sizeof *replay);
    memset(&survey, 0, sizeof survey);
    gt_replay_find_blocking_syncs(replay, w, by_end, measured);
    for (uint32_t i = 0; i < w->stream_count; i++)
        last[i].op = GT_NONE;
    for (uint32_t i = 0; i < w->op_count; i++)
        survey_op(&survey, w, i, &last[w->ops[i].stream]);
    survey_copies(&survey, w, by_end, measured);
    survey_syncs(replay, &survey, w);
    conclude(replay, &survey, recorded, device);
    replay->within_alone = device->copy_within_alone != 0 && !copies_beside_kernels(w, by_end, measured);
    inferred = gt_replay_infer_waits(replay, w, by_end, measured, &(struct gt_gap_sampler){ sample_wait, &survey });
    conclude_waits(replay, &survey, recorded, device);
    gt_recorded_graphs_make(&replay->recorded_graphs, w, (int64_t)(device->graph_gap_ps - recorded->graph_gap_ps));
    gt_replay_edges(replay, w, inferred);
    gt_graph_launches_make(&replay->graphs, w, device, replay->edge_from, replay->edge_to);
    free(inferred);
    free(by_end);
    free(last);
}

void gt_replay_take_host(struct gt_replay *replay, const struct gt_workload *host)
{
    uint32_t measured, *by_end = gt_replay_sort_by_end(host, &measured);

    free(replay->blocking_op);
    free(replay->copy_start_delay_ns);
    gt_replay_find_blocking_syncs(replay, host, by_end, measured);
    free(by_end);
}

void gt_replay_free(struct gt_replay *replay)
{
    free(replay->blocking_op);
    free(replay->copy_start_delay_ns);
    free(replay->edge_from);
    free(replay->edge_to);
    free(replay->edges_in);
    gt_graph_launches_free(&replay->graphs);
    gt_recorded_graphs_free(&replay->recorded_graphs);
    memset(replay, 0, sizeof *replay);
}
