#include "sim/baseline/profiler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/baseline/recording_cost.h"
#include "sim/frameworks/framework.h"
#include "sim/stream/call_times.h"
#include "sim/workload/ranges.h"

/* What is left at least of a call's time and of a gap. */
static const double least_call_part = 0.3, least_gap_part = 0.2;

static gt_time_ps part(gt_time_ps time_ps, double part)
{
    return (gt_time_ps)((double)time_ps * part);
}

/* Begins and ends of ranges, by thread and time. */
struct mark {
    gt_thread_index thread;
    gt_time_ps time_ps;
};

static int by_time(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;

    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->time_ps, b->time_ps);
    return 0;
}

/* Where a step ended and the next one of its thread began: between them only the profiler is at work. */
struct pause {
    gt_thread_index thread;
    gt_time_ps end_ps, start_ps;
};

struct removing {
    double left_part; /* of the host's time, */
    double slower;    /* and by how much longer than elsewhere its calls were recorded to take */
    const struct gt_workload *recorded;
    struct gt_workload *w;
    const struct gt_device *device;
    const struct gt_framework *framework;
    const struct gt_profiler_cost *cost;
    bool recorder; /* it is of `gridtide record`, */
    bool measured; /* by the recorder itself: what calls cost, by their kinds */
    gt_time_ps call_ps[GT_CALL_KINDS];
    struct mark *marks;
    size_t mark_count;
    struct pause *pauses; /* by start */
    size_t pause_count;
    struct gt_profiler_removed *removed;
};

static const struct gt_profiler_cost *cost_of(const struct gt_workload *w, const struct gt_device *device)
{
    const struct {
        const char *source;
        const struct gt_profiler_cost *cost;
    } profilers[] = { { "kineto", &device->kineto },
                      { "nsys", &device->nsys },
                      { "record", &device->record },
                      { "xplane", &device->xplane } };

    for (size_t i = 0; w->source != NULL && i < sizeof profilers / sizeof profilers[0]; i++)
        if (strcmp(w->source, profilers[i].source) == 0)
            return profilers[i].cost;
    return NULL;
}

/* Ranges stand by start.  A thread's first step has no pause before it: its end_ps is its start. */
static void collect_pauses(struct removing *removing)
{
    const struct gt_workload *w = removing->recorded;
    gt_time_ps *ends_ps = gt_calloc(w->thread_count + 1ull, sizeof *ends_ps);

    removing->pauses = gt_calloc(w->range_count + 1ull, sizeof *removing->pauses);
    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];
        gt_time_ps *end_ps = &ends_ps[range->thread], before_ps = range->start_ps;

        if (!gt_range_is_measured(range) || range->kind != GT_RANGE_STEP)
            continue;
        if (*end_ps > 0 && *end_ps <= range->start_ps)
            before_ps = *end_ps;
        removing->pauses[removing->pause_count++] = (struct pause){ range->thread, before_ps, range->start_ps };
        *end_ps = gt_range_measured_end(range);
    }
    free(ends_ps);
}

/* Of the thread's time from `from_ps` to `to_ps`, what it spent on marking steps. */
static gt_time_ps steps_ps(const struct removing *removing, gt_thread_index thread, gt_time_ps from_ps,
                           gt_time_ps to_ps)
{
    gt_time_ps sum_ps = 0;
    size_t low = GT_LOWER_BOUND(middle, 0, removing->pause_count, removing->pauses[middle].start_ps <= from_ps);
    for (; low < removing->pause_count && removing->pauses[low].start_ps <= to_ps; low++) {
        const struct pause *pause = &removing->pauses[low];

        if (pause->thread == thread)
            sum_ps += part(removing->cost->step_ps, removing->slower) + pause->start_ps -
                      (pause->end_ps > from_ps ? pause->end_ps : from_ps);
    }
    return sum_ps;
}

/* Steps are told by the profiler itself, and cost by themselves. */
static void collect_marks(struct removing *removing)
{
    const struct gt_workload *w = removing->recorded;

    removing->marks = gt_calloc(2ull * w->range_count + 1, sizeof *removing->marks);
    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (!gt_range_is_measured(range) || range->kind == GT_RANGE_STEP)
            continue;
        removing->marks[removing->mark_count++] = (struct mark){ range->thread, range->start_ps };
        removing->marks[removing->mark_count++] = (struct mark){ range->thread, gt_range_measured_end(range) };
        removing->removed->ranges++;
    }
    qsort(removing->marks, removing->mark_count, sizeof *removing->marks, by_time);
}

/* How many marks the thread has before that time. */
static size_t marks_before(const struct removing *removing, gt_thread_index thread, gt_time_ps time_ps)
{
    struct mark key = { thread, time_ps };
    size_t low = GT_LOWER_BOUND(middle, 0, removing->mark_count, by_time(&removing->marks[middle], &key) < 0);
    return low;
}

/* Take up to `off_ps` off `time_ps`, of which `least_ps` stay. */
static void take_off(struct removing *removing, gt_time_ps *time_ps, gt_time_ps off_ps, gt_time_ps least_ps)
{
    gt_time_ps room_ps = *time_ps > least_ps ? *time_ps - least_ps : 0;
    gt_time_ps taken_ps = off_ps < room_ps ? off_ps : room_ps;

    *time_ps -= taken_ps;
    removing->removed->host_us += (double)taken_ps / 1e6;
}

static bool submits(const struct gt_call *call)
{
    return call->ops > 0 && call->kind != GT_CALL_GRAPH_LAUNCH;
}

/* What recording cost this call itself. */
static gt_time_ps call_cost_ps(const struct removing *removing, const struct gt_call *call)
{
    gt_time_ps cost_ps = submits(call) ? removing->cost->submit_ps : removing->cost->call_ps;

    if (removing->measured)
        cost_ps = removing->call_ps[call->kind];
    if (removing->measured && call->kind == GT_CALL_GRAPH_LAUNCH)
        return call->duration_ps; /* down to least_call_ps() */
    return call->kind == GT_CALL_GRAPH_LAUNCH ? cost_ps + call->ops * removing->cost->node_ps : cost_ps;
}

/* How long launches of kernels were recorded to take: most of them; 0: there are none. */
static double launch_ps(const struct gt_workload *recorded)
{
    double *times_ps = gt_calloc(recorded->call_count + 1ull, sizeof *times_ps), middle_ps;
    uint64_t count = 0;

    for (gt_call_index i = 0; i < recorded->call_count; i++) {
        const struct gt_call *call = &recorded->calls[i];

        if (call->kind == GT_CALL_LAUNCH && gt_call_measured_end(call) != GT_TIME_NONE &&
            !(call->flags & GT_CALL_INFERRED))
            times_ps[count++] = (double)call->duration_ps;
    }
    middle_ps = count > 0 ? gt_median(times_ps, count) : 0;
    free(times_ps);
    return middle_ps;
}

static double added_pace(const struct gt_framework *framework, double launch)
{
    return pow(fmin(fmax(launch, framework->pace.fastest_launch), framework->pace.slowest_launch),
               framework->pace.added_power);
}

/* How long a launch takes while it is recorded and the host is calm: as the recorder measured on that machine, else by the
 * device file; 0: not known. */
static double calm_launch_ps(const struct removing *removing)
{
    if (removing->measured)
        return (double)removing->recorded->recording.recorded_ns[GT_RECORDING_LAUNCH] * 1e3;
    return (double)removing->cost->launch_ps;
}

/* The host under a profiler is at one of several paces, and what a launch takes tells at which. */
static void take_pace(struct removing *removing, double *host_pace)
{
    const struct gt_framework *framework = removing->framework;
    const struct gt_profiler_cost *cost = removing->cost;
    double power = removing->recorder ? framework->pace.record_power : framework->pace.profiler_power;
    double left_pct = removing->removed->ranges > 0 ? cost->host_pct : cost->calls_host_pct;
    double calm_ps = calm_launch_ps(removing), launched_ps = calm_ps > 0 ? launch_ps(removing->recorded) : 0;

    *host_pace = launched_ps > 0 ? added_pace(framework, launched_ps / calm_ps) : 1;
    removing->slower = launched_ps > 0 ? fmax(launched_ps / calm_ps, 1) : 1;
    removing->left_part = left_pct / 100 * pow(removing->slower, -power);
}

/* The part of a time that goes with the profiler: what recording takes, or by how much emptied caches slow it, whichever
 * is more, the latter up to slows_most_us for each of `recorded` calls and ranges. */
static gt_time_ps goes_ps(const struct removing *removing, gt_time_ps time_ps, gt_time_ps cost_ps, double recorded)
{
    gt_time_ps slows_ps = part(time_ps, 1 - removing->left_part);
    gt_time_ps most_ps = part(removing->cost->slows_most_ps, recorded);

    slows_ps = slows_ps < most_ps ? slows_ps : most_ps;
    return slows_ps > cost_ps ? slows_ps : cost_ps;
}

/* Of a graph launch there is left what it takes when nobody records; of another call a part, and what such a call takes by
 * the device file, whose times of calls are without a profiler. */
static gt_time_ps least_call_ps(const struct removing *removing, const struct gt_call *call)
{
    gt_time_ps unprofiled_ps = gt_call_row_ps(removing->w, removing->device, call), least_ps;

    if (removing->measured && call->kind == GT_CALL_GRAPH_LAUNCH) {
        const uint64_t *plain_ns = removing->recorded->recording.plain_ns;

        unprofiled_ps = (plain_ns[GT_RECORDING_GRAPH_LAUNCH] + call->ops * plain_ns[GT_RECORDING_GRAPH_NODE]) * 1000;
        return unprofiled_ps < call->duration_ps ? unprofiled_ps : call->duration_ps;
    }
    if (removing->measured)
        return part(call->duration_ps, least_call_part);
    if (call->kind == GT_CALL_GRAPH_LAUNCH)
        unprofiled_ps += call->ops * removing->device->unprofiled_node_ps;
    least_ps = call->kind == GT_CALL_GRAPH_LAUNCH ? 0 : part(call->duration_ps, least_call_part);
    if (unprofiled_ps > call->duration_ps)
        return call->duration_ps;
    return unprofiled_ps > least_ps ? unprofiled_ps : least_ps;
}

/* What a call's operations have to wait for shrinks with the call. */
static void shorten_ops(struct removing *removing, const struct gt_call *call, gt_time_ps before_ps)
{
    double rest = before_ps > 0 ? (double)call->duration_ps / (double)before_ps : 1;

    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
        if (removing->w->ops[op].visible_ps != GT_TIME_NONE)
            removing->w->ops[op].visible_ps = part(removing->w->ops[op].visible_ps, rest);
}

/* The thread's own work before the call, which began where the call before ended. */
static void shorten_before(struct removing *removing, gt_call_index index, double ranges)
{
    struct gt_call *call = &removing->w->calls[index];
    const struct gt_call *as_recorded = &removing->recorded->calls[index];

    /* A range that launches nothing has few operators, if any. */
    gt_time_ps kept_ps = call->kept_ps < call->before_ps ? call->kept_ps : call->before_ps;
    gt_time_ps start_ps =
        as_recorded->start_ps >= call->before_ps ? as_recorded->start_ps - call->before_ps : GT_TIME_NONE;

    call->before_ps -= kept_ps;
    if (start_ps != GT_TIME_NONE)
        take_off(removing, &call->before_ps, steps_ps(removing, call->thread, start_ps, as_recorded->start_ps), 0);
    take_off(removing, &call->before_ps,
             goes_ps(removing, call->before_ps, part(removing->cost->operator_ps, ranges), 1 + ranges),
             part(call->before_ps, least_call_part));
    call->before_ps += kept_ps;
    call->kept_ps = kept_ps;
}

/* `ranges`: that began or ended since the call before, by halves. */
static void shorten_call(struct removing *removing, gt_call_index index, double ranges)
{
    struct gt_call *call = &removing->w->calls[index];
    gt_time_ps whole_ps = call->duration_ps, cost_ps = call_cost_ps(removing, call);

    if (!(call->flags & GT_CALL_STATED) || call->flags & GT_CALL_INFERRED || call->kind == GT_CALL_HOST_WORK)
        return;
    removing->removed->calls++;
    take_off(removing, &call->duration_ps, call->held_ps, 0);
    take_off(removing, &call->duration_ps, goes_ps(removing, whole_ps, cost_ps, 1), least_call_ps(removing, call));
    shorten_ops(removing, call, whole_ps);
    if (call->return_ps != GT_TIME_NONE && call->return_ps > removing->device->sync_return_ps)
        take_off(removing, &call->return_ps, goes_ps(removing, call->return_ps, cost_ps, 1),
                 removing->device->sync_return_ps);
    shorten_before(removing, index, ranges);
}

/* Of the thread's time, the call's and, but before its first one, its own work. */
static double own_us(const struct gt_call *call, bool first)
{
    gt_time_ps call_ps = call->duration_ps != GT_TIME_NONE ? call->duration_ps : 0;

    return (double)(call_ps + (first ? 0 : call->before_ps)) / 1e6;
}

static void shorten_calls(struct removing *removing)
{
    const struct gt_workload *recorded = removing->recorded;
    size_t *passed = gt_calloc(recorded->thread_count + 1ull, sizeof *passed);

    for (gt_thread_index i = 0; i < recorded->thread_count; i++)
        passed[i] = GT_NONE;
    for (gt_call_index i = 0; i < recorded->call_count; i++) {
        const struct gt_call *call = &recorded->calls[i];
        size_t marks, *before = &passed[call->thread];

        if (call->start_ps == GT_TIME_NONE)
            continue;
        marks = marks_before(removing, call->thread, call->start_ps);
        shorten_call(removing, i, *before == GT_NONE ? 0 : (double)(marks - *before) / 2);
        removing->removed->left_us += own_us(&removing->w->calls[i], *before == GT_NONE);
        *before = marks;
    }
    free(passed);
}

static void shorten_gap(int64_t *gap_ps, uint64_t off_ps)
{
    int64_t least_ps = (int64_t)((double)*gap_ps * least_gap_part);

    if (*gap_ps != GT_NOT_LEARNED && *gap_ps > 0)
        *gap_ps = *gap_ps - (int64_t)off_ps > least_ps ? *gap_ps - (int64_t)off_ps : least_ps;
}

static void shorten(gt_time_ps *time_ps, uint64_t off_ps)
{
    gt_time_ps least_ps = part(*time_ps, least_gap_part);

    *time_ps = *time_ps > least_ps + off_ps ? *time_ps - off_ps : least_ps;
}

/* A node that was seen to start late waited for the profiler to write it: no gap is longer than that behind another
 * group's node.  Where that was measured, the rest is the program's own. */
static void shorten_node_gaps(struct removing *removing)
{
    gt_time_ps most_ps = removing->device->unprofiled_graph_gap_ps + removing->device->graph_wait_ps;

    for (gt_op_index i = 0; i < removing->w->op_count; i++) {
        gt_time_ps *gap_ps = &removing->w->ops[i].gap_ps;

        if (*gap_ps == GT_TIME_NONE)
            continue;
        shorten(gap_ps, removing->cost->graph_gap_ps);
        if (!removing->measured)
            *gap_ps = *gap_ps < most_ps ? *gap_ps : most_ps;
    }
}

static void shorten_own_gaps(struct removing *removing)
{
    for (gt_op_index i = 0; i < removing->w->op_count; i++) {
        struct gt_op *op = &removing->w->ops[i];
        gt_time_ps gap_ps = op->own_gap_ps;

        shorten(&gap_ps, op->kind == GT_OP_COPY ? removing->cost->copy_gap_ps : removing->cost->gap_ps);
        op->own_gap_ps = (uint32_t)gap_ps;
    }
}

/* The GPU's part; latencies of calls are those of the device file, since those that were seen begin where the profiler
 * took the time of a call's end. */
static void shorten_gaps(struct removing *removing, struct gt_learned *learned)
{
    const struct gt_profiler_cost *cost = removing->cost;

    for (int before = 0; before < GT_OP_KINDS; before++) {
        learned->latency_ps[before] = GT_NOT_LEARNED;
        for (int after = 0; after < GT_OP_KINDS; after++) {
            uint64_t gap_ps = before == GT_OP_COPY || after == GT_OP_COPY ? cost->copy_gap_ps : cost->gap_ps;

            shorten_gap(&learned->gap_ps[before][after], gap_ps);
            shorten_gap(&learned->event_gap_ps[before][after], gap_ps);
            shorten_gap(&learned->graph_gap_ps[before][after], cost->graph_gap_ps);
        }
    }
    learned->graph_latency_ps = GT_NOT_LEARNED;
    shorten_gap(&learned->copy_gap_ps, cost->copy_gap_ps);
    shorten_node_gaps(removing);
    shorten_own_gaps(removing);
}

/* The device file's times of the GPU's front end were measured under a profiler, too. */
static void quieten(struct gt_device *device, const struct gt_profiler_cost *cost)
{
    device->graph_group_ps = 0;
    device->graph_node_ps = device->graph_copy_ps = device->unprofiled_node_ps;
    shorten(&device->stream_gap_ps, cost->gap_ps);
    shorten(&device->event_gap_ps, cost->gap_ps);
    shorten(&device->engine_gap_ps, cost->copy_gap_ps);
    shorten(&device->engine_event_gap_ps, cost->copy_gap_ps);
    shorten(&device->copy_gap_ps, cost->copy_gap_ps);
    device->graph_gap_ps = device->unprofiled_graph_gap_ps;
}

bool gt_profiler_remove(struct gt_scenario *scenario, const struct gt_workload *recorded, struct gt_learned *learned,
                        struct gt_profiler_removed *removed)
{
    const struct gt_profiler_cost *found = cost_of(recorded, &scenario->recorded);
    struct gt_profiler_cost cost = found != NULL ? *found : (struct gt_profiler_cost){ 0 };
    struct removing removing = {
        .recorded = recorded,
        .w = scenario->workload,
        .device = &scenario->recorded,
        .framework = scenario->host->framework,
        .cost = &cost,
        .removed = removed,
    };

    memset(removed, 0, sizeof *removed);
    if (found == NULL)
        return false;
    removing.recorder = found == &scenario->recorded.record;
    removing.measured = gt_recording_measured(&recorded->recording, &cost, removing.call_ps);
    collect_marks(&removing);
    collect_pauses(&removing);
    take_pace(&removing, &scenario->host_pace);
    removed->measured = removing.measured;
    removed->ranges_missing = removed->ranges == 0 && found != &scenario->recorded.record;
    shorten_calls(&removing);
    shorten_gaps(&removing, learned);
    quieten(&scenario->device, removing.cost);
    quieten(&scenario->recorded, removing.cost);
    free(removing.marks);
    free(removing.pauses);
    return true;
}
