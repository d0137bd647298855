#include "traces/explain/overview.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/changes/changes.h"
#include "traces/explain/run_options.h"
#include "traces/names/clean_text.h"

/* What is less of a step is not worth a line. */
static const double least_pct = 1;

/* A finding that may be shown: what it is worth, as a percentage of a step. */
struct candidate {
    struct gt_overview_finding row;
    bool bounds; /* it is about what bounds the step */
    double worth_pct;
};

/* No more than all time of its kind: copies in both directions at once are about the same time. */
static double about_pct(const struct gt_overview *overview, const struct gt_finding *finding)
{
    const struct gt_breakdown *breakdown = &overview->breakdown;
    gt_time_ps most_ps = finding->time_kind >= 0 ? breakdown->ps[finding->time_kind] : breakdown->total_ps;
    gt_time_ps about_ps = finding->about_ps < most_ps ? finding->about_ps : most_ps;

    return breakdown->total_ps > 0 ? 100 * (double)about_ps / (double)breakdown->total_ps : 0;
}

/* A change is asked for once: findings that name the same one have the same answer. */
static void ask(const struct gt_predictor *predictor, const struct candidate *before, size_t count,
                struct candidate *candidate)
{
    const char *change = candidate->row.finding->change;
    struct gt_prediction *prediction = &candidate->row.prediction;

    candidate->row.gain_pct = NAN;
    if (change == NULL || predictor->predict == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (before[i].row.finding->change != NULL && strcmp(before[i].row.finding->change, change) == 0) {
            candidate->row = before[i].row;
            return;
        }
    }
    *prediction = (struct gt_prediction){ .low_us = NAN, .high_us = NAN };
    if (predictor->predict(predictor->user, change, prediction) == 1 && prediction->baseline_us > 0)
        candidate->row.gain_pct = 100 * (1 - prediction->predicted_us / prediction->baseline_us);
    candidate->row.predicted = candidate->row.gain_pct >= least_pct;
}

/* Is it worth a line? */
static bool weigh(const struct gt_overview *overview, const struct gt_predictor *predictor,
                  struct candidate *candidate)
{
    const struct gt_finding *finding = candidate->row.finding;
    bool measured = finding->time_kind >= 0;

    candidate->bounds = measured && finding->time_kind == (int)gt_breakdown_most(&overview->breakdown);
    candidate->worth_pct = candidate->row.predicted ? candidate->row.gain_pct : about_pct(overview, finding);
    if (candidate->row.predicted)
        return true;
    if (!measured && (finding->change == NULL || predictor->predict != NULL))
        return false;
    return candidate->worth_pct >= least_pct;
}

static int by_worth(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;

    if (left->bounds != right->bounds)
        return left->bounds ? -1 : 1;
    if (left->worth_pct != right->worth_pct)
        return left->worth_pct > right->worth_pct ? -1 : 1;
    return (left->row.finding > right->row.finding) - (left->row.finding < right->row.finding);
}

/* Does one that is shown already recommend the same change? */
static bool is_shown(const struct gt_overview *overview, const struct candidate *candidate)
{
    for (size_t i = 0; i < overview->count && candidate->row.predicted; i++)
        if (overview->findings[i].predicted &&
            strcmp(overview->findings[i].finding->change, candidate->row.finding->change) == 0)
            return true;
    return false;
}

static void choose(struct gt_overview *overview, const struct gt_predictor *predictor)
{
    struct candidate *candidates = gt_calloc(overview->all_count + 1, sizeof *candidates);
    size_t kept = 0;

    for (size_t i = 0; i < overview->all_count; i++) {
        candidates[i].row.finding = &overview->all[i];
        ask(predictor, candidates, i, &candidates[i]);
        candidates[i].row.finding = &overview->all[i];
    }
    for (size_t i = 0; i < overview->all_count; i++)
        if (weigh(overview, predictor, &candidates[i]))
            candidates[kept++] = candidates[i];
    if (kept > 0)
        qsort(candidates, kept, sizeof *candidates, by_worth);
    for (size_t i = 0; i < kept && overview->count < GT_OVERVIEW_FINDINGS; i++)
        if (!is_shown(overview, &candidates[i]))
            overview->findings[overview->count++] = candidates[i].row;
    free(candidates);
}

void gt_overview_find(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *tasks, size_t task_count,
                      const struct gt_predictor *predictor, struct gt_overview *overview)
{
    enum gt_time_kind most;

    *overview = (struct gt_overview){ .asked = predictor->predict != NULL };
    gt_breakdown_find(run, &overview->breakdown);
    most = gt_breakdown_most(&overview->breakdown);
    overview->bound_by = gt_time_kind_bounds[most];
    if (overview->breakdown.total_ps > 0)
        overview->bound_share = (double)overview->breakdown.ps[most] / (double)overview->breakdown.total_ps;
    overview->all = gt_findings(run, &overview->breakdown, tasks, task_count, &overview->all_count);
    choose(overview, predictor);
    if (predictor->why_not != NULL && predictor->why_not[0] != '\0')
        overview->why_not = predictor->why_not;
}

void gt_overview_free(struct gt_overview *overview)
{
    gt_breakdown_free(&overview->breakdown);
    free(overview->all);
    *overview = (struct gt_overview){ .all = NULL };
}

static uint32_t count_gpus(const struct gt_breakdown *breakdown)
{
    uint32_t count = 0;

    for (size_t i = 0, j; i < breakdown->step_count; i = breakdown->steps[i].behind) {
        for (j = 0; j < i && breakdown->steps[j].gpu != breakdown->steps[i].gpu;)
            j = breakdown->steps[j].behind;
        count += j == i;
    }
    return count;
}

char *gt_overview_steps_text(const struct gt_overview *overview)
{
    const struct gt_breakdown *breakdown = &overview->breakdown;
    struct gt_time_text each = gt_time_said((double)breakdown->total_ps / fmax(1, (double)breakdown->counted));
    uint32_t gpus = count_gpus(breakdown);
    char *places = gpus > 1 ? gt_format(" on %" PRIu32 " GPUs", gpus) : gt_strdup(""), *text;
    bool left_out = breakdown->counted < breakdown->step_count;

    if (!breakdown->marked)
        text = gt_format("%s%s, no steps marked", each.s, places);
    else if (breakdown->lane_count > 1)
        text = gt_format("%zu steps of %s in total%s%s", breakdown->counted, each.s, places,
                         left_out ? " (first steps that start before the first CUDA call are excluded)" : "");
    else
        text = gt_format("%zu step%s of %s%s", breakdown->counted, breakdown->counted == 1 ? "" : "s", each.s,
                         left_out ? " (the first step starts before the first CUDA call and is excluded)" : "");
    free(places);
    return text;
}

char *gt_overview_gain_text(const struct gt_overview_finding *finding)
{
    const struct gt_prediction *p = &finding->prediction;
    char *interval, *text;

    if (!finding->predicted)
        return NULL;
    interval = isfinite(p->low_us) && isfinite(p->high_us)
                   ? gt_format(" (%s to %s)", gt_time_said(p->low_us * 1e6).s, gt_time_said(p->high_us * 1e6).s)
                   : gt_strdup("");
    text = gt_format("predicted: %.1f%% shorter, %s -> %s%s%s%s; trust %s", finding->gain_pct,
                     gt_time_said(p->baseline_us * 1e6).s, gt_time_said(p->predicted_us * 1e6).s, interval,
                     p->of_step ? " a step" : " in total", p->profiler_removed ? ", without profiler overhead" : "",
                     p->trust);
    free(interval);
    return text;
}

char *gt_overview_help_text(const struct gt_overview_finding *row)
{
    const struct gt_finding *finding = row->finding;

    if (finding->help[0] == '\0')
        return NULL;
    if (row->predicted || !isfinite(row->gain_pct))
        return gt_strdup(finding->help);
    return gt_format("%s (predicted gain of --change %s alone: less than 1%%)", finding->help, finding->change);
}

static char *ask_text(const struct gt_loaded_run *run, const char *change)
{
    const struct gt_run_options options = gt_run_options_read(run->options);
    char *word = run->asked[0] != '\0' ? gt_shell_word(run->asked) : gt_strdup("TRACE");
    char *seed = options.seed != 1 ? gt_format(" --seed=%" PRIu64, options.seed) : gt_strdup("");
    char *text =
        gt_format("gridtide whatif %s%s%s --change %s", word, options.bars ? " --blocks=off" : "", seed, change);

    free(word);
    free(seed);
    return text;
}

char *gt_finding_ask_text(const struct gt_loaded_run *run, const struct gt_finding *finding)
{
    struct gt_change change;

    if (finding->change == NULL ||
        (run->gpu_unmodelled && (gt_change_parse(finding->change, &change, NULL) != 0 || !change.kind->keeps_gpu)))
        return NULL;
    return ask_text(run, finding->change);
}

char *gt_overview_ask_text(const struct gt_loaded_run *run, const struct gt_overview *overview,
                           const struct gt_overview_finding *finding)
{
    if (finding->predicted)
        return ask_text(run, finding->prediction.change);
    return overview->asked ? NULL : gt_finding_ask_text(run, finding->finding);
}
