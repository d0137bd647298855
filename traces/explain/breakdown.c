#include "traces/explain/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "traces/explain/breakdown_parts.h"
#include "traces/explain/host_time.h"
#include "traces/explain/part.h"

const char *const gt_time_kind_names[GT_TIME_KINDS] = {
    [GT_TIME_COMPUTATION] = "computation",
    [GT_TIME_COMMUNICATION] = "communication",
    [GT_TIME_COPIES] = "copies",
    [GT_TIME_LAUNCH] = "launch",
    [GT_TIME_DATA_LOADING] = "data_loading",
    [GT_TIME_HOST] = "host",
    [GT_TIME_SYNCHRONISATION] = "synchronisation",
    [GT_TIME_IDLE] = "idle",
};
const char *const gt_time_kind_labels[GT_TIME_KINDS] = {
    [GT_TIME_COMPUTATION] = "computation",
    [GT_TIME_COMMUNICATION] = "communication",
    [GT_TIME_COPIES] = "copies",
    [GT_TIME_LAUNCH] = "launch overhead",
    [GT_TIME_DATA_LOADING] = "data loading",
    [GT_TIME_HOST] = "other host code",
    [GT_TIME_SYNCHRONISATION] = "synchronisation",
    [GT_TIME_IDLE] = "idle",
};

const char *const gt_time_kind_bounds[GT_TIME_KINDS] = {
    [GT_TIME_COMPUTATION] = "GPU computation",
    [GT_TIME_COMMUNICATION] = "communication",
    [GT_TIME_COPIES] = "copies",
    [GT_TIME_LAUNCH] = "launch overhead",
    [GT_TIME_DATA_LOADING] = "data loading",
    [GT_TIME_HOST] = "host code",
    [GT_TIME_SYNCHRONISATION] = "synchronisation",
    [GT_TIME_IDLE] = "gaps between operations",
};

bool gt_is_collective_kernel(const struct gt_loaded_kernel *kernel)
{
    return kernel->shape.collective.kind != GT_COLLECTIVE_NONE || strncmp(kernel->name, "nccl", 4) == 0;
}

static enum gt_time_kind kind_of_op(const struct gt_loaded_run *t, const struct gt_loaded_op *op)
{
    if (op->kind != GT_OP_KERNEL)
        return GT_TIME_COPIES;
    return gt_is_collective_kernel(&t->kernels[op->kernel]) ? GT_TIME_COMMUNICATION : GT_TIME_COMPUTATION;
}

/* Starts and ends of operations of one lane, in order. */
struct turn {
    gt_time_ps at_ps;
    uint32_t op;
    int8_t change; /* 1 or -1 */
};

static int by_time(const void *a, const void *b)
{
    const struct turn *left = a, *right = b;

    if (left->at_ps != right->at_ps)
        return left->at_ps < right->at_ps ? -1 : 1;
    if (left->change != right->change)
        return left->change > right->change ? -1 : 1; /* starts first: what follows at once leaves no gap */
    return (left->op > right->op) - (left->op < right->op);
}

static struct turn *turns_of(const struct gt_lane *lane, size_t *count)
{
    const struct gt_loaded_run *t = lane->run;
    struct turn *turns = gt_calloc(2 * lane->op_count + 1, sizeof *turns);

    *count = 0;
    for (size_t i = 0; i < lane->op_count; i++) {
        const struct gt_loaded_op *op = &t->ops[lane->ops[i]];

        if (op->end_ps == op->start_ps)
            continue;
        turns[(*count)++] = (struct turn){ op->start_ps, lane->ops[i], 1 };
        turns[(*count)++] = (struct turn){ op->end_ps, lane->ops[i], -1 };
    }
    qsort(turns, *count, sizeof *turns, by_time);
    return turns;
}

/* An idle gap: what of it counts, and for whom where it began while its thread waited for the GPU. */
struct gap {
    struct gt_lane *lane;
    bool begun, waited;
    uint32_t call, range; /* that waited */
    gt_time_ps ps;        /* without loading data */
};

static void add_piece(void *user, const struct gt_host_piece *piece)
{
    struct gap *gap = user;
    enum gt_time_kind kind = gt_host_piece_kind(gap->lane->run, piece);
    gt_time_ps counted_ps =
        gt_lane_add(gap->lane, kind, piece->from_ps, piece->to_ps, kind == GT_TIME_LAUNCH ? NULL : piece);

    if (!gap->begun && piece->call != GT_NONE && kind == GT_TIME_SYNCHRONISATION) {
        gap->waited = true;
        gap->call = piece->call;
        gap->range = piece->range;
    }
    gap->begun = true;
    gap->ps += kind == GT_TIME_DATA_LOADING ? 0 : counted_ps;
}

static void host_gap(struct gap *gap, gt_thread_index thread, gt_time_ps from_ps, gt_time_ps to_ps)
{
    if (to_ps > from_ps)
        gt_host_pieces(gap->lane->run, thread, from_ps, to_ps, add_piece, gap);
}

static void end_gap(const struct gap *gap)
{
    const struct gt_loaded_run *t = gap->lane->run;
    struct gt_breakdown_waits *waits = gap->lane->waits;

    if (!gap->waited || gap->ps == 0)
        return;
    waits->count++;
    waits->ps += gap->ps;
    if (gap->ps <= waits->longest_ps)
        return;
    waits->longest_ps = gap->ps;
    waits->call = t->names[t->calls[gap->call].name];
    waits->range = gt_host_range_name(t, gap->range);
}

/* Does the host copy first, before the GPU does? */
static bool is_staged(const struct gt_loaded_op *op)
{
    return op->kind == GT_OP_COPY && op->memory == GT_MEMORY_PAGEABLE;
}

/* Nothing runs until the operation starts. */
static void gap_before(struct gt_lane *lane, uint32_t op, gt_time_ps from_ps)
{
    const struct gt_loaded_run *t = lane->run;
    const struct gt_loaded_call *call = &t->calls[t->ops[op].call];
    gt_time_ps to_ps = t->ops[op].start_ps, asked_ps = call->start_ps;
    struct gap gap = { .lane = lane };

    if (!call->there || call->end_ps <= from_ps) {
        gt_lane_add(lane, GT_TIME_IDLE, from_ps, to_ps, NULL);
        return;
    }
    asked_ps = asked_ps < from_ps ? from_ps : asked_ps > to_ps ? to_ps : asked_ps;
    host_gap(&gap, call->thread, from_ps, asked_ps);
    gap.ps += gt_lane_add(lane, is_staged(&t->ops[op]) ? GT_TIME_COPIES : GT_TIME_LAUNCH, asked_ps, to_ps, NULL);
    end_gap(&gap);
}

static enum gt_time_kind running(const uint32_t *counts)
{
    for (enum gt_time_kind kind = GT_TIME_COMPUTATION; kind <= GT_TIME_COPIES; kind++)
        if (counts[kind] > 0)
            return kind;
    return GT_TIME_KINDS;
}

static void walk_lane(struct gt_lane *lane)
{
    struct gap last = { .lane = lane };
    uint32_t counts[GT_TIME_KINDS] = { 0 };
    gt_time_ps now_ps = lane->windows[0].from_ps;
    size_t count;
    struct turn *turns = turns_of(lane, &count);

    for (size_t i = 0; i < count; i++) {
        enum gt_time_kind kind = running(counts);

        if (turns[i].at_ps > now_ps) {
            if (kind == GT_TIME_KINDS)
                gap_before(lane, turns[i].op, now_ps);
            else
                gt_lane_add(lane, kind, now_ps, turns[i].at_ps, NULL);
            now_ps = turns[i].at_ps;
        }
        counts[kind_of_op(lane->run, &lane->run->ops[turns[i].op])] += (uint32_t)turns[i].change;
    }
    if (lane->windows[lane->window_count - 1].to_ps > now_ps)
        host_gap(&last, lane->last_thread, now_ps, lane->windows[lane->window_count - 1].to_ps);
    free(turns);
}

void gt_breakdown_find(const struct gt_loaded_run *t, struct gt_breakdown *breakdown)
{
    struct gt_lane *lanes;
    size_t count;

    *breakdown = (struct gt_breakdown){ .steps = NULL };
    lanes = gt_lanes_find(t, breakdown, &count);
    for (size_t i = 0; i < count; i++)
        if (lanes[i].window_count > 0)
            walk_lane(&lanes[i]);
    gt_lanes_end(lanes, count, breakdown);
}

void gt_breakdown_free(struct gt_breakdown *breakdown)
{
    free(breakdown->steps);
    free(breakdown->hosts);
    *breakdown = (struct gt_breakdown){ .steps = NULL };
}

/* Steps stand by process, GPU and time: the last one of the process and GPU from `first` on that begins no later. */
static size_t last_begun(const struct gt_breakdown *breakdown, size_t first, size_t behind, gt_time_ps time_ps)
{
    while (behind - first > 1) {
        size_t middle = first + (behind - first) / 2;

        if (breakdown->steps[middle].from_ps <= time_ps)
            first = middle;
        else
            behind = middle;
    }
    return first;
}

bool gt_breakdown_counts(const struct gt_breakdown *breakdown, uint64_t process, gt_time_ps time_ps)
{
    for (size_t i = 0, behind; i < breakdown->step_count; i = behind) {
        const struct gt_breakdown_step *step = &breakdown->steps[i];

        behind = step->behind;
        if (step->process != process)
            continue;
        step = &breakdown->steps[last_begun(breakdown, i, behind, time_ps)];
        if (step->counted && time_ps >= step->from_ps && time_ps < step->to_ps)
            return true;
    }
    return false;
}

bool gt_breakdown_counts_op(const struct gt_breakdown *breakdown, const struct gt_loaded_run *run, gt_op_index op)
{
    const struct gt_loaded_op *loaded = &run->ops[op];
    gt_thread_index thread = run->calls[loaded->call].thread;

    return gt_part_has_op(run, op) && gt_breakdown_counts(breakdown, run->processes[thread], loaded->start_ps);
}

enum gt_time_kind gt_breakdown_most(const struct gt_breakdown *breakdown)
{
    enum gt_time_kind most = GT_TIME_COMPUTATION;

    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++)
        if (breakdown->ps[kind] > breakdown->ps[most])
            most = kind;
    return most;
}
