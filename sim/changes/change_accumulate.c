/* accumulate=K: forward and backward pass K times before the optimiser's step, gradients added up; with ddp=N they are
 * reduced in the last one alone (no_sync). */
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/frameworks/framework.h"
#include "sim/training/pass_ranges.h"
#include "sim/training/rank_count.h"
#include "sim/training/training.h"

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
    gt_pass_ranges_add(to, w, t, copies, count, times - 1);
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
    .argument = "K",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "accumulate gradients over K forward and backward passes per step; reduce them once",
    .apply = apply,
};
