/* answer.c - one answer: a scenario simulated, as a whole and as a steady state, and between what bounds it is certain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/kernel_bound.h"
#include "sim/devices/occupancy.h"
#include "sim/machine/durations.h"
#include "sim/rewrite/scenario.h"
#include "sim/training/ranks.h"
#include "sim/warp/kernel_model.h"
#include "sim/whatif/bound.h"
#include "sim/whatif/grade.h"
#include "sim/whatif/whatif.h"
#include "sim/workload/allocations.h"

/* Kernels recorded on one device, on another: each scaled by what bounds it. */

/* Sections of a device's keys that say how fast its kernels are. */
static const char *const kernel_sections[] = { "chip.", "sm.", "block.", "warp.", "pipe.", "memory." };

static bool of_kernels(const struct gt_key *key)
{
    for (size_t i = 0; i < sizeof kernel_sections / sizeof kernel_sections[0]; i++)
        if (strncmp(key->key, kernel_sections[i], strlen(kernel_sections[i])) == 0)
            return true;
    return false;
}

/* Take over from `device` what its kernels depend on; does any of that differ? */
static bool take_kernel_keys(struct gt_device *recorded, const struct gt_device *device)
{
    bool differs = false;

    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];

        if (!of_kernels(key) || gt_device_same_key(recorded, device, key))
            continue;
        differs = differs || key->type != GT_KEY_TEXT;
        gt_device_take_key(recorded, device, key);
    }
    return differs;
}

enum { BY_PROGRAM = GT_BOUNDS, WAYS };

/* What was scaled in one way. */
struct scaled {
    uint64_t launches;
    double from_us, to_us;
    double least, most; /* factor */
};

struct scaling {
    struct gt_scenario *scenario;
    const struct gt_device *from, *to;
    struct gt_kernel_model *programs_from, *programs_to; /* NULL: no kernel has a program */
    struct scaled ways[WAYS];
};

static int run_programs(struct scaling *scaling, struct gt_error *error)
{
    const struct gt_workload *w = scaling->scenario->workload;

    if (!gt_has_programs(w))
        return 0;
    scaling->programs_from = gt_model_kernels(w, scaling->from, scaling->from, false, NULL, error);
    scaling->programs_to =
        scaling->programs_from == NULL ? NULL : gt_model_kernels(w, scaling->to, scaling->from, false, NULL, error);
    return scaling->programs_to == NULL ? -1 : 0;
}

/* How much longer the launch's program takes; 0 where it has none, or it could not be run. */
static double program_factor(const struct scaling *scaling, gt_op_index op)
{
    const struct gt_kernel_model_launch *from = gt_kernel_model_launch(scaling->programs_from, op);
    const struct gt_kernel_model_launch *to = gt_kernel_model_launch(scaling->programs_to, op);
    double from_ps, to_ps;

    if (from == NULL || to == NULL || from->failure != NULL || to->failure != NULL)
        return 0;
    from_ps = (double)gt_launch_run_ps(scaling->from, from);
    to_ps = (double)gt_launch_run_ps(scaling->to, to);
    return from_ps > 0 ? to_ps / from_ps : 0;
}

static void note(struct scaled *way, double from_ps, double to_ps, double factor)
{
    way->least = way->launches == 0 || factor < way->least ? factor : way->least;
    way->most = way->launches == 0 || factor > way->most ? factor : way->most;
    way->launches++;
    way->from_us += from_ps / 1e6;
    way->to_us += to_ps / 1e6;
}

static void scale_op(struct scaling *scaling, gt_op_index index)
{
    const struct gt_workload *w = scaling->scenario->workload;
    struct gt_op *op = &w->ops[index];
    const struct gt_kernel *kernel = &w->kernels[op->kernel];
    gt_time_ps stated = gt_op_stated_ps(w, op), fixed_ps;
    double factor = program_factor(scaling, index), from_ps = (double)stated, to_ps;
    int way = BY_PROGRAM;

    if (stated == GT_TIME_NONE)
        return;
    if (factor == 0) {
        enum gt_kernel_bound bound = gt_kernel_bound_of(gt_name_text(w, kernel->name), kernel, stated, scaling->from);

        way = (int)bound;
        factor = gt_kernel_bound_factor(bound, kernel, scaling->from, scaling->to);
    }
    fixed_ps = stated < gt_kernel_fixed_ps ? stated : gt_kernel_fixed_ps;
    to_ps = (double)fixed_ps + (from_ps - (double)fixed_ps) * factor;
    op->duration_ps = gt_whole_ps(to_ps);
    note(&scaling->ways[way], from_ps, to_ps, factor);
}

/* "x1.40", or "x1.20 to x1.60" */
static void describe_factor(const struct scaled *way, char *text, size_t bytes)
{
    if (way->most - way->least < 0.005)
        snprintf(text, bytes, "x%.2f", way->most);
    else
        snprintf(text, bytes, "x%.2f to x%.2f", way->least, way->most);
}

static void tell(const struct scaling *scaling)
{
    double total_us = 0;

    for (int i = 0; i < WAYS; i++)
        total_us += scaling->ways[i].from_us;
    for (int i = 0; i < WAYS; i++) {
        const struct scaled *way = &scaling->ways[i];
        char factor[64];
        double pct = total_us > 0 ? 100 * way->from_us / total_us : 0;

        if (way->launches == 0)
            continue;
        describe_factor(way, factor, sizeof factor);
        if (i == BY_PROGRAM)
            gt_scenario_assume(
                scaling->scenario, GT_TRUST_MEDIUM,
                "scaled by their programs, run on both devices: %llu kernel launches, %.0f%% of kernel "
                "time, %s",
                (unsigned long long)way->launches, pct, factor);
        else
            gt_scenario_assume(
                scaling->scenario, GT_TRUST_LOW,
                "assumed bound by %s, from name, shape and duration: %llu kernel launches, %.0f%% of kernel time, %s",
                gt_kernel_bound_names[i], (unsigned long long)way->launches, pct, factor);
    }
}

/* Libraries choose a kernel that fits the GPU: one that does not stands for another of its kind, with all the shared memory
 * and registers that a block may have. */
static bool make_fit(struct gt_kernel *kernel, const struct gt_device *device)
{
    struct gt_occupancy occupancy;
    struct gt_error error;

    if (gt_occupancy_of(device, kernel, &occupancy, &error) == 0)
        return false;
    if (kernel->static_shared_bytes > device->shared_bytes_per_block)
        kernel->static_shared_bytes = device->shared_bytes_per_block;
    if (kernel->dynamic_shared_bytes > device->shared_bytes_per_block - kernel->static_shared_bytes)
        kernel->dynamic_shared_bytes = device->shared_bytes_per_block - kernel->static_shared_bytes;
    if (kernel->registers_per_thread > device->registers_per_thread_max)
        kernel->registers_per_thread = device->registers_per_thread_max;
    return gt_occupancy_of(device, kernel, &occupancy, &error) == 0;
}

static void make_all_fit(struct gt_scenario *scenario)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scenario->workload->kernel_count; i++)
        count += make_fit(&scenario->workload->kernels[i], &scenario->device);
    if (count > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_LOW,
            "%u kernels need more resources than a block may have there; assumes that versions that fit take as long",
            count);
}

/* Where the scenario's device computes or remembers otherwise than the recorded one, kernels with a stated duration get
 * the one that they have there: by their programs where they have any, else by rules (bound.h).  What was scaled
 * by what is told as assumptions.  The recorded device is then as the simulated one as far as kernels are concerned.
 * Returns 0; -1 with the reason why programs could not be run at all. */
static int scale_kernels(struct gt_scenario *scenario, struct gt_error *error)
{
    struct gt_device from = scenario->recorded;
    struct scaling scaling = { .scenario = scenario, .from = &from, .to = &scenario->device };
    int result;

    if (!take_kernel_keys(&scenario->recorded, &scenario->device))
        return 0;
    result = run_programs(&scaling, error);
    for (gt_op_index i = 0; i < scenario->workload->op_count && result == 0; i++)
        if (scenario->workload->ops[i].kind == GT_OP_KERNEL)
            scale_op(&scaling, i);
    if (result == 0) {
        tell(&scaling);
        make_all_fit(scenario);
    }
    gt_kernel_model_free(scaling.programs_from);
    gt_kernel_model_free(scaling.programs_to);
    return result;
}

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
                                                                                  : scale_kernels(scenario, error);
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
    const struct gt_device *device = &answer->scenario.device;

    for (size_t i = 0; i < asking->count; i++)
        if (asking->changes[i].kind->allocates)
            return;
    answer->peak_bytes = gt_peak_allocated_bytes(answer->scenario.workload);
    answer->out_of_memory = device->memory_bytes > 0 && answer->peak_bytes > (double)device->memory_bytes;
}

/* All of the run: predicted_us, and what the answer assumes.  A change that start-up refuses may still hold for the steady state. */
static int answer_whole(const struct asking *asking, const struct gt_probe *probe, struct gt_answer *answer,
                        struct gt_error *error)
{
    const struct gt_whatif *whatif = asking->whatif;
    struct gt_scenario *scenario = &answer->scenario;
    struct gt_timeline timeline;

    answer->predicted_us = answer->peak_bytes = NAN;
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
