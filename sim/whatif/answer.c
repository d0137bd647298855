/* answer.c - one answer: a scenario simulated, as a whole and as a steady state, and between what bounds it is certain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/durations.h"
#include "sim/rewrite/scenario.h"
#include "sim/training/ranks.h"
#include "sim/whatif/bound.h"
#include "sim/whatif/grade.h"
#include "sim/whatif/scale_kernels.h"
#include "sim/whatif/whatif.h"
#include "sim/workload/allocations.h"

/* "streams=4 + pinned" */
static char *join(const struct gt_change *changes, size_t count)
{
    char *text = gt_strdup(count > 0 ? changes[0].spec : "");

    for (size_t i = 1; i < count; i++) {
        char *longer = gt_format("%s + %s", text, changes[i].spec);

        free(text);
        text = longer;
    }
    return text;
}

/* What is asked, of whom. */
struct asking {
    const struct gt_whatif *whatif;
    const struct gt_change *changes;
    size_t count;
};

/* A scenario of `workload`, otherwise like the baseline, with the changes. */
static int begin_changed(const struct asking *asking, const struct gt_workload *workload,
                         const struct gt_whatif_host *host, struct gt_scenario *scenario, struct gt_error *error)
{
    const struct gt_scenario *baseline = &asking->whatif->baseline;

    gt_scenario_begin(scenario, workload, &baseline->device, &baseline->recorded, host);
    scenario->host_pace = baseline->host_pace;
    for (uint32_t i = 0; i < baseline->assumption_count; i++)
        gt_scenario_assume(scenario, baseline->trust, "%s", baseline->assumptions[i]);
    return gt_changes_apply(asking->changes, asking->count, scenario, error) != 0 ? -1
                                                                                  : gt_scale_kernels(scenario, error);
}

/* The workload that tells what a step takes, and how many it has. */
static const struct gt_workload *stepping(const struct gt_whatif *whatif, uint32_t *steps)
{
    bool steady = whatif->steady.workload != NULL;

    *steps = steady ? whatif->steady.steps : whatif->facts.steps.count;
    return steady ? whatif->steady.workload : whatif->baseline.workload;
}

/* How long a step of the scenario takes, with a host at that pace. */
static int play_step(const struct gt_whatif *whatif, const struct gt_scenario *scenario, double pace, double *us,
                     struct gt_error *error)
{
    struct gt_scenario paced = *scenario;
    struct gt_timeline timeline;
    uint32_t steps;
    bool divided;
    int result;

    stepping(whatif, &steps);
    paced.workload = gt_workload_copy(scenario->workload);
    gt_host_at_pace(paced.workload, scenario->workload, pace);
    result = gt_whatif_timeline(whatif, &paced, NULL, &timeline, error);
    if (result == 0) {
        *us = gt_steps_us(paced.workload, &timeline, steps, &divided);
        gt_timeline_free(&timeline);
    }
    gt_workload_free(paced.workload);
    return result;
}

/* By an extreme, which the model is no better at. */
static void widen(const struct asking *asking, struct gt_answer *answer, double us)
{
    double varies = gt_model_varies(asking->whatif->subject.host->framework, &asking->whatif->facts);

    answer->low_us = fmin(answer->low_us, (1 - varies) * us);
    answer->high_us = fmax(answer->high_us, (1 + varies) * us);
}

/* A host that is faster or slower than what is left of its recorded time, and the model's own error, which has nothing to do with
 * that: their squares add up. */
static int vary_host(const struct asking *asking, const struct gt_scenario *scenario, struct gt_answer *answer,
                     struct gt_error *error)
{
    const struct gt_framework *framework = asking->whatif->subject.host->framework;
    const struct gt_grade_facts *facts = &asking->whatif->facts;
    struct gt_paces paces = gt_host_paces(framework, facts, &asking->whatif->steady);
    double step_us = answer->step_us, fast_us = step_us, slow_us = step_us;
    double model_us = gt_model_varies(framework, facts) * step_us;

    if (paces.fastest != 1 && play_step(asking->whatif, scenario, paces.fastest, &fast_us, error) != 0)
        return -1;
    if (paces.slowest != 1 && play_step(asking->whatif, scenario, paces.slowest, &slow_us, error) != 0)
        return -1;
    answer->low_us = step_us - hypot(fmax(step_us - fast_us, 0), model_us);
    answer->high_us = step_us + hypot(fmax(slow_us - step_us, 0), model_us);
    return 0;
}

/* Without the dependencies that only measured times show. */
static void vary_inferred(const struct asking *asking, const struct gt_scenario *scenario, struct gt_answer *answer)
{
    struct gt_scenario loose = *scenario;
    struct gt_error refused;
    double us;

    loose.workload = gt_workload_copy(scenario->workload);
    for (gt_op_index i = 0; i < loose.workload->op_count; i++) {
        loose.workload->ops[i].afters -= loose.workload->ops[i].inferred_afters;
        loose.workload->ops[i].inferred_afters = 0;
    }
    if (play_step(asking->whatif, &loose, 1, &us, &refused) == 0)
        widen(asking, answer, us);
    gt_workload_free(loose.workload);
}

/* Widen the interval by the change applied to a workload with another host; a refusal adds nothing. */
static void vary_scenario(const struct asking *asking, const struct gt_whatif_host *host, struct gt_answer *answer)
{
    struct gt_scenario scenario;
    struct gt_error refused;
    uint32_t steps;
    double us;

    if (begin_changed(asking, stepping(asking->whatif, &steps), host, &scenario, &refused) == 0 &&
        play_step(asking->whatif, &scenario, 1, &us, &refused) == 0)
        widen(asking, answer, us);
    gt_scenario_free(&scenario);
}

/* No kernel takes more than ten times as long as predicted. */
static const double least_part = 0.1;

/* All kernels as much longer or shorter as those are of which predictions are off by so much: an error is a part of what was measured. */
static void vary_kernels(const struct asking *asking, const struct gt_scenario *scenario, struct gt_answer *answer)
{
    const double times[] = { 1 / (1 + scenario->kernels_off), 1 / fmax(1 - scenario->kernels_off, least_part) };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        double us;
        struct gt_scenario off = *scenario;
        struct gt_error refused;

        off.workload = gt_workload_copy(scenario->workload);
        for (gt_op_index j = 0; j < off.workload->op_count; j++) {
            struct gt_op *op = &off.workload->ops[j];

            if (op->kind == GT_OP_KERNEL && op->duration_ps != GT_TIME_NONE)
                op->duration_ps = gt_whole_ps(times[i] * (double)op->duration_ps);
        }
        if (play_step(asking->whatif, &off, 1, &us, &refused) == 0)
            widen(asking, answer, us);
        gt_workload_free(off.workload);
    }
}

/* Work whose independence nobody knows: between none of it and all of it. */
static void vary_independence(const struct asking *asking, struct gt_answer *answer)
{
    static const char *const all[] = { "*", NULL };
    struct gt_whatif_host host = *asking->whatif->baseline.host;

    host.independent = all;
    vary_scenario(asking, &host, answer);
    answer->step_us = answer->change_pct = NAN;
}

/* Waits of which the recording does not say what for: between none of them and each for all work before it. */
static void vary_unnamed(const struct asking *asking, struct gt_answer *answer)
{
    static const enum gt_unnamed_waits both[] = { GT_UNNAMED_NONE, GT_UNNAMED_ALL };

    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        struct gt_whatif_host host = *asking->whatif->baseline.host;

        host.unnamed_waits = both[i];
        vary_scenario(asking, &host, answer);
    }
}

static int find_interval(const struct asking *asking, const struct gt_scenario *scenario, struct gt_answer *answer,
                         struct gt_error *error)
{
    if (vary_host(asking, scenario, answer, error) != 0)
        return -1;
    if (scenario->kernels_off > 0)
        vary_kernels(asking, scenario, answer);
    if (asking->whatif->facts.inferred_waits > 0)
        vary_inferred(asking, scenario, answer);
    if (scenario->waits_unnamed)
        vary_unnamed(asking, answer);
    if (scenario->independence_unknown)
        vary_independence(asking, answer);
    return 0;
}

int gt_whatif_step(const struct gt_whatif *whatif, const struct gt_change *changes, size_t count, double *step_us,
                   enum gt_trust *trust, struct gt_error *error)
{
    struct asking asking = { whatif, changes, count };
    struct gt_scenario scenario;
    uint32_t steps;
    int result = begin_changed(&asking, stepping(whatif, &steps), whatif->baseline.host, &scenario, error);

    if (result == 0)
        result = play_step(whatif, &scenario, 1, step_us, error);
    *trust = scenario.trust;
    gt_scenario_free(&scenario);
    return result;
}

/* A step: step_us, what bounds it, and its interval. */
static int answer_step(const struct asking *asking, struct gt_answer *answer, struct gt_error *error)
{
    uint32_t steps;
    const struct gt_workload *workload = stepping(asking->whatif, &steps);
    struct gt_scenario scenario;
    struct gt_timeline timeline;
    bool divided;
    int result = begin_changed(asking, workload, asking->whatif->baseline.host, &scenario, error);

    if (result == 0)
        result = gt_whatif_timeline(asking->whatif, &scenario, NULL, &timeline, error);
    if (result == 0) {
        answer->step_us = gt_steps_us(scenario.workload, &timeline, steps, &divided);
        answer->bound_by = gt_bound_of(scenario.workload, &timeline, answer->part);
        answer->change_pct = asking->whatif->step_us > 0 ? 100 * (answer->step_us / asking->whatif->step_us - 1) : 0;
        if (divided && steps > 1)
            gt_scenario_assume(&answer->scenario, GT_TRUST_HIGH,
                               "Steps cannot be told apart with the change: a step is the whole time divided by %u",
                               steps);
        gt_timeline_free(&timeline);
        result = find_interval(asking, &scenario, answer, error);
    }
    gt_scenario_free(&scenario);
    return result;
}

static void find_peak(const struct asking *asking, struct gt_answer *answer)
{
    for (size_t i = 0; i < asking->count; i++) {
        if (!asking->changes[i].kind->allocates)
            continue;
        if (answer->scenario.workload->allocation_count > 0)
            gt_scenario_assume(&answer->scenario, GT_TRUST_HIGH,
                               "Peak memory is not known: what the program allocates with %s is not modelled",
                               asking->changes[i].spec);
        return;
    }
    answer->peak_bytes = gt_peak_allocated_bytes(answer->scenario.workload);
    gt_reserved_memory_find(&answer->reserved, answer->scenario.workload, &answer->scenario.device);
}

/* All of the run: predicted_us, and what the answer assumes.  A change that start-up refuses may still hold for the steady state. */
static int answer_whole(const struct asking *asking, const struct gt_probe *probe, struct gt_answer *answer,
                        struct gt_error *error)
{
    const struct gt_whatif *whatif = asking->whatif;
    struct gt_scenario *scenario = &answer->scenario;
    struct gt_timeline timeline;

    answer->predicted_us = answer->peak_bytes = answer->reserved.bytes = NAN;
    if (begin_changed(asking, whatif->baseline.workload, whatif->baseline.host, scenario, error) != 0) {
        if (whatif->steady.workload == NULL)
            return -1;
        gt_scenario_free(scenario);
        return begin_changed(asking, whatif->steady.workload, whatif->baseline.host, scenario, error);
    }
    if (gt_whatif_timeline(whatif, scenario, probe, &timeline, error) != 0)
        return -1;
    gt_ranks_tell_extrapolated_collectives(scenario, timeline.summary.extrapolated);
    gt_grade_dropped(scenario, &whatif->facts, timeline.summary.dropped);
    answer->predicted_us = gt_timeline_us(&timeline);
    find_peak(asking, answer);
    gt_timeline_free(&timeline);
    return 0;
}

int gt_whatif_answer(const struct gt_whatif *whatif, const struct gt_change *changes, size_t count,
                     const struct gt_probe *probe, struct gt_answer *answer, struct gt_error *error)
{
    struct asking asking = { whatif, changes, count };

    memset(answer, 0, sizeof *answer);
    answer->change = join(changes, count);
    if (answer_whole(&asking, probe, answer, error) != 0 || answer_step(&asking, answer, error) != 0)
        return -1;
    gt_grade(&answer->scenario, &whatif->facts, &whatif->steady, answer->low_us, answer->high_us, answer->part);
    return 0;
}

void gt_answer_free(struct gt_answer *answer)
{
    free(answer->change);
    gt_scenario_free(&answer->scenario);
    memset(answer, 0, sizeof *answer);
}
