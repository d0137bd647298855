/* dp=N: the training step on N GPUs by PyTorch's DataParallel, each with the batch that the one had.
 *
 * As torch/nn/parallel/data_parallel.py and torch/nn/parallel/comm.py of PyTorch 2.11 do it, in one process: before each step
 * parameters are broadcast from the first GPU, 10 MiB at a time; the forward pass is asked for by a thread a GPU, which
 * take turns at Python's lock, so that the host's work for one comes behind that for the others; the backward pass has threads
 * without a lock, side by side; behind it gradients are reduced onto the first GPU, which alone has an optimiser.
 * Scattered inputs and gathered outputs, whose sizes no trace says, are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/whatif/change.h"
#include "sim/whatif/rank_count.h"
#include "sim/whatif/replicate.h"
#include "sim/whatif/training.h"
#include "sim/workload/collective.h"

#define CHUNK_BYTES (UINT64_C(10) << 20)

/* What the host does for a step, and for each parameter and GPU beyond the first: modules are made anew, threads begin.  Of the
 * steps of mlp, mlp-exposed, gpt and many (traces/training), with 10 to 160 parameters, on 1 and 2 H200s. */
static const gt_time_ps step_ps = UINT64_C(3300000000), parameter_ps = 90000000, chunk_ps = 20000000;

enum phase { FORWARD, BACKWARD, REST };

struct dp {
    struct gt_training training;
    struct gt_rebuild rebuild;
    const struct gt_workload *from;
    uint32_t ranks, group;
    gt_stream_index *streams; /* by rank and stream of `from`; GT_NONE: not made yet */
    gt_call_index *backward;  /* by step: its first call of the backward pass */
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

/* The work of a call once more, on another GPU; `whole`: with what it takes the host, too. */
static void repeat(struct dp *dp, uint32_t rank, gt_call_index index, bool whole)
{
    const struct gt_call *from = &dp->from->calls[index];
    gt_call_index added = gt_rebuild_insert(&dp->rebuild, from->kind, dp->training.main);
    struct gt_call *call = &dp->rebuild.to->calls[added];

    call->flags = from->flags & (uint8_t)~GT_CALL_WAITS;
    call->stream = from->stream != GT_NONE ? stream_of(dp, rank, from->stream) : GT_NONE;
    call->before_ps += whole ? from->before_ps : 0;
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
        to->afters = to->accesses = 0;
        to->stream = stream;
    }
}

static void host_work(struct dp *dp, gt_time_ps work_ps)
{
    gt_call_index added = gt_rebuild_insert(&dp->rebuild, GT_CALL_HOST_WORK, dp->training.main);

    dp->rebuild.to->calls[added].duration_ps = work_ps;
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

/* Where operators were recorded, the first node of the backward pass says it; else the middle of both passes. */
static void find_backward(struct dp *dp)
{
    static const char node[] = "autograd::engine::evaluate_function";
    const struct gt_training *t = &dp->training;

    dp->backward = gt_calloc(t->step_count + 1ull, sizeof *dp->backward);
    for (uint32_t s = 0; s < t->step_count; s++)
        dp->backward[s] = t->steps[s].gradients > 0
                              ? t->steps[s].first + (last_gradient(t, &t->steps[s]) - t->steps[s].first) / 3
                              : 0;
    for (gt_range_index i = 0; i < dp->from->range_count; i++) {
        const struct gt_range *range = &dp->from->ranges[i];

        if (strncmp(gt_name_text(dp->from, range->name), node, sizeof node - 1) != 0)
            continue;
        for (uint32_t s = 0; s < t->step_count; s++)
            if (range->first_call >= t->steps[s].first && range->first_call < dp->backward[s] &&
                range->behind_call > range->first_call)
                dp->backward[s] = range->first_call;
    }
}

static void take_call(struct dp *dp, gt_call_index call, enum phase phase, gt_call_index *last)
{
    gt_training_copy(&dp->rebuild, &dp->training, call, last);
    if (dp->from->calls[call].ops == 0 || phase == REST)
        return;
    for (uint32_t rank = 1; rank < dp->ranks; rank++)
        repeat(dp, rank, call, phase == FORWARD);
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
            collect_all(dp, &t->steps[step], GT_BROADCAST, "parameters' broadcast");
            host_work(dp, step_ps + (dp->ranks - 1) * t->steps[step].gradients * parameter_ps);
            phase = FORWARD;
        }
        if (phase == FORWARD && i >= dp->backward[step])
            phase = BACKWARD;
        take_call(dp, i, phase, &last);
        if (phase == BACKWARD && i == last_gradient(t, &t->steps[step])) {
            collect_all(dp, &t->steps[step++], GT_REDUCE, "gradients' reduction");
            phase = REST;
        }
    }
    return gt_training_end(&dp->rebuild, t);
}

static void tell(struct gt_scenario *scenario, const struct dp *dp)
{
    gt_scenario_assume(
        scenario, GT_TRUST_LOW,
        "%u GPUs of the recorded batch each, one process; threads that ask for the forward pass take turns at "
        "Python's lock as though that cost nothing; of convolutions and batch norms they were seen to "
        "take several times as long",
        dp->ranks);
    gt_scenario_assume(
        scenario, GT_TRUST_LOW,
        "%.1f MiB of parameters are broadcast before each step, as much is reduced behind it; inputs that are "
        "scattered and outputs that are gathered are not counted",
        (double)dp->training.gradient_bytes / (1 << 20));
    gt_ranks_tell_extrapolated(scenario, dp->ranks);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct dp dp = { .from = scenario->workload };
    int status = -1;

    if (gt_ranks_parse(argument, &dp.ranks, NULL, error) != 0)
        return -1;
    if (gt_training_find(&dp.training, scenario, error) == 0) {
        size_t streams = (size_t)dp.ranks * dp.from->stream_count;

        dp.streams = gt_realloc(NULL, streams + 1, sizeof *dp.streams);
        memset(dp.streams, 0xff, streams * sizeof *dp.streams); /* GT_NONE */
        find_backward(&dp);
        gt_scenario_replace(scenario, distribute(&dp));
        tell(scenario, &dp);
        status = 0;
    }
    gt_training_free(&dp.training);
    free(dp.streams);
    free(dp.backward);
    return status;
}

const struct gt_change_kind gt_change_dp = {
    .name = "dp",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "the training step on N GPUs by DataParallel, the same batch on each",
    .apply = apply,
};
