/* dp=N: the training step on N GPUs by PyTorch's DataParallel, each with the batch that the one had.
 *
 * As torch/nn/parallel/data_parallel.py and torch/nn/parallel/comm.py of PyTorch 2.11 do it, in one process: before each step
 * parameters are broadcast from the first GPU, 10 MiB at a time, and modules made anew; the forward pass is asked for by new threads,
 * one a GPU, which take turns at Python's lock, so that the host's work for one comes behind that for the others, and which
 * find cuDNN's plans anew (thread_plans.h); the backward pass has threads without a lock, side by side; behind it gradients are
 * reduced onto the first GPU, which alone has an optimiser.  As the turns follow each other, one thread plays them all.
 * How large scattered inputs and gathered outputs are no trace says: only what they cost the host is there.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/training/passes.h"
#include "sim/training/rank_count.h"
#include "sim/training/replicate.h"
#include "sim/training/thread_plans.h"
#include "sim/training/training.h"
#include "sim/workload/collective.h"
#include "sim/workload/pytorch_ranges.h"

#define CHUNK_BYTES (UINT64_C(10) << 20)

/* What a calm host does in a step's parts beside what it does on one GPU: host times of 8 models' (phases_us in
 * traces/training/times.jsonl, with 10 to 160 parameters) on 2 H200s, less what their hosts were slower than a calm one.
 * Modules are made anew for each GPU but the first, with their parameters and buffers. */
static const gt_time_ps scatter_ps = 200000000, replicate_ps = 320000000, parameter_ps = 33000000,
                        buffer_ps = 12000000, threads_ps = 590000000, gather_ps = 175000000, reduce_ps = 810000000,
                        gradient_ps = 20000000, chunk_ps = 18000000;
enum { BUFFERS = 3 }; /* of a batch norm */

enum phase { FORWARD, BACKWARD, REST };

struct dp {
    struct gt_training training;
    struct gt_rebuild rebuild;
    const struct gt_scenario *scenario;
    const struct gt_workload *from;
    uint32_t ranks, group;
    gt_stream_index *streams;     /* by rank and stream of `from`; GT_NONE: not made yet */
    gt_call_index *backward;      /* by step: its first call of the backward pass */
    gt_range_index *operators;    /* by call: the outermost operator around it; GT_NONE: none */
    gt_range_index operator;      /* that the lock was taken for last */
    gt_time_ps lock_ps;           /* from one thread to the next */
    struct gt_thread_plan *plans; /* by call of the step's forward pass */
    struct gt_thread_plan plan;   /* of them, what new threads have still to do */
    gt_time_ps owed_ps;           /* in the forward pass: calls that only the first GPU's thread was given */
};

static gt_stream_index stream_of(struct dp *dp, uint32_t rank, gt_stream_index stream)
{
    gt_stream_index *own = &dp->streams[(size_t)rank * dp->from->stream_count + stream];

    if (rank == 0)
        return stream;
    if (*own == GT_NONE) {
        *own = gt_rebuild_new_stream(&dp->rebuild, stream);
        dp->rebuild.to->streams[*own].gpu = dp->rebuild.to->groups[dp->group].members[rank];
    }
    return *own;
}

/* The work of a call once more, on another GPU, before which the host takes `host_ps`; GT_TIME_NONE: nothing, and nothing for the
 * call itself. */
static void repeat(struct dp *dp, uint32_t rank, gt_call_index index, gt_time_ps host_ps)
{
    bool whole = host_ps != GT_TIME_NONE;
    const struct gt_call *from = &dp->from->calls[index];
    gt_call_index added = gt_rebuild_insert(&dp->rebuild, from->kind, dp->training.main);
    struct gt_call *call = &dp->rebuild.to->calls[added];

    call->flags = from->flags & (uint8_t)~GT_CALL_WAITS;
    call->stream = from->stream != GT_NONE ? stream_of(dp, rank, from->stream) : GT_NONE;
    call->before_ps += whole ? host_ps : 0;
    call->duration_ps = whole ? from->duration_ps : 0;
    call->first_op = dp->rebuild.to->op_count;
    for (uint32_t i = 0; i < from->ops; i++) {
        gt_stream_index stream = stream_of(dp, rank, dp->from->ops[from->first_op + i].stream);
        gt_op_index op = gt_rebuild_add_op(&dp->rebuild);
        struct gt_op *to = &dp->rebuild.to->ops[op];
        uint32_t owner = to->call, first_after = to->first_after, first_access = to->first_access;

        *to = dp->from->ops[from->first_op + i];
        to->call = owner;
        to->first_after = first_after;
        to->first_access = first_access;
        to->afters = to->accesses = to->inferred_afters = 0;
        to->stream = stream;
    }
}

static void host_work(struct dp *dp, gt_time_ps work_ps)
{
    gt_call_index added = gt_rebuild_insert(&dp->rebuild, GT_CALL_HOST_WORK, dp->training.main);

    dp->rebuild.to->calls[added].duration_ps = gt_scenario_host_ps(dp->scenario, work_ps);
}

static void collect(struct dp *dp, enum gt_collective_kind kind, const char *name, uint64_t bytes)
{
    struct gt_kernel kernel = {
        .grid = { 1, 1, 1 },
        .block = { 1, 1, 1 },
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .duration_ps = GT_TIME_NONE,
        .collective = gt_collective_of(kind, dp->group, bytes),
    };
    gt_kernel_index number;

    kernel.name = gt_name(dp->rebuild.to, name, strlen(name));
    number = gt_workload_kernel(dp->rebuild.to, &kernel);
    host_work(dp, chunk_ps);
    for (uint32_t rank = 0; rank < dp->ranks; rank++) {
        gt_stream_index stream = stream_of(dp, rank, dp->training.stream);
        gt_call_index call = gt_rebuild_insert(&dp->rebuild, GT_CALL_LAUNCH, dp->training.main);
        gt_op_index op;

        dp->rebuild.to->calls[call].stream = stream;
        dp->rebuild.to->calls[call].first_op = dp->rebuild.to->op_count;
        op = gt_rebuild_add_op(&dp->rebuild);
        dp->rebuild.to->ops[op].kind = GT_OP_KERNEL;
        dp->rebuild.to->ops[op].stream = stream;
        dp->rebuild.to->ops[op].kernel = number;
    }
}

/* All gradients of a step, or the parameters that they are of, in chunks. */
static void collect_all(struct dp *dp, const struct gt_training_step *step, enum gt_collective_kind kind,
                        const char *name)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < step->gradients; i++) {
        bytes += dp->training.gradients[step->first_gradient + i].bytes;
        if (bytes >= CHUNK_BYTES || i + 1 == step->gradients) {
            collect(dp, kind, name, bytes);
            bytes = 0;
        }
    }
}

static gt_call_index last_gradient(const struct gt_training *t, const struct gt_training_step *step)
{
    return t->gradients[step->first_gradient + step->gradients - 1].behind;
}

/* Where operators were recorded, the first node of the backward pass says it; else it begins at a third of both passes. */
static void find_backward(struct dp *dp)
{
    const struct gt_training *t = &dp->training;

    dp->backward = gt_realloc(NULL, t->step_count + 1ull, sizeof *dp->backward);
    memset(dp->backward, 0xff, t->step_count * sizeof *dp->backward); /* GT_NONE */
    for (gt_range_index i = 0; i < dp->from->range_count; i++) {
        const struct gt_range *range = &dp->from->ranges[i];
        uint32_t step = range->behind_call > range->first_call ? gt_training_step_of(t, range->first_call) : GT_NONE;

        if (step != GT_NONE && range->first_call < dp->backward[step] && gt_range_is_backward_node(dp->from, range))
            dp->backward[step] = range->first_call;
    }
    for (uint32_t s = 0; s < t->step_count; s++)
        if (dp->backward[s] == GT_NONE && t->steps[s].gradients > 0)
            dp->backward[s] = t->steps[s].first + (last_gradient(t, &t->steps[s]) - t->steps[s].first) / 3;
}

/* An operator that was called from Python lets go of the lock when it is done.  Ranges stand by start, the outer ones first. */
static void find_operators(struct dp *dp)
{
    const struct gt_workload *w = dp->from;

    dp->operator= GT_NONE;
    dp->operators = gt_realloc(NULL, w->call_count + 1ull, sizeof *dp->operators);
    memset(dp->operators, 0xff, w->call_count * sizeof *dp->operators); /* GT_NONE */
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        for (gt_call_index call = range->first_call;
             range->kind == GT_RANGE_OPERATOR && call < range->behind_call && dp->operators[call] == GT_NONE; call++)
            dp->operators[call] = i;
    }
}

/* A call of the forward pass: each GPU's thread makes it in turn, and has what it did since its call before to do as well. */
static void take_turns(struct dp *dp, gt_call_index index)
{
    const struct gt_call *call = &dp->from->calls[index];
    bool again = dp->operators[index] != GT_NONE && dp->operators[index] == dp->operator;
    gt_time_ps lock_ps = again ? 0 : dp->lock_ps;
    gt_time_ps own_ps = call->before_ps + dp->owed_ps + lock_ps + dp->plan.alone_ps;

    dp->operator= dp->operators[index];
    dp->rebuild.to->calls[dp->rebuild.new_call[index]].before_ps += lock_ps + dp->plan.beside_ps + dp->plan.alone_ps;
    for (uint32_t rank = 1; rank < dp->ranks; rank++)
        repeat(dp, rank, index, own_ps);
    dp->owed_ps = 0;
    dp->plan = (struct gt_thread_plan){ 0 };
}

static void take_call(struct dp *dp, gt_call_index index, enum phase phase, gt_call_index first, gt_call_index *last)
{
    const struct gt_call *call = &dp->from->calls[index];

    gt_training_copy(&dp->rebuild, &dp->training, index, last);
    if (phase == FORWARD) {
        dp->plan.beside_ps += gt_scenario_host_ps(dp->scenario, dp->plans[index - first].beside_ps);
        dp->plan.alone_ps += gt_scenario_host_ps(dp->scenario, dp->plans[index - first].alone_ps);
    }
    if (phase == FORWARD && call->ops > 0)
        take_turns(dp, index);
    else if (phase == FORWARD && gt_call_needs_lock(dp->from, index) && call->duration_ps != GT_TIME_NONE)
        dp->owed_ps += call->before_ps + call->duration_ps;
    for (uint32_t rank = 1; rank < dp->ranks && phase == BACKWARD && call->ops > 0; rank++)
        repeat(dp, rank, index, GT_TIME_NONE);
}

/* Before the step's first call. */
static void begin_step(struct dp *dp, uint32_t step)
{
    const struct gt_training_step *s = &dp->training.steps[step];
    gt_time_ps made_ps = s->gradients * parameter_ps + BUFFERS * dp->training.normalisations * buffer_ps;

    host_work(dp, scatter_ps + replicate_ps);
    collect_all(dp, s, GT_BROADCAST, "parameters' broadcast");
    host_work(dp, threads_ps + (dp->ranks - 1) * made_ps);
    free(dp->plans);
    dp->plans = gt_thread_plans_find(dp->from, s->first, dp->backward[step]);
    dp->owed_ps = 0;
}

/* Behind the last call of its backward pass. */
static void end_step(struct dp *dp, uint32_t step)
{
    const struct gt_training_step *s = &dp->training.steps[step];

    host_work(dp, reduce_ps + s->gradients * gradient_ps);
    collect_all(dp, s, GT_REDUCE, "gradients' reduction");
}

static struct gt_workload *distribute(struct dp *dp)
{
    const struct gt_training *t = &dp->training;
    gt_call_index last = GT_NONE;
    uint32_t step = 0;
    enum phase phase = REST;

    gt_rebuild_begin(&dp->rebuild, dp->from);
    dp->group = gt_replicate_begin(dp->rebuild.to, dp->ranks - 1);
    for (gt_call_index i = 0; i < dp->from->call_count; i++) {
        while (phase == REST && step < t->step_count && t->steps[step].gradients == 0)
            step++;
        if (step < t->step_count && i == t->steps[step].first) {
            begin_step(dp, step);
            phase = FORWARD;
        }
        if (phase == FORWARD && i >= dp->backward[step]) {
            host_work(dp, gather_ps);
            phase = BACKWARD;
        }
        take_call(dp, i, phase, t->steps[step < t->step_count ? step : 0].first, &last);
        if (phase == BACKWARD && i == last_gradient(t, &t->steps[step])) {
            end_step(dp, step++);
            phase = REST;
        }
    }
    return gt_training_end(&dp->rebuild, t);
}

static void tell(struct gt_scenario *scenario, const struct dp *dp, uint32_t passes)
{
    gt_scenario_assume(
        scenario, GT_TRUST_LOW,
        "%u GPUs of the recorded batch each, one process; threads that ask for the forward pass take turns at "
        "Python's lock, which costs host.lock_us an operator, and are new in every step, so that cuDNN plans each "
        "convolution and attention anew (2.4 and 44 ms)",
        dp->ranks);
    gt_scenario_assume(
        scenario, GT_TRUST_LOW,
        "%.1f MiB of parameters are broadcast before each step, as much is reduced behind it; inputs that are "
        "scattered and outputs that are gathered cost the host, and no transfer",
        (double)dp->training.gradient_bytes / (1 << 20));
    if (passes > 1)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "The step accumulates the gradients of %u passes: all of that is done in each pass", passes);
    gt_passes_tell_untold(scenario, &dp->training);
    gt_ranks_tell_extrapolated(scenario, dp->ranks);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct dp dp = { .scenario = scenario, .from = scenario->workload, .lock_ps = scenario->device.lock_ps };
    int status = -1;

    if (gt_ranks_parse(argument, &dp.ranks, NULL, error) != 0)
        return -1;
    if (gt_training_find(&dp.training, scenario, error) == 0) {
        size_t streams = (size_t)dp.ranks * dp.from->stream_count;
        uint32_t passes;

        dp.streams = gt_realloc(NULL, streams + 1, sizeof *dp.streams);
        memset(dp.streams, 0xff, streams * sizeof *dp.streams); /* GT_NONE */
        passes = dp.training.passes;
        gt_passes_split(&dp.training, true);
        find_backward(&dp);
        find_operators(&dp);
        gt_scenario_replace(scenario, distribute(&dp));
        tell(scenario, &dp, passes);
        status = 0;
    }
    gt_training_free(&dp.training);
    free(dp.streams);
    free(dp.backward);
    free(dp.plans);
    free(dp.operators);
    return status;
}

const struct gt_change_kind gt_change_dp = {
    .name = "dp",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "the training step on N GPUs by DataParallel, the same batch on each",
    .apply = apply,
};
