#include "sim/cmd/report/predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cmd/input/common.h"
#include "sim/cmd/input/inquiry.h"
#include "sim/cmd/print/terminal.h"
#include "traces/explain/run_options.h"
#include "traces/store/answers.h"
#include "traces/store/run_rows.h"

enum { WHY_BYTES = 300 };

struct gt_predicting {
    char *path;   /* of the trace */
    char *device; /* the run's */
    char why_not[WHY_BYTES];
    enum { NOT_READ, READY, REFUSED } state;
    bool quiet; /* no progress */
    bool bars;  /* as the run's own options */
    struct gt_model_options model;
    struct gt_inquiry inquiry;
    struct gt_whatif whatif;
    struct gt_change *tried;
    size_t tried_count;
};

static void say_why_not(struct gt_predicting *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_why_not(struct gt_predicting *p, const char *format, ...)
{
    size_t begun = (size_t)snprintf(p->why_not, sizeof p->why_not, "no predicted gains: ");
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(p->why_not + begun, sizeof p->why_not - begun, format, arguments);
    va_end(arguments);
}

/* The trace again, and its baseline. */
static int read_trace(struct gt_predicting *p, struct gt_error *error)
{
    struct gt_whatif_subject subject;

    if (gt_inquiry_begin(&p->inquiry, p->path, &p->model, NULL, true, error) != 0)
        return -1;
    if (strcmp(p->inquiry.device.name, p->device) != 0)
        return gt_error_set(error, "the run is for %.80s, its trace for %.80s", p->device, p->inquiry.device.name);
    subject = gt_inquiry_subject(&p->inquiry, &p->model, p->bars);
    if (gt_whatif_begin(&p->whatif, &subject, error) != 0) {
        gt_whatif_free(&p->whatif);
        return -1;
    }
    p->tried_count = gt_whatif_tried(&p->whatif, &p->tried);
    return 0;
}

/* Would the change do anything here?  A kind that `whatif --all` looks whether it applies is only asked where it does. */
static bool applies(const struct gt_predicting *p, const struct gt_change *change)
{
    for (size_t i = 0; i < p->tried_count; i++)
        if (p->tried[i].kind == change->kind)
            return true;
    return change->kind->applies == NULL && change->kind->tried == NULL;
}

/* A step of the steady state, with its interval; false where the recording does not tell how long one takes. */
static bool take(const struct gt_whatif *whatif, const struct gt_answer *answer, struct gt_prediction *prediction)
{
    prediction->of_step = whatif->facts.steps.count > 1 || whatif->steady.workload != NULL;
    prediction->baseline_us = whatif->step_us;
    prediction->predicted_us = answer->step_us;
    prediction->low_us = answer->low_us;
    prediction->high_us = answer->high_us;
    prediction->profiler_removed = whatif->facts.profiled;
    snprintf(prediction->trust, sizeof prediction->trust, "%s", gt_scenario_trust_text(&answer->scenario));
    return isfinite(answer->step_us) && whatif->step_us > 0;
}

/* The answer to one form of a change, where it is known and better than what is there (`found`). */
static int try_change(struct gt_predicting *p, const struct gt_change *change, bool found,
                      struct gt_prediction *prediction)
{
    struct gt_prediction one = *prediction;
    struct gt_progress progress;
    const struct gt_probe probe = { .user = &progress, .progress = gt_progress_probe };
    struct gt_answer answer;
    struct gt_error refused;
    int known = 0;

    gt_progress_begin(&progress, "predicting a recommended change", p->quiet);
    if (gt_whatif_answer(&p->whatif, change, 1, &probe, &answer, &refused) == 0 && take(&p->whatif, &answer, &one)) {
        snprintf(one.change, sizeof one.change, "%s", change->spec);
        known = !found || one.predicted_us < prediction->predicted_us;
    }
    gt_progress_end(&progress);
    if (known)
        *prediction = one;
    gt_answer_free(&answer);
    return known || found;
}

static void get_ready(struct gt_predicting *p)
{
    struct gt_error error;

    if (p->state != NOT_READ)
        return;
    p->state = read_trace(p, &error) == 0 ? READY : REFUSED;
    if (p->state == REFUSED)
        say_why_not(p, "%.240s", error.text);
}

static int predict(void *user, const char *spec, struct gt_prediction *prediction)
{
    struct gt_predicting *p = user;
    struct gt_change change;
    struct gt_error error;
    int known;

    get_ready(p);
    if (p->state == REFUSED || gt_change_parse(spec, &change, &error) != 0 || !applies(p, &change))
        return 0;
    known = try_change(p, &change, false, prediction);
    for (size_t i = 0; i < p->tried_count; i++)
        if (p->tried[i].kind == change.kind && strcmp(p->tried[i].spec, spec) != 0)
            known = try_change(p, &p->tried[i], known, prediction);
    return known;
}

/* Where the trace is, if it is still the one that was read: by its absolute path, or as it was named. */
static char *find_trace(const struct gt_trace_source *source, const char *named)
{
    const char *const paths[] = { source->path, named };

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct gt_file_sum sum;

        if (paths[i] != NULL && gt_file_sum(paths[i], &sum) && sum.bytes == source->sum.bytes &&
            sum.crc32 == source->sum.crc32)
            return gt_strdup(paths[i]);
    }
    return NULL;
}

/* The trace to ask, or why none is asked. */
static void find_asked(struct gt_predicting *p, const struct gt_trace_source *source, const char *named,
                       int64_t without, const struct gt_run_options *options)
{
    if (without != 0)
        say_why_not(p, "this run has a change; 'gridtide whatif' compares with the recording");
    else if (source->path == NULL)
        say_why_not(p, "the store does not contain the path of its trace; create it again with 'gridtide run'");
    else if (options->other[0] != '\0')
        say_why_not(p, "this run used %s, and predictions would be without it", options->other);
    else if ((p->path = find_trace(source, named)) == NULL)
        say_why_not(p, "%.180s is %s", named != NULL ? named : source->path,
                    access(source->path, R_OK) == 0 ? "a different file from the one that this store was created from"
                                                    : "missing");
}

static int find_source(struct gt_predicting *p, struct gt_store *store, int64_t run_id, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);
    struct gt_trace_source source = { .path = NULL };
    struct gt_run_head names = { .trace = NULL };
    int64_t trace_id = 0, without = 0;
    char *named = NULL;
    int result = -1;

    if (gt_query_one(database, "SELECT trace_id FROM run WHERE run_id = ?1", run_id, 0, &trace_id, error) >= 0 &&
        gt_store_find_baseline(store, run_id, &without, error) == 0 &&
        gt_run_head(database, run_id, &names, error) == 0 &&
        gt_store_find_trace_file(database, trace_id, &named, error) == 0 &&
        gt_store_find_trace_source(database, trace_id, &source, error) == 0) {
        const struct gt_run_options options = gt_run_options_read(names.options);

        p->device = gt_strdup(names.device);
        p->model.seed = options.seed;
        p->bars = options.bars;
        find_asked(p, &source, named, without, &options);
        result = 0;
    }
    gt_run_head_free(&names);
    free(source.path);
    free(named);
    return result;
}

struct gt_predicting *gt_predicting_begin(struct gt_store *store, int64_t run_id, bool quiet,
                                          struct gt_predictor *predictor, struct gt_error *error)
{
    struct gt_predicting *p = gt_calloc(1, sizeof *p);
    const struct gt_model_options model = GT_MODEL_OPTIONS_DEFAULT;

    p->quiet = quiet;
    p->model = model;
    p->model.quiet = true;
    *predictor = (struct gt_predictor){ .user = p };
    if (find_source(p, store, run_id, error) != 0) {
        gt_predicting_end(p);
        return NULL;
    }
    if (p->path != NULL)
        predictor->predict = predict;
    predictor->why_not = p->why_not;
    return p;
}

void gt_predicting_end(struct gt_predicting *p)
{
    if (p == NULL)
        return;
    if (p->state == READY) {
        gt_whatif_free_tried(p->tried, p->tried_count);
        gt_whatif_free(&p->whatif);
    }
    if (p->state != NOT_READ)
        gt_inquiry_free(&p->inquiry);
    free(p->path);
    free(p->device);
    free(p);
}
