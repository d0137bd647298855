#include "sim/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "sim/replay/held_calls.h"

static gt_time_ps not_negative(int64_t time_ps)
{
    return time_ps > 0 ? (gt_time_ps)time_ps : 0;
}

/* A gap that the trace shows, moved by what the device simulated takes longer. */
static gt_time_ps moved_gap(int64_t gap_ps, int64_t more_ps)
{
    return gap_ps == GT_NOT_LEARNED ? GT_TIME_NONE : not_negative(gap_ps + more_ps);
}

/* The constants: what the trace shows, else the recorded device's; `device` shifts them by its difference. */
static void conclude(struct gt_replay *replay, const struct gt_device *recorded, const struct gt_device *device)
{
    const struct gt_learned *learned = &replay->learned;

#define LEARN(learned, field)                                               \
    (((learned) == GT_NOT_LEARNED ? (int64_t)recorded->field : (learned)) + \
     (int64_t)(device->field - recorded->field))
    if (learned->gap_ps[GT_OP_KERNEL][GT_OP_KERNEL] == GT_NOT_LEARNED) {
        replay->busy_connection_ps = device->busy_connection_ps;
        replay->busy_queue_gap_ps = device->busy_queue_gap_ps;
    }
    replay->stream_gap_ps = device->stream_gap_ps;
    replay->inline_bytes = device->inline_pinned_bytes;
    replay->inline_pageable_bytes = device->staging_chunk_bytes > 0 ? device->inline_bytes : 0;
    replay->engine_gap_ps = device->engine_gap_ps;
    replay->plain_graph_gap_ps = device->graph_gap_ps;
    replay->latency_ps[GT_OP_KERNEL] = LEARN(learned->latency_ps[GT_OP_KERNEL], launch_latency_ps);
    replay->latency_ps[GT_OP_COPY] = LEARN(learned->latency_ps[GT_OP_COPY], copy_submit_ps);
    replay->latency_ps[GT_OP_MEMSET] = LEARN(learned->latency_ps[GT_OP_MEMSET], launch_latency_ps);
    replay->latency_ps[GT_OP_HOST_FUNCTION] = LEARN(learned->latency_ps[GT_OP_HOST_FUNCTION], launch_latency_ps);
    replay->graph_latency_ps = LEARN(learned->graph_latency_ps, launch_latency_ps);
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++) {
            replay->gap_ps[before][after] =
                moved_gap(learned->gap_ps[before][after], (int64_t)(device->stream_gap_ps - recorded->stream_gap_ps));
            replay->graph_gap_ps[before][after] = moved_gap(learned->graph_gap_ps[before][after],
                                                            (int64_t)(device->graph_gap_ps - recorded->graph_gap_ps));
        }
    }
    replay->sync_return_ps = not_negative(LEARN(learned->sync_return_ps, sync_return_ps));
    replay->copy_gap_ps = not_negative(LEARN(learned->copy_gap_ps, copy_gap_ps));
    /* the samples are of copies behind another engine's work too */
    replay->engine_switch_gap_ps =
        learned->copy_gap_ps == GT_NOT_LEARNED ? device->engine_gap_ps : replay->copy_gap_ps;
    replay->within_alone = device->copy_within_alone != 0 && !learned->copies_beside_kernels;
#undef LEARN
}

/* What waits cost, once it is known which operations waited. */
static void conclude_waits(struct gt_replay *replay, const struct gt_device *recorded, const struct gt_device *device)
{
    for (int before = 0; before < GT_OP_KINDS; before++) {
        for (int after = 0; after < GT_OP_KINDS; after++)
            replay->event_gap_ps[before][after] = moved_gap(replay->learned.event_gap_ps[before][after],
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
enum lane { LANE_KERNELS, LANE_IN, LANE_OUT, LANE_BETWEEN, LANE_HOST };

static enum lane lane_of(const struct gt_replay *replay, const struct gt_op *op)
{
    if (op->kind == GT_OP_HOST_FUNCTION)
        return LANE_HOST;
    if (op->kind != GT_OP_COPY || gt_replay_with_commands(replay, op))
        return LANE_KERNELS;
    switch ((enum gt_direction)op->direction) {
    case GT_H2D: return LANE_IN;
    case GT_D2H: return LANE_OUT;
    case GT_P2P: return LANE_BETWEEN;
    default: return LANE_KERNELS;
    }
}

/* What is told to the host function's thread has latency.host_function_us of its own. */
bool gt_replay_switches_engine(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after)
{
    return lane_of(replay, after) != LANE_HOST && lane_of(replay, before) != lane_of(replay, after);
}

/* Copies that follow each other on one engine leave only its gap, whatever streams they are of. */
static bool same_engine(const struct gt_op *before, const struct gt_op *after)
{
    return before->kind == GT_OP_COPY && after->kind == GT_OP_COPY && before->direction == after->direction;
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

static gt_time_ps gap_behind_ps(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after,
                                enum gt_own_gap behind)
{
    return behind == GT_LAUNCH_GAP_STREAM ? gt_replay_gap_ps(replay, before, after)
                                          : gt_replay_event_gap_ps(replay, before, after);
}

static struct gt_launch_gap *launch_gaps(const struct gt_replay *replay, const struct gt_workload *w,
                                         const uint32_t *inferred_after, const struct gt_neighbours *neighbours,
                                         const struct gt_device *recorded, const struct gt_device *device)
{
    struct gt_start_rules rules = {
        .replay = replay,
        .held_ps = replay->held_ps,
        .latency_ps = replay->latency_ps,
        .graph_latency_ps = replay->graph_latency_ps,
        .gap_ps = gap_behind_ps,
    };

    return gt_launch_gaps_find(&rules, w, inferred_after, neighbours, recorded, device);
}

void gt_replay_make(struct gt_replay *replay, const struct gt_workload *w, const struct gt_device *recorded,
                    const struct gt_device *device, const struct gt_learned *learned, bool infer)
{
    uint32_t measured, *by_end = gt_replay_sort_by_end(w, &measured), *inferred;
    struct gt_neighbours neighbours;
    struct gt_survey *survey;

    memset(replay, 0, sizeof *replay);
    replay->held_ps = gt_held_calls(w);
    gt_replay_find_blocking_syncs(replay, w, by_end, measured);
    survey = gt_survey_begin(w, by_end, measured, replay->blocking_op, &replay->learned);
    if (learned != NULL)
        replay->learned = *learned;
    conclude(replay, recorded, device);
    inferred = gt_replay_infer_waits(replay, w, by_end, measured,
                                     &(struct gt_gap_sampler){ gt_survey_wait, survey, !infer });
    gt_survey_end(survey, &replay->learned);
    if (learned != NULL)
        replay->learned = *learned;
    conclude_waits(replay, recorded, device);
    gt_neighbours_make(&neighbours, w, recorded);
    gt_recorded_graphs_make(&replay->recorded_graphs, w, &neighbours,
                            (int64_t)(device->graph_gap_ps - recorded->graph_gap_ps));
    replay->launch_gaps = launch_gaps(replay, w, inferred, &neighbours, recorded, device);
    gt_neighbours_free(&neighbours);
    replay->inferred_after = inferred;
    gt_replay_edges(replay, w);
    gt_graph_launches_make(&replay->graphs, w, device, replay->edge_from, replay->edge_to);
    free(by_end);
}

static struct gt_learned nothing_learned(void)
{
    struct gt_learned nothing = {
        .graph_latency_ps = GT_NOT_LEARNED,
        .copy_gap_ps = GT_NOT_LEARNED,
        .sync_return_ps = GT_NOT_LEARNED,
    };

    for (int before = 0; before < GT_OP_KINDS; before++) {
        nothing.latency_ps[before] = GT_NOT_LEARNED;
        for (int after = 0; after < GT_OP_KINDS; after++)
            nothing.gap_ps[before][after] = nothing.graph_gap_ps[before][after] =
                nothing.event_gap_ps[before][after] = GT_NOT_LEARNED;
    }
    return nothing;
}

void gt_replay_forget_gaps(struct gt_replay *replay, const struct gt_device *recorded, const struct gt_device *device)
{
    struct gt_recorded_graphs *graphs = &replay->recorded_graphs;

    replay->learned = nothing_learned();
    conclude(replay, recorded, device);
    conclude_waits(replay, recorded, device);
    free(replay->launch_gaps);
    replay->launch_gaps = NULL;
    free(graphs->gap_ps);
    free(graphs->behind_ps);
    free(graphs->queued);
    graphs->gap_ps = graphs->behind_ps = NULL;
    graphs->queued = NULL;
}

void gt_replay_take_host(struct gt_replay *replay, const struct gt_workload *host)
{
    uint32_t measured, *by_end = gt_replay_sort_by_end(host, &measured);

    free(replay->held_ps);
    replay->held_ps = NULL;
    free(replay->blocking_op);
    free(replay->copy_start_delay_ns);
    gt_replay_find_blocking_syncs(replay, host, by_end, measured);
    free(by_end);
}

void gt_replay_free(struct gt_replay *replay)
{
    free(replay->held_ps);
    free(replay->blocking_op);
    free(replay->copy_start_delay_ns);
    free(replay->edge_from);
    free(replay->edge_to);
    free(replay->edges_in);
    free(replay->launch_gaps);
    free(replay->inferred_after);
    free(replay->given_up);
    gt_graph_launches_free(&replay->graphs);
    gt_recorded_graphs_free(&replay->recorded_graphs);
    memset(replay, 0, sizeof *replay);
}
