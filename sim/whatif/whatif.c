#include "sim/whatif/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/baseline/fit.h"
#include "sim/training/ranks.h"
#include "sim/training/training.h"
#include "sim/whatif/grade.h"
#include "sim/workload/allocations.h"

/* The host's pace, by a step that the user timed without a profiler.
 *
 * What a host takes without the profiler that recorded it is known by the profiler's mean costs alone, and hosts run at one pace
 * today and at another tomorrow.  A step that nobody recorded says how long the host really takes, where the GPU waits for it.
 */

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

/* Multiply the host's work in the baseline, so that a step of it takes subject.step_us; the scenario knows by how much
 * (host_pace).  Where the GPU bounds such a step, the pace stays, unless that makes the step longer.  What was done is told as
 * an assumption.  Returns 0; -1 with why it cannot be simulated. */
static int fit_host(struct gt_whatif *whatif, struct gt_error *error)
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

static struct gt_options options_of(const struct gt_whatif *whatif, const struct gt_scenario *scenario)
{
    struct gt_options options = whatif->subject.options;

    options.recorded_on = &scenario->recorded;
    options.learned = &whatif->learned;
    options.modelled = NULL; /* what it says is stated */
    options.program_cost = false;
    return options;
}

int gt_whatif_timeline(const struct gt_whatif *whatif, const struct gt_scenario *scenario,
                       const struct gt_probe *probe, struct gt_timeline *timeline, struct gt_error *error)
{
    struct gt_options options = options_of(whatif, scenario);

    return gt_timeline_play(timeline, scenario->workload, &scenario->device, &options, probe, error);
}

int gt_whatif_play(const struct gt_whatif *whatif, const struct gt_scenario *scenario, const struct gt_probe *probe,
                   struct gt_summary *summary, struct gt_error *error)
{
    struct gt_options options = options_of(whatif, scenario);

    return gt_simulate(scenario->workload, &scenario->device, &options, probe, summary, error);
}

/* How long a step of the scenario takes, which holds all of the run, or its steady state. */
static int play_step(struct gt_whatif *whatif, double *us, struct gt_error *error)
{
    struct gt_scenario steady = whatif->baseline;
    struct gt_timeline timeline;
    bool divided;

    gt_steady_free(&whatif->steady);
    gt_steady_find(&whatif->steady, whatif->baseline.workload, &whatif->baseline.recorded,
                   whatif->subject.host->framework, !isnan(whatif->facts.measured_us));
    if (whatif->steady.workload == NULL)
        return 0;
    steady.workload = whatif->steady.workload;
    if (gt_whatif_timeline(whatif, &steady, NULL, &timeline, error) != 0)
        return -1;
    *us = gt_steps_us(steady.workload, &timeline, whatif->steady.steps, &divided);
    gt_timeline_free(&timeline);
    return 0;
}

static int play_us(struct gt_whatif *whatif, double *us, struct gt_error *error)
{
    struct gt_timeline timeline;
    bool divided;

    if (gt_whatif_timeline(whatif, &whatif->baseline, NULL, &timeline, error) != 0)
        return -1;
    *us = gt_timeline_us(&timeline);
    whatif->crowded_stream = gt_timeline_crowded(&timeline, whatif->baseline.workload);
    whatif->step_us = gt_steps_us(whatif->baseline.workload, &timeline, whatif->facts.steps.count, &divided);
    gt_timeline_free(&timeline);
    return play_step(whatif, &whatif->step_us, error);
}

int gt_whatif_play_baseline(struct gt_whatif *whatif, struct gt_error *error)
{
    return play_us(whatif, &whatif->facts.baseline_us, error);
}

/* The stated form of what was recorded on that device, as the baseline, and its replay. */
static int state_on(struct gt_whatif *whatif, const struct gt_device *device, struct gt_error *error)
{
    const struct gt_whatif_subject *subject = &whatif->subject;
    struct gt_grade_facts *facts = &whatif->facts;
    struct gt_stated stated;

    gt_state(&stated, subject->workload, device, &subject->options);
    whatif->learned = stated.learned;
    gt_scenario_begin(&whatif->baseline, stated.workload, device, device, subject->host);
    gt_workload_free(stated.workload);
    if (subject->host->gpu_unmodelled)
        gt_scenario_assume(
            &whatif->baseline, GT_TRUST_LOW,
            "There is no model of the recorded GPU: its kernels and copies keep their recorded durations, "
            "and gaps between them are those of a GPU of NVIDIA's");
    facts->inferred_waits = stated.inferred_waits;
    facts->dropped = stated.dropped;
    facts->too_short = stated.too_short;
    facts->steps = gt_steps_find(whatif->baseline.workload);
    return play_us(whatif, &facts->replay_us, error);
}

/* Where the replay fits another number of connections than the device file has, the baseline is of that number. */
static int fit_connections(struct gt_whatif *whatif, struct gt_error *error)
{
    const struct gt_whatif_subject *subject = &whatif->subject;
    struct gt_grade_facts *facts = &whatif->facts;
    struct gt_device device = *subject->device;

    if (subject->options.no_inference)
        return 0;
    device.connections = gt_fit_connections(subject->workload, subject->device, &subject->options, facts->measured_us,
                                            facts->replay_us / facts->measured_us - 1);
    if (device.connections == 0)
        return 0;
    gt_scenario_free(&whatif->baseline);
    if (state_on(whatif, &device, error) != 0)
        return -1;
    gt_scenario_assume(&whatif->baseline, GT_TRUST_MEDIUM,
                       "The recorded times match CUDA_DEVICE_MAX_CONNECTIONS=%u, not %u", device.connections,
                       subject->device->connections);
    return 0;
}

/* Where the replay fits a stream before all others, the baseline has that. */
static int fit_priority(struct gt_whatif *whatif, struct gt_error *error)
{
    struct gt_whatif_subject *subject = &whatif->subject;
    struct gt_grade_facts *facts = &whatif->facts;
    const struct gt_workload *w = subject->workload;
    gt_stream_index stream = GT_NONE;

    if (!subject->options.no_inference)
        stream = gt_fit_priority(w, subject->device, &subject->options, facts->measured_us,
                                 facts->replay_us / facts->measured_us - 1);

    if (stream == GT_NONE)
        return 0;
    whatif->told = gt_workload_copy(w);
    whatif->told->streams[stream].priority = subject->device->priority_high;
    subject->workload = whatif->told;
    gt_scenario_free(&whatif->baseline);
    if (state_on(whatif, subject->device, error) != 0)
        return -1;
    gt_scenario_assume(&whatif->baseline, GT_TRUST_MEDIUM,
                       "The recorded times match stream %" PRIu64
                       " at a higher priority than the others, though the profile has no priorities",
                       w->streams[stream].id);
    return 0;
}

/* Equivalent kernels get one duration alone. */
static int make_alike(struct gt_whatif *whatif, struct gt_error *error)
{
    const struct gt_whatif_subject *subject = &whatif->subject;
    struct gt_grade_facts *facts = &whatif->facts;

    facts->alike_us = facts->replay_us;
    if (!gt_state_alike(whatif->baseline.workload, subject->workload, &whatif->baseline.recorded, &subject->options))
        return 0;
    return play_us(whatif, &facts->alike_us, error);
}

int gt_whatif_begin(struct gt_whatif *whatif, const struct gt_whatif_subject *subject, struct gt_error *error)
{
    struct gt_grade_facts *facts = &whatif->facts;
    bool joined;

    memset(whatif, 0, sizeof *whatif);
    whatif->subject = *subject;
    whatif->peak_bytes = gt_peak_allocated_bytes(subject->workload);
    gt_reserved_memory_find(&whatif->reserved, subject->workload, subject->device);
    facts->measured_us = gt_recorded_us(subject->workload);
    if (state_on(whatif, subject->device, error) != 0 || fit_connections(whatif, error) != 0 ||
        fit_priority(whatif, error) != 0 || make_alike(whatif, error) != 0)
        return -1;
    facts->baseline_us = facts->alike_us;
    joined = gt_training_join_threads(&whatif->baseline);
    joined |= gt_join_ranks(&whatif->baseline);
    if (joined)
        gt_steps_find_again(&facts->steps, whatif->baseline.workload);
    facts->profiled =
        gt_profiler_remove(&whatif->baseline, whatif->subject.workload, &whatif->learned, &facts->removed);
    if ((facts->profiled || joined) && gt_whatif_play_baseline(whatif, error) != 0)
        return -1;
    return subject->step_us > 0 ? fit_host(whatif, error) : 0;
}

void gt_whatif_free(struct gt_whatif *whatif)
{
    gt_scenario_free(&whatif->baseline);
    gt_steady_free(&whatif->steady);
    gt_workload_free(whatif->told);
}

static void add_tried(const struct gt_change_kind *kind, const char *argument, struct gt_change **changes,
                      size_t *count)
{
    bool bare = argument[0] == '\0';
    char *spec = bare ? gt_strdup(kind->name) : gt_format("%s=%s", kind->name, argument);

    *changes = gt_realloc(*changes, *count + 1, sizeof **changes);
    (*changes)[(*count)++] = (struct gt_change){
        .kind = kind,
        .spec = spec,
        .argument = bare ? "" : spec + strlen(kind->name) + 1,
    };
}

size_t gt_whatif_tried(const struct gt_whatif *whatif, struct gt_change **changes)
{
    size_t count = 0;

    *changes = NULL;
    for (size_t i = 0; i < gt_change_kind_count; i++) {
        const struct gt_change_kind *kind = gt_change_kinds[i];
        char *proposed;

        if (whatif->subject.host->gpu_unmodelled && !kind->keeps_gpu)
            continue;
        proposed = kind->proposed != NULL ? kind->proposed(&whatif->baseline, whatif->crowded_stream) : NULL;

        if (proposed != NULL)
            add_tried(kind, proposed, changes, &count);
        free(proposed);
        for (size_t j = 0; kind->tried != NULL && kind->tried[j] != NULL; j++)
            if (kind->applies == NULL || kind->applies(&whatif->baseline, kind->tried[j]))
                add_tried(kind, kind->tried[j], changes, &count);
    }
    return count;
}

void gt_whatif_free_tried(struct gt_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)changes[i].spec);
    free(changes);
}
