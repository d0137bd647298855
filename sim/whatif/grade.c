/* Each rule: when it applies, the grade that is left, and why. */
#include "sim/whatif/grade.h"

#include <math.h>

#include "sim/whatif/kernel_bound.h"

/* A replay that departs from its recording leaves something out; what is changed may be just that. */
static const double replay_low = 0.03, replay_medium = 0.01;
/* The same where kernels of the same work last equally long. */
static const double alike_low = 0.1, alike_medium = 0.02;
/* What a profiler takes off a call differs from call to call, by a third of its mean: so far a prediction whose time
 * goes to the host may be off. */
static const double profiler_varies = 0.33, measured_varies = 0.15, error_low = 0.15, error_medium = 0.05;
/* The host's part in a run from which on its times matter. */
static const double host_matters = 0.1;

static void grade_replay(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    double off = facts->replay_us / facts->measured_us - 1;

    if (isnan(facts->measured_us))
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM, "durations are as typed: nothing of the run was measured");
    else if (fabs(off) > replay_medium)
        gt_scenario_assume(scenario, fabs(off) > replay_low ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "the replay of the recording is off by %+.1f%%%s", 100 * off,
                           fabs(off) > replay_low ? ": what-ifs on it mean little" : "");
}

/* Kernels that slowed each other down otherwise than by taking each other's room on SMs. */
static void grade_alike(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    double off = facts->alike_us / facts->replay_us - 1;

    if (fabs(off) > alike_medium)
        gt_scenario_assume(
            scenario, fabs(off) > alike_low ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
            "kernels that ran beside others and do the same work are taken to last equally long alone: so "
            "replayed, the recording is off by %+.1f%%",
            100 * off);
}

double gt_grade_host_varies(const struct gt_grade_facts *facts)
{
    double left_us = facts->removed.left_us;

    double varies = facts->removed.measured ? measured_varies : profiler_varies;

    return facts->profiled && !facts->host_fitted && left_us > 0 ? varies * facts->removed.host_us / left_us : 0;
}

/* Only where the host sets the pace, or would if it were a little slower, does it matter what its work took without a
 * profiler. */
static void grade_profiler(struct gt_scenario *scenario, const struct gt_grade_facts *facts, double host_part,
                           double slower_host)
{
    double removed = 1 - facts->baseline_us / facts->alike_us;

    if (!facts->profiled)
        return;
    if (slower_host > error_medium)
        gt_scenario_assume(
            scenario, slower_host > error_low ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
            "%s (--step US says what a step really takes); were it less by %.0f%%, this would take %.0f%% longer",
            facts->removed.measured ? "what recording cost the host is taken off, as measured on that machine"
                                    : "what the profiler cost the host is taken off by its means",
            100 * (facts->removed.measured ? measured_varies : profiler_varies), 100 * slower_host);
    else if (fabs(removed) > 0.005)
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "what %s: %llu calls, %llu ranges, %.0f%% of the recorded time",
                           facts->removed.measured ? "recording cost is taken off, as measured on that machine"
                                                   : "the profiler cost is taken off by its means",
                           (unsigned long long)facts->removed.calls, (unsigned long long)facts->removed.ranges,
                           100 * removed);
    if (facts->removed.ranges_missing && host_part > host_matters)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                           "the file has no operators: if the profiler recorded any, what they cost is still there");
}

/* An H200 whose tensor cores were busy so much of the time lowered its clock by 5 to 15 % within milliseconds, which a
 * recording of a few steps, with a profiler's pauses, does not show. */
static const double power_matters = 0.5;

static void grade_power(struct gt_scenario *scenario, double predicted_us)
{
    const struct gt_workload *w = scenario->workload;
    double tensor_us = 0;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];

        if (op->kind == GT_OP_KERNEL && op->duration_ps != GT_TIME_NONE &&
            gt_kernel_bound_of(gt_name_text(w, w->kernels[op->kernel].name), &w->kernels[op->kernel], op->duration_ps,
                               &scenario->device) == GT_BOUND_TENSOR)
            tensor_us += (double)op->duration_ps / 1e6;
    }
    if (tensor_us > power_matters * predicted_us)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "tensor cores are at work in %.0f%% of the time: where that lasts, the GPU's power may lower "
            "its clock",
            100 * fmin(tensor_us / predicted_us, 1));
}

static void grade_order(struct gt_scenario *scenario, const struct gt_grade_facts *facts)
{
    if (facts->inferred_waits > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%llu operations wait for another stream only because they began when that one's work ended; "
            "the profile does not say for what they waited",
            (unsigned long long)facts->inferred_waits);
    if (facts->too_short > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%llu kernels lasted longer than sharing the GPU explains; they are taken to last so alone",
            (unsigned long long)facts->too_short);
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
                 "contradicting the recorded order: the recording's clocks disagree, or it is not complete");
    tell_dropped(scenario, dropped, "holding the changed program up for ever");
}

/* What comes again may be a layer as well as a step. */
static void tell_repeated(struct gt_scenario *scenario, const struct gt_steps *steps)
{
    if (steps->rows > 1)
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "the same calls come again; each %u times of them are taken as one of %u steps, for the "
                           "host regularly does more behind these",
                           steps->rows, steps->count);
    else
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "the same calls, %u times, are taken as steps%s", steps->count,
                           steps->waited ? "" : "; the host waits for none, so they may be parts of one");
}

static void tell_steps(struct gt_scenario *scenario, const struct gt_steps *steps)
{
    switch (steps->by) {
    case GT_STEPS_MARKED: return;
    case GT_STEPS_ANNOTATED:
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "the %u annotations of one name are taken as steps",
                           steps->count);
        return;
    case GT_STEPS_OPTIMISED:
        gt_scenario_assume(scenario, GT_TRUST_HIGH, "each of the %u steps is taken to end with the optimiser's",
                           steps->count);
        return;
    case GT_STEPS_REPEATED: tell_repeated(scenario, steps); return;
    case GT_STEPS_ONE: gt_scenario_assume(scenario, GT_TRUST_HIGH, "the trace is taken as one step"); return;
    }
}

void gt_grade(struct gt_scenario *scenario, const struct gt_grade_facts *facts, double predicted_us,
              const double part[GT_BOUNDS_BY], double slower_host)
{
    grade_replay(scenario, facts);
    grade_alike(scenario, facts);
    grade_profiler(scenario, facts, part[GT_BOUND_BY_HOST] + part[GT_BOUND_BY_LAUNCH], slower_host);
    grade_order(scenario, facts);
    grade_power(scenario, predicted_us);
    tell_steps(scenario, &facts->steps);
}
