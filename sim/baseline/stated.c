#include "sim/baseline/stated.h"

#include <stdlib.h>
#include <string.h>

#include "sim/baseline/kept_work.h"
#include "sim/machine/durations.h"
#include "sim/stream/call_times.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/processes.h"

/* What is stated: `w` as recorded, `to` in stated form. */
struct stating {
    const struct gt_workload *w;
    struct gt_workload *to;
    const struct gt_device *device;
    struct gt_replay replay;
    struct gt_isolated isolated;
};

static bool recorded(const struct gt_call *call)
{
    return gt_call_measured_end(call) != GT_TIME_NONE;
}

static void state_before(struct gt_call *to, const struct gt_call *call, const struct gt_call *before)
{
    gt_time_ps before_end_ps = before != NULL ? gt_call_measured_end(before) : 0;

    if (call->start_ps != GT_TIME_NONE && before_end_ps != GT_TIME_NONE && before_end_ps <= call->start_ps)
        to->before_ps = call->start_ps - before_end_ps;
}

/* As gt_call_cost_ps() has it of a recorded call. */
static gt_time_ps cost_ps(const struct stating *stating, gt_call_index call)
{
    const struct gt_call *c = &stating->w->calls[call];
    gt_time_ps row_ps;

    if (stating->replay.blocking_op[call] == GT_NONE)
        return c->duration_ps - gt_replay_held_ps(&stating->replay, call);
    row_ps = gt_call_row_ps(stating->w, stating->device, c);
    return row_ps < c->duration_ps ? row_ps : c->duration_ps;
}

static void state_call(struct stating *stating, gt_call_index call)
{
    const struct gt_call *c = &stating->w->calls[call];
    struct gt_call *to = &stating->to->calls[call];
    gt_op_index blocking = stating->replay.blocking_op[call];

    to->start_ps = GT_TIME_NONE;
    if (!recorded(c))
        return;
    to->flags |= GT_CALL_STATED;
    to->duration_ps = cost_ps(stating, call);
    if (blocking == GT_NONE)
        return;
    to->flags |= GT_CALL_WAITS;
    if (to->kind == GT_CALL_STREAM_SYNC ? to->stream == GT_NONE
                                        : to->kind == GT_CALL_EVENT_SYNC && to->event == GT_NONE)
        to->awaited = blocking;
    to->return_ps = gt_call_measured_end(c) - gt_op_measured_end(&stating->w->ops[blocking]);
}

/* The thread may have been waiting for another one of its process, which made the call before. */
static void state_handover(struct gt_workload *to, const struct gt_workload *w, gt_call_index call,
                           const struct gt_call *before)
{
    const struct gt_call *c = &w->calls[call];
    gt_time_ps end_ps;

    to->calls[call].handover_ps = GT_TIME_NONE;
    if (before == NULL || before->thread == c->thread || !recorded(c) || !recorded(before))
        return;
    end_ps = gt_call_measured_end(before);
    to->calls[call].handover_ps = end_ps < c->start_ps ? c->start_ps - end_ps : 0;
}

static void state_calls(struct stating *stating)
{
    const struct gt_workload *w = stating->w;
    const struct gt_call **before = gt_calloc(w->thread_count + 1ull, sizeof *before);
    const struct gt_call **in_process = gt_calloc(w->thread_count + 1ull, sizeof *in_process);
    uint32_t *process = gt_thread_processes(w);

    for (gt_call_index i = 0; i < w->call_count; i++) {
        gt_thread_index thread = w->calls[i].thread;

        state_before(&stating->to->calls[i], &w->calls[i], before[thread]);
        stating->to->calls[i].before_ps += gt_replay_held_ps(&stating->replay, i);
        state_handover(stating->to, w, i, in_process[process[thread]]);
        state_call(stating, i);
        before[thread] = &w->calls[i];
        if (!(w->calls[i].flags & GT_CALL_INFERRED)) /* nobody's thread waits for who was not seen */
            in_process[process[thread]] = &w->calls[i];
    }
    free(before);
    free(in_process);
    free(process);
}

/* From its call's begin, where cost and latency of the call would have it later than it was seen to start. */
static gt_time_ps seen_ps(const struct stating *stating, gt_op_index op, int64_t by_cost_ps)
{
    const struct gt_op *o = &stating->w->ops[op];
    gt_time_ps call_ps = stating->w->calls[o->call].start_ps + gt_replay_held_ps(&stating->replay, o->call);

    if (o->start_ps == GT_TIME_NONE || o->start_ps < call_ps)
        return GT_TIME_NONE;
    return gt_started_by_call(stating->replay.launch_gaps, op) || (int64_t)(o->start_ps - call_ps) < by_cost_ps
               ? o->start_ps - call_ps
               : GT_TIME_NONE;
}

static gt_time_ps less_ps(gt_time_ps time_ps, gt_time_ps off_ps)
{
    return time_ps > off_ps ? time_ps - off_ps : 0;
}

/* As gt_node_visible_ps() has it. */
static gt_time_ps node_visible_ps(const struct stating *stating, gt_op_index op)
{
    const struct gt_recorded_graphs *graphs = &stating->replay.recorded_graphs;
    gt_call_index call = stating->w->ops[op].call;
    gt_op_index first = stating->w->calls[call].first_op;
    gt_time_ps all_ps = stating->replay.graphs.call_ps[call], written_ps = cost_ps(stating, call);

    if (graphs->queued != NULL && !graphs->queued[call] && graphs->behind_ps[first] != GT_TIME_NONE)
        return less_ps(graphs->behind_ps[graphs->behind_ps[op] != GT_TIME_NONE ? op : first],
                       gt_replay_held_ps(&stating->replay, call));
    if (all_ps > 0)
        written_ps = gt_whole_ps((double)written_ps * (double)stating->replay.graphs.node_ps[op] / (double)all_ps);
    return seen_ps(stating, op, (int64_t)written_ps + stating->replay.graph_latency_ps);
}

static gt_time_ps node_gap_ps(const struct stating *stating, gt_op_index op)
{
    const struct gt_recorded_graphs *graphs = &stating->replay.recorded_graphs;

    if (graphs->gap_ps == NULL)
        return GT_TIME_NONE;
    if (graphs->behind_ps[op] != GT_TIME_NONE) /* else visible_ps says it */
        return graphs->queued[stating->w->ops[op].call] ? graphs->behind_ps[op] : 0;
    return graphs->gap_ps[op];
}

/* As gt_op_visible_ps() has it. */
static gt_time_ps op_visible_ps(const struct stating *stating, gt_op_index op)
{
    const struct gt_op *o = &stating->w->ops[op];
    const struct gt_call *call = &stating->w->calls[o->call];

    if (stating->to->calls[o->call].flags & GT_CALL_WAITS)
        return (gt_time_ps)stating->replay.copy_start_delay_ns[o->call] * 1000;
    if (call->flags & GT_CALL_INFERRED)
        return GT_TIME_NONE;
    return seen_ps(stating, call->first_op, (int64_t)cost_ps(stating, o->call) + stating->replay.latency_ps[o->kind]);
}

/* What the warp tier says of a kernel that nothing else is known of, or whose program is to say it. */
static void state_program(struct gt_op *to, const struct stating *stating, gt_op_index op,
                          const struct gt_options *options)
{
    const struct gt_kernel_model_launch *launch =
        to->kind == GT_OP_KERNEL ? gt_kernel_model_launch(options->modelled, op) : NULL;
    const struct gt_kernel *kernel = to->kind == GT_OP_KERNEL ? &stating->w->kernels[to->kernel] : NULL;
    bool known = to->duration_ps != GT_TIME_NONE ||
                 (kernel != NULL && (kernel->duration_ps != GT_TIME_NONE || kernel->cost != GT_COST_NONE));

    if (launch != NULL && launch->failure == NULL && (!known || options->program_cost))
        to->duration_ps = gt_launch_run_ps(stating->device, launch);
}

static void state_op(struct stating *stating, gt_op_index op, const struct gt_options *options)
{
    struct gt_op *to = &stating->to->ops[op];
    const struct gt_call *call = &stating->w->calls[to->call];

    to->start_ps = GT_TIME_NONE;
    if (stating->isolated.duration_ps != NULL && stating->isolated.duration_ps[op] != GT_TIME_NONE)
        to->duration_ps = stating->isolated.duration_ps[op];
    state_program(to, stating, op, options);
    if (!recorded(call))
        return;
    if (stating->replay.launch_gaps != NULL) {
        to->own_gap = stating->replay.launch_gaps[op].gap;
        to->own_gap_ps = stating->replay.launch_gaps[op].gap_ps;
    }
    if (call->kind == GT_CALL_GRAPH_LAUNCH) {
        to->visible_ps = node_visible_ps(stating, op);
        to->gap_ps = node_gap_ps(stating, op);
    } else {
        to->visible_ps = op_visible_ps(stating, op);
    }
}

/* What each operation comes after: an edge of its own a successor. */
struct edge_lists {
    uint32_t *first; /* by operation: its edges are before[first[i] .. first[i + 1] - 1] */
    gt_op_index *before;
};

static struct edge_lists turn_edges(const struct gt_replay *replay, uint32_t ops)
{
    struct edge_lists lists = {
        .first = gt_calloc(ops + 2ull, sizeof *lists.first),
        .before = gt_calloc(replay->edge_count + 1, sizeof *lists.before),
    };

    for (uint64_t i = 0; i < replay->edge_count; i++)
        lists.first[replay->edge_to[i] + 2]++;
    for (uint32_t i = 0; i < ops; i++)
        lists.first[i + 2] += lists.first[i + 1];
    for (gt_op_index op = 0; op < ops && replay->edge_count > 0; op++)
        for (uint32_t i = replay->edge_from[op]; i < replay->edge_from[op + 1]; i++)
            lists.before[lists.first[replay->edge_to[i] + 1]++] = op;
    return lists;
}

/* The chains of a graph's streams need not be stated, unless the graph has other edges too. */
static bool only_chains(const struct gt_workload *w, const struct gt_call *call, const struct edge_lists *lists)
{
    if (!gt_graph_without_edges(w, call))
        return false;
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
        for (uint32_t i = lists->first[op]; i < lists->first[op + 1]; i++)
            if (w->ops[lists->before[i]].call != w->ops[op].call ||
                w->ops[lists->before[i]].stream != w->ops[op].stream)
                return false;
    return true;
}

/* What was only inferred stands last, and goes where it was given up. */
static void state_inferred(struct stating *stating, gt_op_index op)
{
    struct gt_workload *to = stating->to;
    struct gt_op *o = &to->ops[op];
    gt_op_index *afters = &to->afters[o->first_after], inferred;
    uint32_t stated = 0;

    o->inferred_afters = 0;
    for (uint32_t i = 0; i < o->afters; i++) {
        if (gt_replay_is_inferred(&stating->replay, stating->w, afters[i], op)) {
            o->inferred_afters++;
            continue;
        }
        inferred = afters[stated];
        afters[stated++] = afters[i];
        afters[i] = inferred;
    }
    if (stating->replay.given_up == NULL || !stating->replay.given_up[op])
        return;
    to->after_count -= o->inferred_afters;
    o->afters -= o->inferred_afters;
    o->inferred_afters = 0;
}

static void state_edges(struct stating *stating)
{
    const struct gt_workload *w = stating->w;
    struct gt_workload *to = stating->to;
    struct edge_lists lists = turn_edges(&stating->replay, w->op_count);

    free(to->afters);
    to->afters = gt_calloc(stating->replay.edge_count + 1, sizeof *to->afters);
    to->after_room = (uint32_t)stating->replay.edge_count + 1;
    to->after_count = 0;
    for (gt_call_index c = 0; c < w->call_count; c++) {
        const struct gt_call *call = &w->calls[c];
        bool none = only_chains(w, call, &lists);

        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
            uint32_t count = none ? 0 : lists.first[op + 1] - lists.first[op];

            to->ops[op].first_after = to->after_count;
            to->ops[op].afters = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
            for (uint32_t i = 0; i < to->ops[op].afters; i++)
                to->afters[to->after_count++] = lists.before[lists.first[op] + i];
            state_inferred(stating, op);
        }
    }
    free(lists.first);
    free(lists.before);
}

static void state_kernels(struct stating *stating)
{
    for (uint32_t i = 0; stating->isolated.ends.early_part != NULL && i < stating->to->kernel_count; i++)
        stating->to->kernels[i].early_part = stating->isolated.ends.early_part[i];
}

void gt_state(struct gt_stated *stated, const struct gt_workload *workload, const struct gt_device *device,
              const struct gt_options *options)
{
    struct stating stating = { .w = workload, .to = gt_workload_copy(workload), .device = device };

    gt_simulate_learn(workload, device, options, &stating.replay, &stating.isolated);
    state_calls(&stating);
    for (gt_op_index i = 0; i < workload->op_count; i++)
        state_op(&stating, i, options);
    state_edges(&stating);
    gt_state_kept_work(stating.to, workload);
    state_kernels(&stating);
    *stated = (struct gt_stated){
        .workload = stating.to,
        .learned = stating.replay.learned,
        .inferred_waits = stating.replay.inferred_waits,
        .dropped = gt_replay_dropped(&stating.replay, workload),
        .too_short = stating.isolated.too_short,
    };
    gt_replay_free(&stating.replay);
    gt_isolated_free(&stating.isolated);
}

bool gt_state_alike(struct gt_workload *stated, const struct gt_workload *workload, const struct gt_device *recorded,
                    const struct gt_options *options)
{
    struct gt_isolated equivalent;
    bool some;

    gt_simulate_learn_equivalent(workload, recorded, options, &equivalent);
    some = equivalent.duration_ps != NULL;
    for (gt_op_index i = 0; i < workload->op_count && some; i++)
        if (stated->ops[i].kind == GT_OP_KERNEL && equivalent.duration_ps[i] != GT_TIME_NONE)
            stated->ops[i].duration_ps = equivalent.duration_ps[i];
    for (gt_kernel_index i = 0; i < workload->kernel_count && some; i++)
        stated->kernels[i].early_part = equivalent.ends.early_part != NULL ? equivalent.ends.early_part[i] : 0;
    gt_isolated_free(&equivalent);
    return some;
}

void gt_stated_forget(struct gt_workload *w, gt_call_index call)
{
    struct gt_call *c = &w->calls[call];

    c->flags &= (uint8_t) ~(GT_CALL_STATED | GT_CALL_WAITS);
    c->duration_ps = c->return_ps = GT_TIME_NONE;
    for (gt_op_index op = c->first_op; op < c->first_op + c->ops; op++) {
        w->ops[op].visible_ps = w->ops[op].gap_ps = GT_TIME_NONE;
        w->ops[op].own_gap = GT_LAUNCH_GAP_NONE;
        if (w->ops[op].kind == GT_OP_COPY)
            w->ops[op].duration_ps = GT_TIME_NONE;
    }
}
