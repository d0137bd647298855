#include "sim/whatif/fit_host.h"

#include <math.h>

#include "sim/whatif/host_pace.h"

/* Paces that are tried, and how near to the step is near enough. */
static const double fastest = 0.25, slowest = 4, near_enough = 0.001;
/* So far apart are steps that the GPU bounds: its clock is not always the same. */
static const double gpu_varies = 0.03;
enum { HALVINGS = 14 };

struct fit {
    struct gt_whatif *whatif;
    struct gt_workload *before; /* the baseline's, at pace 1 */
    double recorded_pace;       /* then the baseline's own */
    double step_us, pace;       /* of a step, at the pace tried last */
};

static int play_at(struct fit *fit, double pace, struct gt_error *error)
{
    gt_host_at_pace(fit->whatif->baseline.workload, fit->before, pace);
    fit->pace = pace;
    fit->whatif->baseline.host_pace = pace * fit->recorded_pace;
    if (gt_whatif_play_baseline(fit->whatif, error) != 0)
        return -1;
    fit->step_us = fit->whatif->step_us;
    return 0;
}

/* The pace between the two at which a step takes that long: by bisection, as a slower host makes no step shorter. */
static int find(struct fit *fit, double faster, double slower, double step_us, struct gt_error *error)
{
    for (int i = 0; i < HALVINGS && fabs(fit->step_us / step_us - 1) > near_enough; i++) {
        if (play_at(fit, sqrt(faster * slower), error) != 0)
            return -1;
        *(fit->step_us > step_us ? &slower : &faster) = fit->pace;
    }
    return 0;
}

/* `gpu_us`: how long a step takes with a host that is never in the way; `as_is_us`: at pace 1. */
static int fit_to(struct fit *fit, double gpu_us, double as_is_us, struct gt_error *error)
{
    double asked_us = fit->whatif->subject.step_us, most_us = gpu_us * (1 + gpu_varies);

    if (fabs(as_is_us / asked_us - 1) <= near_enough)
        return play_at(fit, 1, error);
    if (asked_us > most_us)
        return find(fit, fastest, slowest, asked_us, error);
    if (as_is_us > most_us)
        return find(fit, fastest, 1, fmax(asked_us, gpu_us * (1 + 2 * near_enough)), error);
    return play_at(fit, 1, error);
}

/* `gpu_us`: as above. */
static void tell(const struct fit *fit, double gpu_us)
{
    double asked_us = fit->whatif->subject.step_us;
    struct gt_scenario *baseline = &fit->whatif->baseline;

    if (fabs(fit->step_us / asked_us - 1) > gpu_varies)
        gt_scenario_assume(baseline, GT_TRUST_LOW,
                           "No host speed makes a step take the %.1f us of --step, only %.1f us: the recording lacks "
                           "what bounds the timed step",
                           asked_us, fit->step_us);
    else if (fit->pace != 1)
        gt_scenario_assume(baseline, GT_TRUST_HIGH,
                           "Host times are %.2f times %s, so that a step takes the %.1f us of --step", fit->pace,
                           fit->whatif->facts.profiled ? "those recorded, less the profiler's overhead"
                                                       : "those recorded",
                           asked_us);
    else
        gt_scenario_assume(baseline, GT_TRUST_HIGH, "Host times stay as recorded: %s as long as --step says",
                           asked_us <= gpu_us * (1 + gpu_varies) ? "the GPU bounds the step, which takes"
                                                                 : "so a step takes");
}

int gt_fit_host(struct gt_whatif *whatif, struct gt_error *error)
{
    struct fit fit = { .whatif = whatif,
                       .before = gt_workload_copy(whatif->baseline.workload),
                       .recorded_pace = whatif->baseline.host_pace };
    double as_is_us = whatif->step_us;
    int result = play_at(&fit, fastest, error);
    double gpu_us = fit.step_us;

    if (result == 0)
        result = fit_to(&fit, gpu_us, as_is_us, error);
    whatif->facts.host_fitted = fit.pace != 1;
    if (result == 0)
        tell(&fit, gpu_us);
    gt_workload_free(fit.before);
    return result;
}
