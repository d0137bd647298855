/* ddp=N: the training step on N GPUs by PyTorch's DistributedDataParallel, each with the batch that the one had.
 *
 * As torch/nn/parallel/distributed.py and torch/csrc/distributed/c10d/reducer.cpp of PyTorch do it: a gradient that is
 * ready is multiplied into its bucket; a bucket that is full is reduced by all ranks in a stream of its own, as soon as
 * what was asked for before is done, while the backward pass goes on; behind the backward pass each bucket is waited for and
 * copied back into its gradients.  From how many bytes on a bucket is full the framework's file says, or for all of them
 * the user (bucket_cap_mb).  Buffers of batch norms are broadcast before the step.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/changes/change.h"
#include "sim/frameworks/framework.h"
#include "sim/stream/call_times.h"
#include "sim/training/passes.h"
#include "sim/training/ranks.h"
#include "sim/training/training.h"
#include "sim/workload/collective.h"
#include "sim/workload/ranges.h"

struct bucket {
    uint32_t gradients; /* how many of the step, from the one behind the bucket before on */
    gt_event_index full, reduced;
};

struct ddp {
    const struct gt_scenario *scenario;
    const struct gt_framework *framework;
    struct gt_training training;
    struct gt_rebuild rebuild;
    uint64_t first_bytes, bucket_bytes;
    uint32_t group;
    gt_stream_index stream; /* of collectives */
    struct bucket *buckets; /* of a step; events serve every step */
    uint32_t bucket_count, bucket_room;
    uint64_t bytes;     /* in the bucket that is filled, */
    uint32_t row_first; /* of buckets of a model, of which the first is this one */
    struct reduced {
        uint32_t of, buckets; /* of a recorded step */
        uint64_t bytes;
    } reduced, most; /* so far of the one that is gone through; of all */
};

static struct gt_call *insert(struct ddp *ddp, enum gt_call_kind kind, gt_stream_index stream, gt_time_ps work_ps)
{
    gt_call_index added = gt_rebuild_insert(&ddp->rebuild, kind, ddp->training.main);
    struct gt_call *call = &ddp->rebuild.to->calls[added];

    call->stream = stream;
    call->before_ps += gt_scenario_host_ps(ddp->scenario, work_ps);
    call->first_op = ddp->rebuild.to->op_count;
    return call;
}

/* The last call's one operation. */
static struct gt_op *add_op(struct ddp *ddp, enum gt_op_kind kind, gt_stream_index stream)
{
    gt_op_index added = gt_rebuild_add_op(&ddp->rebuild);
    struct gt_op *op = &ddp->rebuild.to->ops[added];

    op->kind = (uint8_t)kind;
    op->stream = stream;
    return op;
}

/* The last call, whose operation is whole by now, is as slow as the host's other work is. */
static void take_pace(struct ddp *ddp)
{
    struct gt_call *call = &ddp->rebuild.to->calls[ddp->rebuild.to->call_count - 1];
    gt_time_ps row_ps = gt_call_row_ps(ddp->rebuild.to, &ddp->scenario->device, call);
    gt_time_ps taken_ps = call->before_ps + gt_scenario_host_ps(ddp->scenario, row_ps);

    call->before_ps = taken_ps > row_ps ? taken_ps - row_ps : 0;
}

static gt_kernel_index kernel_of(struct ddp *ddp, const char *name, uint32_t blocks, struct gt_collective collective)
{
    struct gt_kernel kernel = {
        .grid = { blocks, 1, 1 },
        .block = { blocks > 1 ? ddp->framework->elementwise.threads : 1, 1, 1 },
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .duration_ps = GT_TIME_NONE,
        .collective = collective,
    };

    kernel.name = gt_name(ddp->rebuild.to, name, strlen(name));
    return gt_workload_kernel(ddp->rebuild.to, &kernel);
}

static void multiply(struct ddp *ddp, uint64_t bytes)
{
    gt_stream_index stream = ddp->training.stream;
    uint64_t blocks = bytes / ddp->framework->elementwise.block_bytes + 2;
    double gbps = ddp->framework->elementwise.faster * ddp->scenario->device.d2d.gbps;
    gt_kernel_index kernel =
        kernel_of(ddp, "gradient into bucket", blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX,
                  (struct gt_collective){ 0 });
    struct gt_op *op;

    insert(ddp, GT_CALL_LAUNCH, stream, ddp->framework->ddp.gradient_ps);
    op = add_op(ddp, GT_OP_KERNEL, stream);
    op->kernel = kernel;
    op->duration_ps = ddp->framework->elementwise.start_ps + (gt_time_ps)((double)bytes * 1000 / gbps);
    take_pace(ddp);
}

static void collect(struct ddp *ddp, enum gt_collective_kind kind, const char *name, uint64_t bytes,
                    gt_time_ps work_ps)
{
    gt_kernel_index kernel = kernel_of(ddp, name, 1, gt_collective_of(kind, ddp->group, bytes));

    insert(ddp, GT_CALL_LAUNCH, ddp->stream, work_ps);
    add_op(ddp, GT_OP_KERNEL, ddp->stream)->kernel = kernel;
    take_pace(ddp);
}

static void order(struct ddp *ddp, gt_event_index event, gt_stream_index first, gt_stream_index then)
{
    gt_rebuild_record(&ddp->rebuild, ddp->training.main, event, first);
    gt_rebuild_wait(&ddp->rebuild, ddp->training.main, event, then);
}

/* The bucket is full, or the last one of the step. */
static void reduce(struct ddp *ddp, struct bucket *bucket)
{
    insert(ddp, GT_CALL_EVENT_RECORD, ddp->training.stream, ddp->framework->ddp.bucket_ps)->event = bucket->full;
    gt_rebuild_wait(&ddp->rebuild, ddp->training.main, bucket->full, ddp->stream);
    collect(ddp, GT_ALL_REDUCE, "bucket all-reduce", ddp->bytes, 0);
    gt_rebuild_record(&ddp->rebuild, ddp->training.main, bucket->reduced, ddp->stream);
    ddp->bytes = 0;
}

static struct bucket *bucket_at(struct ddp *ddp, uint32_t number)
{
    if (number == ddp->bucket_count) {
        gt_array_grow(ddp->buckets, ddp->bucket_count, ddp->bucket_room);
        ddp->buckets[ddp->bucket_count++] = (struct bucket){ .full = gt_rebuild_new_event(&ddp->rebuild),
                                                             .reduced = gt_rebuild_new_event(&ddp->rebuild) };
    }
    return &ddp->buckets[number];
}

/* Behind the backward pass: what was reduced goes back into the gradients. */
static void finish(struct ddp *ddp, const struct gt_gradient *gradients, uint32_t buckets)
{
    for (uint32_t i = 0; i < buckets; i++) {
        gt_rebuild_wait(&ddp->rebuild, ddp->training.main, ddp->buckets[i].reduced, ddp->training.stream);
        for (uint32_t n = ddp->buckets[i].gradients; n > 0; n--) {
            struct gt_op *op;

            insert(ddp, GT_CALL_COPY, ddp->training.stream, ddp->framework->ddp.back_ps);
            op = add_op(ddp, GT_OP_COPY, ddp->training.stream);
            op->direction = GT_D2D;
            op->memory = GT_MEMORY_DEVICE;
            op->bytes = (gradients++)->bytes;
            take_pace(ddp);
        }
    }
}

/* Before the forward pass: one broadcast of all floating-point buffers, one of all counters, and a copy back into each. */
static void broadcast(struct ddp *ddp)
{
    const struct gt_framework *framework = ddp->framework;
    uint32_t buffers = framework->normalisation.buffers * ddp->training.normalisations;
    struct bucket *events = bucket_at(ddp, 0);

    for (uint32_t i = 0; i < 2 && buffers > 0; i++) {
        order(ddp, events->full, ddp->training.stream, ddp->stream);
        collect(ddp, GT_BROADCAST, "buffers' broadcast", buffers * framework->normalisation.buffer_bytes,
                framework->ddp.bucket_ps);
        order(ddp, events->reduced, ddp->stream, ddp->training.stream);
    }
    for (uint32_t i = 0; i < buffers; i++) {
        struct gt_op *op;

        insert(ddp, GT_CALL_COPY, ddp->training.stream, framework->ddp.buffer_ps);
        op = add_op(ddp, GT_OP_COPY, ddp->training.stream);
        op->direction = GT_D2D;
        op->memory = GT_MEMORY_DEVICE;
        op->bytes = framework->normalisation.buffer_bytes;
        take_pace(ddp);
    }
}

static void host_work(struct ddp *ddp, gt_time_ps work_ps)
{
    insert(ddp, GT_CALL_HOST_WORK, GT_NONE, 0)->duration_ps = gt_scenario_host_ps(ddp->scenario, work_ps);
}

static void count_bucket(struct ddp *ddp, uint32_t of, uint64_t bytes)
{
    if (ddp->reduced.of != of)
        ddp->reduced = (struct reduced){ .of = of };
    ddp->reduced.buckets++;
    ddp->reduced.bytes += bytes;
    ddp->most = ddp->reduced.bytes > ddp->most.bytes ? ddp->reduced : ddp->most;
}

/* Gradients of a step from `*next` on that are ready behind `call`. */
static void take_gradients(struct ddp *ddp, gt_call_index call, uint32_t *next, uint32_t *bucket)
{
    const struct gt_training *t = &ddp->training;

    for (; *next < t->gradient_count && t->gradients[*next].behind == call; (*next)++) {
        const struct gt_gradient *gradient = &t->gradients[*next];
        const struct gt_training_step *step = &t->steps[gradient->step];
        uint32_t first = gt_training_last_pass(step);
        bool last = *next + 1 == step->first_gradient + step->gradients;

        if (*next < first || step->kept) { /* no_sync() */
            if (!last && (*next + 1 - step->first_gradient) % (step->gradients / step->passes) == 0)
                host_work(ddp, ddp->framework->ddp.forward_ps);
            continue;
        }
        if (*next == first)
            *bucket = 0;
        if (*next == first || *next == first + step->through)
            ddp->row_first = *bucket;
        if (ddp->bytes == 0)
            bucket_at(ddp, *bucket)->gradients = 0;
        multiply(ddp, gradient->bytes);
        ddp->bytes += gradient->bytes;
        ddp->buckets[*bucket].gradients++;
        if (last || *next + 1 == first + step->through ||
            ddp->bytes >= (*bucket == ddp->row_first ? ddp->first_bytes : ddp->bucket_bytes)) {
            count_bucket(ddp, step->of, ddp->bytes);
            reduce(ddp, &ddp->buckets[(*bucket)++]);
        }
        if (last)
            finish(ddp, &t->gradients[first], *bucket);
    }
}

static struct gt_workload *distribute(struct ddp *ddp, const struct gt_workload *w, uint32_t ranks)
{
    struct gt_workload *to;
    gt_call_index last = GT_NONE;
    uint32_t next = 0, bucket = 0, step = 0;

    gt_rebuild_begin(&ddp->rebuild, w);
    ddp->group = gt_replicate_begin(ddp->rebuild.to, ranks - 1);
    ddp->stream = gt_rebuild_new_stream(&ddp->rebuild, ddp->training.stream);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (step < ddp->training.step_count && i == ddp->training.steps[step].first) {
            host_work(ddp, ddp->framework->ddp.forward_ps);
            if (step == 0 || !ddp->training.steps[step - 1].kept)
                broadcast(ddp);
            step++;
        }
        gt_training_copy(&ddp->rebuild, &ddp->training, i, &last);
        take_gradients(ddp, i, &next, &bucket);
    }
    to = gt_training_end(&ddp->rebuild, &ddp->training);
    gt_replicate_end(to, ddp->group);
    return to;
}

static void tell_updates(struct gt_scenario *scenario, const struct gt_training *t)
{
    bool parted = false, through = false, kept = false;

    for (uint32_t i = 0; i < t->step_count; i++) {
        parted |= i > 0 && t->steps[i].of == t->steps[i - 1].of;
        through |= t->steps[i].through > 0;
        kept |= t->steps[i].kept;
    }
    if (parted)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Optimizers step several times in a recorded step: ranks reduce after each backward "
                           "pass");
    if (through)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "A backward pass through a second model also reduces that model's gradients, in buckets of their own");
    if (kept)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Backward passes without an optimizer step after them reduce nothing (no_sync()); a "
                           "later "
                           "pass reduces their gradients");
}

static void tell(struct gt_scenario *scenario, const struct ddp *ddp, uint32_t ranks)
{
    const struct gt_training *t = &ddp->training;

    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "%u ranks, each with the recorded batch; %.1f MiB of gradients a step in %u bucket%s, "
                       "reduced "
                       "during the backward pass (as DistributedDataParallel of %s does)",
                       ranks, (double)ddp->most.bytes / (1 << 20), ddp->most.buckets,
                       ddp->most.buckets == 1 ? "" : "s", ddp->framework->name);
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM, "Assumes every rank's host is as fast as the recorded one");
    if (t->passes > 1)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "The step accumulates the gradients of %u passes; ranks reduce them in the last pass only (no_sync())",
            t->passes);
    tell_updates(scenario, t);
    gt_passes_tell_untold(scenario, t);
    if (gt_ranges_are_compiled(scenario->workload))
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "The step is compiled: DistributedDataParallel compiles it in parts, one per bucket, so "
                           "that reductions begin earlier and kernels differ from the recorded ones");
    if (t->equivalent)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "The size of each gradient was not recorded; all are assumed equal");
    if (t->spread)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "The time at which each gradient is ready was not recorded; assumed evenly spread over "
                           "the backward pass");
    gt_ranks_tell_extrapolated(scenario, ranks);
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const struct gt_framework *framework = scenario->host->framework;
    struct ddp ddp = {
        .scenario = scenario,
        .framework = framework,
        .first_bytes = framework->ddp.first_bucket_bytes,
        .bucket_bytes = framework->ddp.bucket_bytes,
    };
    uint64_t cap = 0;
    uint32_t ranks;
    int status = -1;

    if (gt_ranks_parse(argument, &ranks, &cap, error) != 0)
        return -1;
    if (cap > 0)
        ddp.first_bytes = ddp.bucket_bytes = cap;
    if (gt_training_find(&ddp.training, scenario, error) == 0) {
        gt_passes_split(&ddp.training);
        gt_scenario_replace(scenario, distribute(&ddp, scenario->workload, ranks));
        tell(scenario, &ddp, ranks);
        status = 0;
    }
    gt_training_free(&ddp.training);
    free(ddp.buckets);
    return status;
}

const struct gt_change_kind gt_change_ddp = {
    .name = "ddp",
    .allocates = true,
    .argument = "N[:bucket=MIB]",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "train on N GPUs with DistributedDataParallel; each GPU has the recorded batch size",
    .apply = apply,
};
