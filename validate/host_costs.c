/* Gathers what calls of played traces tell of the host. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/replay/replay.h"
#include "validate/host_samples.h"

struct gt_host_costs *gt_host_costs_new(void)
{
    return gt_calloc(1, sizeof(struct gt_host_costs));
}

void gt_host_costs_free(struct gt_host_costs *costs)
{
    if (costs == NULL)
        return;
    for (int row = 0; row < GT_HOST_ROWS; row++)
        free(costs->rows[row].values);
    free(costs->returns.values);
    free(costs->pick_ups.values);
    free(costs->contended.values);
    free(costs->graphs);
    free(costs->staged);
    free(costs);
}

static void add(struct gt_host_samples *samples, struct gt_host_sample sample)
{
    gt_array_grow(samples->values, samples->count, samples->room);
    samples->values[samples->count++] = sample;
}

/* The row that a call's time tells about; GT_HOST_ROWS: none, because the call may wait for the GPU or copies itself. */
static enum gt_host_row row_of(const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = call->ops > 0 ? &w->ops[call->first_op] : NULL;

    switch (call->kind) {
    case GT_CALL_LAUNCH: return GT_HOST_LAUNCH;
    case GT_CALL_MEMSET: return GT_HOST_MEMSET;
    case GT_CALL_HOST_FUNCTION: return GT_HOST_HOST_FUNCTION;
    case GT_CALL_EVENT_RECORD:
    case GT_CALL_EVENT_WAIT: return GT_HOST_EVENT;
    case GT_CALL_COPY: break;
    default: return GT_HOST_ROWS;
    }
    if (op == NULL || op->memory == GT_MEMORY_PAGEABLE || call->flags & GT_CALL_SYNCHRONOUS)
        return GT_HOST_ROWS;
    return op->direction == GT_D2D ? GT_HOST_COPY_WITHIN : GT_HOST_COPY;
}

/* Calls that cost host.sync_call_us, which not all that wait do: cudaFree and polls cost something else. */
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
        add(&costs->rows[GT_HOST_SYNC], (struct gt_host_sample){ .ps = (double)c->duration_ps });
    else if (w->ops[op].kind != GT_OP_HOST_FUNCTION)
        add(&costs->returns, (struct gt_host_sample){ .ps = (double)gt_call_measured_end(c) -
                                                            (double)gt_op_measured_end(&w->ops[op]) });
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
        add(&costs->pick_ups, (struct gt_host_sample){ .ps = (double)(op->start_ps - ready_ps) });
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
    enum gt_host_row row = row_of(w, call);
    uint8_t before = walk->kind_before[call->thread];
    struct gt_host_sample sample = { .ps = (double)call->duration_ps };

    walk->kind_before[call->thread] = call->kind;
    if (call->stream != GT_NONE) {
        sample.has[GT_EXTRA_FIRST] = !walk->stream_called[call->stream];
        walk->stream_called[call->stream] = true;
    }
    if (call->kind == GT_CALL_EVENT_WAIT && call->stream != GT_NONE)
        walk->last_op[call->stream] = GT_NONE;
    if (call->ops > 0) {
        gt_op_index *last = &walk->last_op[w->ops[call->first_op].stream];

        if (row == GT_HOST_HOST_FUNCTION && *last != GT_NONE)
            add_pick_up(costs, w, call, *last);
        *last = call->first_op + call->ops - 1;
    }
    if (row == GT_HOST_ROWS)
        return;
    sample.run = costs->runs;
    sample.row = (uint8_t)row;
    sample.others = others_inside(w, call);
    sample.has[GT_EXTRA_COLD] = !(walk->kinds_called[call->thread] & UINT32_C(1) << row);
    sample.has[GT_EXTRA_AFTER] = before != GT_CALL_KINDS && before != call->kind;
    walk->kinds_called[call->thread] |= UINT32_C(1) << row;
    add(walk->alone ? &costs->rows[row] : &costs->contended, sample);
}

/* What a graph launch writes: a device on which that alone takes time, a millisecond each, counts it. */
enum { UNIT_PS = 1000000000 };
static double count_parts(const struct gt_workload *workload, gt_call_index call, const struct gt_device *unit)
{
    struct gt_replay plan = { .edge_count = 0 };
    double parts;

    gt_replay_make(&plan, workload, unit, unit, NULL, true);
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
    costs->graphs[costs->graph_count++] = (struct gt_host_graph){
        .ps = (double)measured->calls[call].duration_ps,
        .groups = count_parts(workload, call, &groups),
        .nodes = count_parts(workload, call, &nodes),
        .copies = count_parts(workload, call, &copies),
    };
}

static void add_staged(struct gt_host_costs *costs, const struct gt_workload *w, const struct gt_call *call)
{
    const struct gt_op *op = &w->ops[call->first_op];
    gt_time_ps end_ps = gt_call_measured_end(call);

    if (call->kind != GT_CALL_COPY || call->ops != 1 || op->memory != GT_MEMORY_PAGEABLE ||
        (op->direction != GT_H2D && op->direction != GT_D2H))
        return;
    if (op->start_ps == GT_TIME_NONE || end_ps == GT_TIME_NONE || end_ps <= op->start_ps)
        return;
    gt_array_grow(costs->staged, costs->staged_count, costs->staged_room);
    costs->staged[costs->staged_count++] = (struct gt_host_staged){ .ps = (double)(end_ps - op->start_ps),
                                                                    .bytes = (double)op->bytes,
                                                                    .out = op->direction == GT_D2H };
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
    costs->runs++;
    gt_replay_free(&replay);
    free(walk.kinds_called);
    free(walk.kind_before);
    free(walk.stream_called);
    free(walk.last_op);
}
