#include "sim/whatif/whatif.h"
#include "sim/training/training.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/baseline/fit_connections.h"
#include "sim/baseline/fit_priority.h"
#include "sim/training/join_ranks.h"
#include "sim/training/rank_count.h"
#include "sim/whatif/fit_host.h"
#include "sim/whatif/scale.h"

static struct gt_options options_of(const struct gt_whatif *whatif, const struct gt_scenario *scenario)
{
    struct gt_options options = whatif->subject.options;

    options.recorded_on = &scenario->recorded;
    options.learned = &whatif->learned;
    options.modelled = NULL; /* what it says is stated */
    options.program_cost = false;
    return options;
}

static int play(const struct gt_whatif *whatif, const struct gt_scenario *scenario, const struct gt_probe *probe,
                struct gt_timeline *timeline, struct gt_error *error)
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

static int play_us(struct gt_whatif *whatif, double *us, struct gt_error *error)
{
    struct gt_timeline timeline;
    bool divided;

    if (play(whatif, &whatif->baseline, NULL, &timeline, error) != 0)
        return -1;
    *us = gt_timeline_us(&timeline);
    whatif->crowded_stream = gt_timeline_crowded(&timeline, whatif->baseline.workload);
    whatif->step_us = gt_steps_us(whatif->baseline.workload, &timeline, whatif->facts.steps.count, &divided);
    gt_timeline_free(&timeline);
    return 0;
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

    device.connections = gt_fit_connections(subject->workload, subject->device, &subject->options, facts->measured_us,
                                            facts->replay_us / facts->measured_us - 1);
    if (device.connections == 0)
        return 0;
    gt_scenario_free(&whatif->baseline);
    if (state_on(whatif, &device, error) != 0)
        return -1;
    gt_scenario_assume(&whatif->baseline, GT_TRUST_MEDIUM,
                       "the recorded times are those of CUDA_DEVICE_MAX_CONNECTIONS=%u, not of %u",
                       device.connections, subject->device->connections);
    return 0;
}

/* Where the replay fits a stream before all others, the baseline has that. */
static int fit_priority(struct gt_whatif *whatif, struct gt_error *error)
{
    struct gt_whatif_subject *subject = &whatif->subject;
    struct gt_grade_facts *facts = &whatif->facts;
    const struct gt_workload *w = subject->workload;
    gt_stream_index stream = gt_fit_priority(w, subject->device, &subject->options, facts->measured_us,
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
                       "the recorded times are those of stream %" PRIu64
                       " at a higher priority than the others, though the profile says no priorities",
                       w->streams[stream].id);
    return 0;
}

/* The same work takes the same time beside whatever it will run. */
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
    facts->measured_us = gt_recorded_us(subject->workload);
    if (state_on(whatif, subject->device, error) != 0 || fit_connections(whatif, error) != 0 ||
        fit_priority(whatif, error) != 0 || make_alike(whatif, error) != 0)
        return -1;
    facts->baseline_us = facts->alike_us;
    joined = gt_training_join_threads(&whatif->baseline);
    joined |= gt_join_ranks(&whatif->baseline);
    facts->profiled =
        gt_profiler_remove(&whatif->baseline, whatif->subject.workload, &whatif->learned, &facts->removed);
    if ((facts->profiled || joined) && gt_whatif_play_baseline(whatif, error) != 0)
        return -1;
    return subject->step_us > 0 ? gt_fit_host(whatif, error) : 0;
}

void gt_whatif_free(struct gt_whatif *whatif)
{
    gt_scenario_free(&whatif->baseline);
    gt_workload_free(whatif->told);
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

static void begin_like(struct gt_scenario *scenario, const struct gt_scenario *baseline)
{
    gt_scenario_begin(scenario, baseline->workload, &baseline->device, &baseline->recorded, baseline->host);
    scenario->host_pace = baseline->host_pace;
    for (uint32_t i = 0; i < baseline->assumption_count; i++)
        gt_scenario_assume(scenario, baseline->trust, "%s", baseline->assumptions[i]);
}

static void lengthen(gt_time_ps *time_ps, double part)
{
    if (*time_ps != GT_TIME_NONE)
        *time_ps += (gt_time_ps)(part * (double)*time_ps);
}

/* How much longer, as a part, the scenario would take if the profiler had cost the host less than its means: by then a
 * host that is nearly in the way is. */
static int play_slower_host(const struct gt_whatif *whatif, struct gt_answer *answer, double *longer,
                            struct gt_error *error)
{
    double part = gt_grade_host_varies(&whatif->facts);
    struct gt_scenario slower = answer->scenario;
    struct gt_timeline timeline;
    int result;

    *longer = 0;
    if (part == 0)
        return 0;
    slower.workload = gt_workload_copy(answer->scenario.workload);
    for (gt_call_index i = 0; i < slower.workload->call_count; i++) {
        lengthen(&slower.workload->calls[i].duration_ps, part);
        lengthen(&slower.workload->calls[i].before_ps, part);
    }
    result = play(whatif, &slower, NULL, &timeline, error);
    if (result == 0) {
        *longer = gt_timeline_us(&timeline) / answer->predicted_us - 1;
        gt_timeline_free(&timeline);
    }
    gt_workload_free(slower.workload);
    return result;
}

int gt_whatif_answer(const struct gt_whatif *whatif, const struct gt_change *changes, size_t count,
                     const struct gt_probe *probe, struct gt_answer *answer, struct gt_error *error)
{
    double baseline_us = whatif->facts.baseline_us, slower_host;
    struct gt_timeline timeline;
    bool divided;

    memset(answer, 0, sizeof *answer);
    answer->change = join(changes, count);
    begin_like(&answer->scenario, &whatif->baseline);
    if (gt_changes_apply(changes, count, &answer->scenario, error) != 0 ||
        gt_scale_kernels(&answer->scenario, error) != 0 ||
        play(whatif, &answer->scenario, probe, &timeline, error) != 0)
        return -1;
    gt_ranks_tell_extrapolated_collectives(&answer->scenario, timeline.summary.extrapolated);
    gt_grade_dropped(&answer->scenario, &whatif->facts, timeline.summary.dropped);
    answer->predicted_us = gt_timeline_us(&timeline);
    answer->step_us = gt_steps_us(answer->scenario.workload, &timeline, whatif->facts.steps.count, &divided);
    if (divided && whatif->facts.steps.count > 1)
        gt_scenario_assume(&answer->scenario, GT_TRUST_HIGH,
                           "steps cannot be told apart in it: a step is the whole time, divided by %u",
                           whatif->facts.steps.count);
    answer->change_pct = baseline_us > 0 ? 100 * (answer->predicted_us - baseline_us) / baseline_us : 0;
    answer->bound_by = gt_bound_of(answer->scenario.workload, &timeline, answer->part);
    gt_timeline_free(&timeline);
    if (play_slower_host(whatif, answer, &slower_host, error) != 0)
        return -1;
    gt_grade(&answer->scenario, &whatif->facts, answer->predicted_us, answer->part, slower_host);
    return 0;
}

void gt_answer_free(struct gt_answer *answer)
{
    free(answer->change);
    gt_scenario_free(&answer->scenario);
    memset(answer, 0, sizeof *answer);
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
        char *proposed = kind->proposed != NULL ? kind->proposed(&whatif->baseline, whatif->crowded_stream) : NULL;

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
