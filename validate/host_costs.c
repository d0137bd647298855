#include "validate/host_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/replay/replay.h"

/* What may come on top of a call, as in sim/stream/call_extra.h. */
enum extra { COLD, FIRST, AFTER, EXTRAS };

/* Kinds of call that share a row of the device file. */
enum row { LAUNCH, COPY, COPY_WITHIN, MEMSET, HOST_FUNCTION, EVENT, SYNC, ROWS };

/* Where a device has them. */
#define AT(field) offsetof(struct gt_device, field)
#define NOWHERE   SIZE_MAX
static const struct place {
    size_t call, extra;
} places[ROWS] = {
    [LAUNCH] = { AT(launch_call_ps), AT(launch_extra) },
    [COPY] = { AT(copy_call_ps), AT(copy_extra) },
    [COPY_WITHIN] = { AT(copy_within_call_ps), NOWHERE }, /* its extras are a copy's */
    [MEMSET] = { AT(memset_call_ps), AT(memset_extra) },
    [HOST_FUNCTION] = { AT(host_function_call_ps), AT(host_function_extra) },
    [EVENT] = { AT(event_call_ps), AT(event_extra) },
    [SYNC] = { AT(sync_call_ps), NOWHERE },
};

struct sample {
    double ps;
    bool has[EXTRAS];
    uint8_t row;     /* of those in `contended` */
    uint32_t others; /* likewise: threads that were inside a call that submits work as it began */
};
struct samples {
    struct sample *values;
    uint64_t count, room;
};

struct gt_host_costs {
    struct samples rows[ROWS], returns, pick_ups;
    struct samples contended; /* calls of traces of several threads */
    struct graph {
        double ps, groups, nodes, copies; /* what the call took, and what it wrote (sim/replay/graph_launch.h) */
    } * graphs;
    uint64_t graph_count, graph_room;
    struct staged {
        double ps, bytes; /* of a call that copies in from pageable memory */
    } * staged;
    uint64_t staged_count, staged_room;
};

struct gt_host_costs *gt_host_costs_new(void)
{
    return gt_calloc(1, sizeof(struct gt_host_costs));
}

void gt_host_costs_free(struct gt_host_costs *costs)
{
    if (costs == NULL)
        return;
    for (int row = 0; row < ROWS; row++)
        free(costs->rows[row].values);
    free(costs->returns.values);
    free(costs->pick_ups.values);
    free(costs->contended.values);
    free(costs->graphs);
    free(costs->staged);
    free(costs);
}

static void add(struct samples *samples, struct sample sample)
{
    gt_array_grow(samples->values, samples->count, samples->room);
    samples->values[samples->count++] = sample;
}

/* The row that a call's time tells about; ROWS: none, because the call may wait for the GPU or copies itself. */
static enum row row_of(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = call->ops > 0 ? &w->ops[call->first_op] : NULL;

    switch (call->kind) {
    case GT_CALL_LAUNCH: return LAUNCH;
    case GT_CALL_MEMSET: return MEMSET;
    case GT_CALL_HOST_FUNCTION: return HOST_FUNCTION;
    case GT_CALL_EVENT_RECORD:
    case GT_CALL_EVENT_WAIT: return EVENT;
    case GT_CALL_COPY: break;
    default: return ROWS;
    }
    if (op == NULL || op->memory == GT_MEMORY_PAGEABLE || call->flags & GT_CALL_SYNCHRONOUS)
        return ROWS;
    return op->direction == GT_D2D ? COPY_WITHIN : COPY;
}

static bool synchronises(const struct gt_call *call)
{
    return call->kind == GT_CALL_STREAM_SYNC || call->kind == GT_CALL_EVENT_SYNC || call->kind == GT_CALL_DEVICE_SYNC;
}

/* A wait: of one that was blocked, the return after the operation that it waited for; else its own time. */
static void add_wait(struct gt_host_costs *costs, const struct gt_workload *w, const struct gt_replay *replay,
                     gt_call_index call)
{
    gt_op_index op = replay->blocking_op[call];
    const struct gt_call *c = &w->calls[call];

    if (op == GT_NONE)
        add(&costs->rows[SYNC], (struct sample){ .ps = (double)c->duration_ps });
    else if (w->ops[op].kind != GT_OP_HOST_FUNCTION)
        add(&costs->returns,
            (struct sample){ .ps = (double)gt_call_measured_end(c) - (double)gt_op_measured_end(&w->ops[op]) });
}

/* How long a host function that comes behind another operation of its stream took to be picked up, where nothing
 * else was waited for. */
static void add_pick_up(struct gt_host_costs *costs, const struct gt_workload *w, const struct gt_call *call,
                        gt_op_index before)
{
    const struct gt_op *op = &w->ops[call->first_op];
    gt_time_ps ready_ps = gt_call_measured_end(call), end_ps = gt_op_measured_end(&w->ops[before]);

    if (op->start_ps == GT_TIME_NONE || ready_ps == GT_TIME_NONE || end_ps == GT_TIME_NONE ||
        w->ops[before].kind == GT_OP_HOST_FUNCTION)
        return;
    ready_ps = end_ps > ready_ps ? end_ps : ready_ps;
    if (op->start_ps >= ready_ps)
        add(&costs->pick_ups, (struct sample){ .ps = (double)(op->start_ps - ready_ps) });
}

/* What is known of threads and streams while their calls are walked through. */
struct walk {
    uint32_t *kinds_called; /* by thread: bits of rows */
    uint8_t *kind_before;   /* by thread: gt_call_kind; GT_CALL_KINDS: none */
    bool *stream_called;
    bool alone;           /* one thread makes all calls */
    gt_op_index *last_op; /* by stream; GT_NONE: none, or a wait came after it */
};

/* Other threads that are inside a call that submits work as this one begins. */
static uint32_t others_inside(const struct gt_workload *w, const struct gt_call *call)
{
    uint64_t threads = 0;

    for (uint32_t i = 0; i < w->call_count; i++) {
        const struct gt_call *other = &w->calls[i];

        if (other->thread != call->thread && other->ops > 0 && other->duration_ps != GT_TIME_NONE &&
            other->start_ps <= call->start_ps && other->start_ps + other->duration_ps > call->start_ps)
            threads |= UINT64_C(1) << other->thread % 64;
    }
    return (uint32_t)__builtin_popcountll(threads);
}

static void add_call(struct gt_host_costs *costs, const struct gt_workload *w, const struct gt_call *call,
                     struct walk *walk)
{
    enum row row = row_of(w, call);
    uint8_t before = walk->kind_before[call->thread];
    struct sample sample = { .ps = (double)call->duration_ps };

    walk->kind_before[call->thread] = call->kind;
    if (call->stream != GT_NONE) {
        sample.has[FIRST] = !walk->stream_called[call->stream];
        walk->stream_called[call->stream] = true;
    }
    if (call->kind == GT_CALL_EVENT_WAIT && call->stream != GT_NONE)
        walk->last_op[call->stream] = GT_NONE;
    if (call->ops > 0) {
        gt_op_index *last = &walk->last_op[w->ops[call->first_op].stream];

        if (row == HOST_FUNCTION && *last != GT_NONE)
            add_pick_up(costs, w, call, *last);
        *last = call->first_op + call->ops - 1;
    }
    if (row == ROWS)
        return;
    sample.row = (uint8_t)row;
    sample.others = others_inside(w, call);
    sample.has[COLD] = !(walk->kinds_called[call->thread] & UINT32_C(1) << row);
    sample.has[AFTER] = before != GT_CALL_KINDS && before != call->kind;
    walk->kinds_called[call->thread] |= UINT32_C(1) << row;
    add(walk->alone ? &costs->rows[row] : &costs->contended, sample);
}

/* What a graph launch writes: a device on which that alone takes time, a millisecond each, counts it. */
enum { UNIT_PS = 1000000000 };
static double count_parts(const struct gt_workload *workload, gt_call_index call, const struct gt_device *unit)
{
    struct gt_replay plan = { .edge_count = 0 };
    double parts;

    gt_replay_make(&plan, workload, unit, unit);
    parts = (double)plan.graphs.call_ps[call] / UNIT_PS;
    gt_replay_free(&plan);
    return parts;
}

static void add_graph(struct gt_host_costs *costs, const struct gt_workload *workload,
                      const struct gt_workload *measured, gt_call_index call)
{
    struct gt_device nothing, groups, nodes, copies;

    gt_device_init(&nothing);
    nothing.graph_call_ps = nothing.graph_group_ps = nothing.graph_node_ps = nothing.graph_copy_ps = 0;
    groups = nodes = copies = nothing;
    groups.graph_group_ps = nodes.graph_node_ps = copies.graph_copy_ps = UNIT_PS;
    gt_array_grow(costs->graphs, costs->graph_count, costs->graph_room);
    costs->graphs[costs->graph_count++] = (struct graph){
        .ps = (double)measured->calls[call].duration_ps,
        .groups = count_parts(workload, call, &groups),
        .nodes = count_parts(workload, call, &nodes),
        .copies = count_parts(workload, call, &copies),
    };
}

static void add_staged(struct gt_host_costs *costs, const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = &w->ops[call->first_op];

    if (call->kind != GT_CALL_COPY || call->ops != 1 || op->memory != GT_MEMORY_PAGEABLE || op->direction != GT_H2D)
        return;
    gt_array_grow(costs->staged, costs->staged_count, costs->staged_room);
    costs->staged[costs->staged_count++] = (struct staged){ (double)call->duration_ps, (double)op->bytes };
}

/* Of several threads at once each call may wait for the others' lock: what that costs is told from these alone. */
static bool alone(const struct gt_workload *w)
{
    for (uint32_t i = 1; i < w->call_count; i++)
        if (w->calls[i].thread != w->calls[0].thread)
            return false;
    return true;
}

void gt_host_costs_add(struct gt_host_costs *costs, const struct gt_workload *workload,
                       const struct gt_workload *measured)
{
    struct gt_replay replay = { .edge_count = 0 };
    struct walk walk;

    walk = (struct walk){
        .alone = alone(measured),
        .kinds_called = gt_calloc(measured->thread_count + 1ull, sizeof *walk.kinds_called),
        .kind_before = gt_calloc(measured->thread_count + 1ull, sizeof *walk.kind_before),
        .stream_called = gt_calloc(measured->stream_count + 1ull, sizeof *walk.stream_called),
        .last_op = gt_realloc(NULL, measured->stream_count + 1ull, sizeof *walk.last_op),
    };
    memset(walk.last_op, 0xff, (measured->stream_count + 1ull) * sizeof *walk.last_op);
    memset(walk.kind_before, GT_CALL_KINDS, measured->thread_count);
    gt_replay_take_host(&replay, measured);
    for (uint32_t i = 0; i < measured->call_count; i++) {
        const struct gt_call *call = &measured->calls[i];

        if (call->duration_ps == GT_TIME_NONE)
            continue;
        if (walk.alone && synchronises(call))
            add_wait(costs, measured, &replay, i);
        add_call(costs, measured, call, &walk);
        if (!walk.alone)
            continue;
        if (call->kind == GT_CALL_GRAPH_LAUNCH && call->ops > 0)
            add_graph(costs, workload, measured, i);
        else if (call->ops > 0)
            add_staged(costs, measured, call);
    }
    gt_replay_free(&replay);
    free(walk.kinds_called);
    free(walk.kind_before);
    free(walk.stream_called);
    free(walk.last_op);
}

/* The median of what is left of the samples that have `extra` (EXTRAS: of all) without the other terms. */
static double left_ps(const struct samples *samples, enum extra extra, double base_ps, const double *extras_ps,
                      uint64_t *count)
{
    double *left = gt_calloc(samples->count + 1, sizeof *left), median;

    *count = 0;
    for (uint64_t i = 0; i < samples->count; i++) {
        const struct sample *sample = &samples->values[i];

        if (extra != EXTRAS && !sample->has[extra])
            continue;
        left[*count] = sample->ps - (extra == EXTRAS ? 0 : base_ps);
        for (int j = 0; j < EXTRAS; j++)
            if (j != (int)extra && sample->has[j])
                left[*count] -= extras_ps[j];
        ++*count;
    }
    median = gt_median(left, *count);
    free(left);
    return *count == 0 ? 0 : median;
}

/* Least absolute deviations, term after term: each the median of what the others leave. */
enum { ROUNDS = 40 };
static double fit(const struct samples *samples, bool with_extras, double *extras_ps)
{
    uint64_t count;
    double base_ps = left_ps(samples, EXTRAS, 0, extras_ps, &count);

    for (int round = 0; round < ROUNDS && with_extras; round++) {
        base_ps = left_ps(samples, EXTRAS, 0, extras_ps, &count);
        for (int extra = 0; extra < EXTRAS; extra++) {
            double more_ps = left_ps(samples, (enum extra)extra, base_ps, extras_ps, &count);

            extras_ps[extra] = count >= GT_HOST_COSTS_LEAST ? fmax(0, more_ps) : 0;
        }
    }
    return fmax(0, base_ps);
}

static void put(struct gt_device *device, size_t place, double ps)
{
    *(uint64_t *)(void *)((char *)device + place) = (uint64_t)ps;
}

/* All parts of a graph launch by the median of what launches took, of what they would by the device. */
static void apply_graphs(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *ratios = gt_calloc(costs->graph_count + 1, sizeof *ratios), ratio;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->graph_count; i++) {
        const struct graph *g = &costs->graphs[i];
        double ps = (double)device->graph_call_ps + g->groups * (double)device->graph_group_ps +
                    g->nodes * (double)device->graph_node_ps + g->copies * (double)device->graph_copy_ps;

        if (ps > 0)
            ratios[count++] = g->ps / ps;
    }
    ratio = gt_median(ratios, count);
    free(ratios);
    if (count < GT_HOST_COSTS_LEAST)
        return;
    device->graph_call_ps = (uint64_t)((double)device->graph_call_ps * ratio);
    device->graph_group_ps = (uint64_t)((double)device->graph_group_ps * ratio);
    device->graph_node_ps = (uint64_t)((double)device->graph_node_ps * ratio);
    device->graph_copy_ps = (uint64_t)((double)device->graph_copy_ps * ratio);
}

/* How fast the host copies, from copies that it only copies into the staging buffers, and are long enough to tell.
 * Few do, so fewer are enough; copying out is taken to be as much faster or slower than the device has it. */
enum { STAGED_LEAST = 3, STAGED_BYTES_LEAST = 1 << 17 };
static void apply_staging(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *rates = gt_calloc(costs->staged_count + 1, sizeof *rates), rate_gbps;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->staged_count; i++) {
        const struct staged *s = &costs->staged[i];
        double copying_ps = s->ps - (double)device->copy_call_ps;

        if (s->bytes >= STAGED_BYTES_LEAST && copying_ps > 0 &&
            s->bytes <= (double)device->staging_chunk_bytes * device->staging_buffers)
            rates[count++] = s->bytes * 1000 / copying_ps;
    }
    rate_gbps = gt_median(rates, count);
    free(rates);
    if (count < STAGED_LEAST || device->staging_in_gbps <= 0)
        return;
    device->staging_out_gbps *= rate_gbps / device->staging_in_gbps;
    device->staging_in_gbps = rate_gbps;
}

/* What launches that began beside others took beyond what they do alone, by the number of the others. */
static void apply_contention(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *more = gt_calloc(costs->contended.count + 1, sizeof *more), median;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->contended.count; i++) {
        const struct sample *sample = &costs->contended.values[i];
        const struct gt_call_extra *extra = &device->launch_extra;

        if (sample->row == LAUNCH && sample->others > 0)
            more[count++] =
                (sample->ps - (double)device->launch_call_ps - (sample->has[COLD] ? (double)extra->cold_ps : 0) -
                 (sample->has[FIRST] ? (double)extra->first_ps : 0) -
                 (sample->has[AFTER] ? (double)extra->after_ps : 0)) /
                sample->others;
    }
    median = gt_median(more, count);
    free(more);
    if (count >= GT_HOST_COSTS_LEAST)
        device->submit_lock_ps = (uint64_t)fmax(0, median);
}

uint64_t gt_host_costs_apply(const struct gt_host_costs *costs, struct gt_device *device)
{
    double extras_ps[EXTRAS] = { 0 };
    uint64_t count, calls = costs->returns.count + costs->graph_count;

    for (int row = 0; row < ROWS; row++) {
        const struct samples *samples = &costs->rows[row];
        bool with_extras = places[row].extra != NOWHERE;

        calls += samples->count;
        if (samples->count < GT_HOST_COSTS_LEAST)
            continue;
        if (row != COPY_WITHIN)
            memset(extras_ps, 0, sizeof extras_ps);
        put(device, places[row].call, fit(samples, with_extras, extras_ps));
        for (int extra = 0; extra < EXTRAS && with_extras; extra++)
            put(device, places[row].extra + (size_t)extra * sizeof(uint64_t), extras_ps[extra]);
    }
    memset(extras_ps, 0, sizeof extras_ps);
    if (costs->pick_ups.count >= GT_HOST_COSTS_LEAST)
        device->host_function_ps = (uint64_t)fmax(0, left_ps(&costs->pick_ups, EXTRAS, 0, extras_ps, &count));
    apply_graphs(costs, device);
    apply_staging(costs, device);
    apply_contention(costs, device);
    if (costs->returns.count >= GT_HOST_COSTS_LEAST)
        device->sync_return_ps = (uint64_t)fmax(0, left_ps(&costs->returns, EXTRAS, 0, extras_ps, &count));
    return calls;
}
