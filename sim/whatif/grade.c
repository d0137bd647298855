/* Each rule: when it applies, the grade that is left, and why. */
#include "sim/whatif/grade.h"

#include <math.h>

#include "sim/devices/kernel_bound.h"
#include "sim/whatif/bound.h"

/* A replay that departs from its recording leaves something out; what is changed may be just that. */
static const double replay_low = 0.03, replay_medium = 0.01;
/* The limits of a replay in which equivalent kernels last equally long. */
static const double alike_low = 0.1, alike_medium = 0.02;
/* Half the interval of a step, as a part of its middle, up to which an answer is trusted that much. */
static const double interval_high = 0.09, interval_medium = 0.2;
/* The host's part in a run from which on its times matter. */
static const double host_matters = 0.1;

/* The part of a device file's values that may be estimates before answers for that device are trusted less: h100.ini has 0.51 and
 * its high answers are off by 1.4% in the median, 10% at worst; a100.ini and v100.ini have 0.85. */
static const double estimated_matters = 0.6;

static void grade_replay(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    double off = facts->replay_us / facts->measured_us - 1;

    if (isnan(facts->measured_us))
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM, "Durations are as typed: nothing of the run was measured");
    else if (fabs(off) > replay_medium)
        gt_scenario_assume(scenario, fabs(off) > replay_low ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "The simulated recording differs from the real one by %+.1f%%%s", 100 * off,
                           fabs(off) > replay_low ? ": predictions from it are unreliable" : "");
}

/* Kernels that slowed each other down otherwise than by taking each other's room on SMs. */
static void grade_alike(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    double off = facts->alike_us / facts->replay_us - 1;

    if (fabs(off) > alike_medium)
        gt_scenario_assume(scenario, fabs(off) > alike_low ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "Launches of one kernel that overlapped others are assumed to last equally long alone; "
                           "with this the simulated recording is off by %+.1f%%",
                           100 * off);
}

static void grade_interval(struct gt_scenario *scenario, double low_us, double high_us)
{
    double half = (high_us - low_us) / (high_us + low_us);

    if (half > interval_high)
        gt_scenario_assume(scenario, half > interval_medium ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "The 90%% interval is %.0f%% wide", 200 * half);
}

static void tell_profiler(struct gt_scenario *scenario, const struct gt_grade_facts *facts, double host_part)
{
    double removed = 1 - facts->baseline_us / facts->alike_us;

    if (!facts->profiled)
        return;
    if (fabs(removed) > 0.005)
        gt_scenario_assume(
            scenario, GT_TRUST_HIGH,
            "%s profiler overhead is subtracted: %llu calls, %llu ranges, %.0f%% of the recorded time%s",
            facts->removed.measured ? "Measured" : "Average", (unsigned long long)facts->removed.calls,
            (unsigned long long)facts->removed.ranges, 100 * removed,
            facts->host_fitted ? "" : "; --step US, a step timed without profiler, replaces it");
    if (facts->removed.ranges_missing && host_part > host_matters)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "The file has no operators: if the profiler recorded any, their overhead is not subtracted");
}

/* An H200 whose tensor cores were busy so much of the time lowered its clock by 5 to 15 % within milliseconds, which a
 * recording of a few steps, with a profiler's pauses, does not show. */
static const double power_matters = 0.5;

static void grade_power(struct gt_scenario *scenario)
{
    const struct gt_workload *w = scenario->workload;
    double tensor_us = 0, all_us = 0;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];

        if (op->duration_ps == GT_TIME_NONE)
            continue;
        all_us += (double)op->duration_ps / 1e6;
        if (op->kind == GT_OP_KERNEL &&
            gt_kernel_bound_of(gt_name_text(w, w->kernels[op->kernel].name), &w->kernels[op->kernel], op->duration_ps,
                               &scenario->device) == GT_BOUND_TENSOR)
            tensor_us += (double)op->duration_ps / 1e6;
    }
    if (tensor_us > power_matters * all_us)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "Tensor cores work in %.0f%% of the GPU's time: under sustained load the GPU may lower its clock",
            100 * tensor_us / all_us);
}

static void grade_order(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    if (facts->inferred_waits > 0)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "%llu dependencies between streams are inferred from recorded times; the interval "
                           "includes the result without "
                           "them",
                           (unsigned long long)facts->inferred_waits);
    if (facts->too_short > 0)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "%llu kernels lasted longer than GPU sharing explains; their recorded duration is used as "
                           "their duration alone",
                           (unsigned long long)facts->too_short);
}

/* Of a device whose file mostly says what another GPU does. */
static void grade_device(struct gt_scenario *scenario)
{
    const struct gt_device *device = &scenario->device;

    if (device->estimated_keys > estimated_matters * (double)gt_device_key_count)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "%u of the %zu values of the device file of %s are estimates, not measurements: "
                           "`gridtide devices` marks them",
                           device->estimated_keys, gt_device_key_count, device->name);
}

static void tell_dropped(struct gt_scenario *scenario, uint64_t dropped, const char *why)
{
    if (dropped > 0)
        gt_scenario_assume(scenario, GT_TRUST_LOW, "%llu inferred dependenc%s dropped for %s",
                           (unsigned long long)dropped, dropped == 1 ? "y was" : "ies were", why);
}

void gt_grade_dropped(struct gt_scenario *scenario, const struct gt_grade_facts *facts, uint64_t dropped)
{
    tell_dropped(scenario, facts->dropped,
                 "contradicting the recorded order: the recording's clocks disagree, or it is incomplete");
    tell_dropped(scenario, dropped, "making the changed program deadlock");
}

static void tell_steps(struct gt_scenario *scenario, const struct gt_steps *steps, const struct gt_steady *steady)
{
    static const char *const by[] = {
        [GT_STEPS_MARKED] = "marked",
        [GT_STEPS_ANNOTATED] = "annotated by ranges of one name",
        [GT_STEPS_OPTIMISED] = "ended by the optimizer",
        [GT_STEPS_REPEATED] = "recognized by repeated launches",
    };

    if (steady->single)
        gt_scenario_assume(scenario, steady->cold && steps->by == GT_STEPS_ONE ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "One iteration was recorded%s; the program is taken to repeat it",
                           steady->cold ? ", with start-up (allocation, loading), which is replaced by an estimate"
                                        : "");
    else if (steps->by == GT_STEPS_ONE)
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "The trace is taken as one step");
    else if (steady->irregular > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_HIGH, "%u of %u steps, %s, are irregular and set aside: their host takes %.1f us more",
            steady->irregular, steady->irregular + steady->regular, by[steps->by], steady->irregular_us);
    else if (steps->by != GT_STEPS_MARKED)
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "There are %u steps, %s", steps->count, by[steps->by]);
    if (steps->by == GT_STEPS_REPEATED && !steps->waited)
        gt_scenario_assume(
            scenario, GT_TRUST_LOW,
            "The host waits for the GPU in none of the steps: they may be layers of one; mark steps with "
            "prof.step() or record_function() to be sure");
}

void gt_grade(struct gt_scenario *scenario, const struct gt_grade_facts *facts, const struct gt_steady *steady,
              double low_us, double high_us, const double part[GT_BOUNDS_BY])
{
    grade_replay(scenario, facts);
    grade_alike(scenario, facts);
    tell_profiler(scenario, facts, part[GT_BOUND_BY_HOST] + part[GT_BOUND_BY_LAUNCH]);
    grade_order(scenario, facts);
    grade_power(scenario);
    grade_device(scenario);
    tell_steps(scenario, &facts->steps, steady);
    grade_interval(scenario, low_us, high_us);
}

struct gt_paces gt_host_paces(const struct gt_framework *framework, const struct gt_grade_facts *facts,
                              const struct gt_steady *steady)
{
    if (!facts->profiled || facts->host_fitted)
        return (struct gt_paces){ 1, 1 };
    if (steady->single)
        return steady->cold ? framework->interval.cold : framework->interval.single;
    return framework->interval.steps;
}

double gt_model_varies(const struct gt_framework *framework, const struct gt_grade_facts *facts)
{
    return isnan(facts->measured_us) ? 0 : framework->interval.model_part;
}

static gt_time_ps times(gt_time_ps time_ps, double pace)
{
    return time_ps != GT_TIME_NONE ? (gt_time_ps)(pace * (double)time_ps) : time_ps;
}

void gt_host_at_pace(struct gt_workload *to, const struct gt_workload *from, double pace)
{
    for (gt_call_index i = 0; i < from->call_count; i++) {
        to->calls[i].duration_ps = times(from->calls[i].duration_ps, pace);
        to->calls[i].before_ps = times(from->calls[i].before_ps, pace);
        to->calls[i].kept_ps = times(from->calls[i].kept_ps, pace);
    }
    for (gt_op_index i = 0; i < from->op_count; i++)
        to->ops[i].visible_ps = times(from->ops[i].visible_ps, pace);
}
