/* accumulate=K: forward and backward pass K times before the optimiser's step, gradients added up; with ddp=N they are
 * reduced in the last one alone (no_sync). */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/changes/change.h"
#include "sim/frameworks/framework.h"
#include "sim/training/ranks.h"
#include "sim/training/training.h"
#include "sim/workload/ranges.h"

/* A step's forward and backward pass, made several times: its ranges once more for each. */

/* A pass that is repeated: calls first .. behind - 1 of the workload that was, and where each copy but the last has them now. */
struct gt_pass_copies {
    gt_call_index first, behind;
    gt_call_index *places; /* of copy i and call c: places[i * (behind - first) + c - first] */
};

/* Ranges that are wholly in a pass; by pass, in order. */
struct held {
    uint32_t *first; /* by pass: its first one among `ranges` */
    gt_range_index *ranges;
    gt_call_index *own_first, *own_behind; /* by range of `from`: the calls of its own thread; both the same: none */
    gt_call_index *gradient;               /* by range: the call behind which its gradient is ready; GT_NONE */
    gt_range_index *copy;                  /* by range of `from`: its copy that was added last; GT_NONE */
};

static gt_call_index *calls_behind_gradients(const struct gt_workload *from, const struct gt_training *t)
{
    gt_call_index *gradient = gt_realloc(NULL, from->range_count + 1ull, sizeof *gradient);

    for (gt_range_index i = 0; i < from->range_count; i++)
        gradient[i] = GT_NONE;
    for (uint32_t i = 0; i < t->gradient_count; i++)
        if (t->gradients[i].range != GT_NONE)
            gradient[t->gradients[i].range] = t->gradients[i].behind;
    return gradient;
}

/* The pass that has the call; GT_NONE: none. */
static uint32_t pass_of(const struct gt_pass_copies *passes, uint32_t count, gt_call_index call)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, passes[middle].behind <= call);
    return low < count && call >= passes[low].first ? low : GT_NONE;
}

/* The pass that holds all of the range.  One that makes a gradient ready is where that is so, though it may have no call. */
static uint32_t pass_around(const struct held *held, const struct gt_workload *from,
                            const struct gt_pass_copies *passes, uint32_t count, gt_range_index index)
{
    const struct gt_range *range = &from->ranges[index];
    uint32_t pass =
        pass_of(passes, count, held->gradient[index] != GT_NONE ? held->gradient[index] : range->first_call);

    if (pass == GT_NONE || range->kind == GT_RANGE_STEP ||
        (held->gradient[index] == GT_NONE && gt_range_makes_gradient(from, range))) /* of no step */
        return GT_NONE;
    return held->gradient[index] != GT_NONE || range->end_call <= passes[pass].behind ? pass : GT_NONE;
}

static void find_own_calls(struct held *held, const struct gt_workload *from, gt_range_index index)
{
    const struct gt_range *range = &from->ranges[index];
    gt_call_index first = range->first_call, behind = range->end_call;

    while (first < behind && !gt_range_has_call(from, range, first))
        first++;
    while (first < behind && !gt_range_has_call(from, range, behind - 1))
        behind--;
    held->own_first[index] = first;
    held->own_behind[index] = behind;
}

static void find_held(struct held *held, const struct gt_workload *from, const struct gt_training *t,
                      const struct gt_pass_copies *passes, uint32_t count)
{
    size_t ranges = from->range_count + (size_t)1;
    uint32_t *pass = gt_realloc(NULL, ranges, sizeof *pass);

    *held = (struct held){
        .first = gt_calloc(count + 2ull, sizeof *held->first),
        .ranges = gt_realloc(NULL, ranges, sizeof *held->ranges),
        .own_first = gt_realloc(NULL, ranges, sizeof *held->own_first),
        .own_behind = gt_realloc(NULL, ranges, sizeof *held->own_behind),
        .gradient = calls_behind_gradients(from, t),
        .copy = gt_realloc(NULL, ranges, sizeof *held->copy),
    };
    for (gt_range_index i = 0; i < from->range_count; i++) {
        held->copy[i] = GT_NONE;
        pass[i] = pass_around(held, from, passes, count, i);
        if (pass[i] != GT_NONE)
            held->first[pass[i] + 2]++;
        find_own_calls(held, from, i);
    }
    for (uint32_t i = 0; i < count; i++)
        held->first[i + 2] += held->first[i + 1];
    for (gt_range_index i = 0; i < from->range_count; i++)
        if (pass[i] != GT_NONE)
            held->ranges[held->first[pass[i] + 1]++] = i;
    free(pass);
}

static void free_held(struct held *held)
{
    free(held->first);
    free(held->ranges);
    free(held->own_first);
    free(held->own_behind);
    free(held->gradient);
    free(held->copy);
}

/* The range once more, for the copy whose calls are at places[]. */
static void add_copy(struct held *held, struct gt_workload *to, const struct gt_pass_copies *pass,
                     const gt_call_index *places, gt_range_index index)
{
    gt_call_index first = held->own_first[index], behind = held->own_behind[index], gradient = held->gradient[index];
    gt_call_index after = places[pass->behind - 1 - pass->first] + 1;
    gt_range_index added = gt_workload_add_range(to);
    struct gt_range *range = &to->ranges[added];

    *range = to->ranges[index];
    range->start_ps = range->duration_ps = GT_TIME_NONE;
    range->parent =
        range->parent != GT_NONE && held->copy[range->parent] != GT_NONE ? held->copy[range->parent] : range->parent;
    range->first_call = first >= pass->first && first < pass->behind ? places[first - pass->first] : after;
    range->end_call = behind > first ? places[behind - 1 - pass->first] + 1 : range->first_call;
    if (gradient != GT_NONE) {
        range->end_call = places[gradient - pass->first] + 1;
        if (range->first_call > range->end_call)
            range->first_call = range->end_call;
    }
    held->copy[index] = added;
}

/* Annotations of whole steps, and steps. */
static void hold_all(struct gt_workload *to, const struct gt_workload *from, const struct gt_training *t,
                     const struct gt_pass_copies *passes, uint32_t count)
{
    for (gt_range_index i = 0; i < from->range_count; i++) {
        const struct gt_range *range = &from->ranges[i];
        uint32_t pass = pass_of(passes, count, range->first_call);
        uint32_t step = pass != GT_NONE ? gt_training_step_of(t, range->first_call) : GT_NONE;

        if (step != GT_NONE && range->first_call <= t->gradients[t->steps[step].first_gradient].behind &&
            (range->kind == GT_RANGE_STEP ? range->end_call > range->first_call
                                          : range->end_call > passes[pass].behind))
            to->ranges[i].first_call = passes[pass].places[range->first_call - passes[pass].first];
    }
}

/* In a rebuilt workload, whose ranges are those of `from` and hold the last copies' calls: ranges within a pass come once more for
 * each of the `more` copies before, behind all others; those that begin with the passes and do not end in them hold all copies. */
static void pass_ranges_add(struct gt_workload *to, const struct gt_workload *from, const struct gt_training *t,
                            const struct gt_pass_copies *passes, uint32_t count, uint32_t more)
{
    struct held held;

    if (more == 0)
        return;
    hold_all(to, from, t, passes, count);
    find_held(&held, from, t, passes, count);
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t copy = 0; copy < more; copy++)
            for (uint32_t i = held.first[p]; i < held.first[p + 1]; i++)
                add_copy(&held, to, &passes[p],
                         &passes[p].places[copy * (size_t)(passes[p].behind - passes[p].first)], held.ranges[i]);
    free_held(&held);
}

enum { MOST_PASSES = 1024 };
/* Two are read and one written, where a copy reads one and writes one. */
static const double added_as = 1.5;

struct passes {
    const struct gt_device *device;
    const struct gt_framework *framework;
    struct gt_training training;
    struct gt_rebuild rebuild;
};

static void add_up(struct passes *p, uint64_t bytes)
{
    const struct gt_framework *framework = p->framework;
    struct gt_workload *to = p->rebuild.to;
    struct gt_kernel kernel = {
        .grid = { (uint32_t)(bytes / framework->elementwise.block_bytes % UINT32_MAX) + 1, 1, 1 },
        .block = { framework->elementwise.threads, 1, 1 },
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .duration_ps = GT_TIME_NONE,
    };
    gt_call_index call = gt_rebuild_insert(&p->rebuild, GT_CALL_LAUNCH, p->training.main);
    gt_op_index op;

    kernel.name = gt_name(to, "gradient added up", 17);
    to->calls[call].stream = p->training.stream;
    to->calls[call].before_ps += framework->accumulate.gradient_ps;
    to->calls[call].first_op = to->op_count;
    op = gt_rebuild_add_op(&p->rebuild);
    to->ops[op].kind = GT_OP_KERNEL;
    to->ops[op].stream = p->training.stream;
    to->ops[op].kernel = gt_workload_kernel(to, &kernel);
    to->ops[op].duration_ps =
        framework->elementwise.start_ps +
        (gt_time_ps)((double)bytes * 1000 * (added_as / framework->elementwise.faster) / p->device->d2d.gbps);
}

/* Calls first .. behind - 1 once; gradients are added to those that are there already, if any are. */
static void pass(struct passes *p, gt_call_index first, gt_call_index behind, uint32_t gradient, bool added,
                 gt_call_index *last)
{
    const struct gt_training *t = &p->training;

    for (gt_call_index i = first; i < behind; i++) {
        gt_training_copy(&p->rebuild, t, i, last);
        for (; gradient < t->gradient_count && t->gradients[gradient].behind == i; gradient++)
            if (added)
                add_up(p, t->gradients[gradient].bytes);
    }
}

/* A step's passes, `times` times; where the copies but the last are is noted. */
static struct gt_pass_copies repeat_step(struct passes *p, const struct gt_training_step *step, uint32_t times,
                                         gt_call_index *last)
{
    struct gt_pass_copies copies = {
        .first = step->first,
        .behind = p->training.gradients[step->first_gradient + step->gradients - 1].behind + 1,
    };
    size_t calls = copies.behind - copies.first;

    copies.places = gt_realloc(NULL, (times - 1) * calls + 1, sizeof *copies.places);
    for (uint32_t i = 0; i < times; i++) {
        pass(p, copies.first, copies.behind, step->first_gradient, i > 0, last);
        if (i + 1 < times)
            memcpy(&copies.places[i * calls], &p->rebuild.new_call[copies.first], calls * sizeof *copies.places);
    }
    return copies;
}

static struct gt_workload *repeat(struct passes *p, const struct gt_workload *w, uint32_t times)
{
    const struct gt_training *t = &p->training;
    struct gt_pass_copies *copies = gt_calloc(t->step_count + 1ull, sizeof *copies);
    gt_call_index done = 0, last = GT_NONE;
    uint32_t count = 0;
    struct gt_workload *to;

    gt_rebuild_begin(&p->rebuild, w);
    for (uint32_t s = 0; s < t->step_count; s++) {
        if (t->steps[s].gradients == 0)
            continue;
        pass(p, done, t->steps[s].first, t->gradient_count, false, &last);
        copies[count] = repeat_step(p, &t->steps[s], times, &last);
        done = copies[count++].behind;
    }
    pass(p, done, w->call_count, t->gradient_count, false, &last);
    to = gt_training_end(&p->rebuild, t);
    pass_ranges_add(to, w, t, copies, count, times - 1);
    while (count > 0)
        free(copies[--count].places);
    free(copies);
    return to;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct passes p = { .device = &scenario->device, .framework = scenario->host->framework };
    uint32_t times;
    int status = -1;

    if (gt_count_parse(argument, "how often gradients are added up", 1, MOST_PASSES, &times, error) != 0)
        return -1;
    if (scenario->repeated_passes > 0)
        return gt_error_set(error, "accumulate was given twice: say accumulate=%u",
                            scenario->repeated_passes * times);
    if (gt_training_find(&p.training, scenario, error) == 0) {
        gt_scenario_replace(scenario, repeat(&p, scenario->workload, times));
        scenario->repeated_passes = times;
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "Each of the %u forward and backward passes of a step takes as long as the recorded "
                           "one; "
                           "from the second pass on, each gradient is added to the one before",
                           times);
        status = 0;
    }
    gt_training_free(&p.training);
    return status;
}

const struct gt_change_kind gt_change_accumulate = {
    .name = "accumulate",
    .allocates = true,
    .argument = "K",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "run K forward and backward passes per step and reduce the gradients once",
    .apply = apply,
};
