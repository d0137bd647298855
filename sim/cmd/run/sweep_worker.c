/* A worker of a sweep: told a point, it answers; the trace of the last one is kept ready for the next. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "sim/cmd/input/common.h"
#include "sim/cmd/input/inquiry.h"
#include "sim/cmd/run/sweep_frame.h"
#include "sim/cmd/run/sweep_parts.h"

/* The trace at hand. */
struct ready {
    int64_t number; /* -1: there is none */
    struct gt_inquiry inquiry;
    struct gt_whatif whatif;
    bool failed; /* it cannot be asked about */
    bool unread; /* nor can any: programs cannot be read, */
    struct gt_error reason;
};

static void let_go(struct ready *ready)
{
    if (ready->number >= 0)
        gt_whatif_free(&ready->whatif);
    memset(&ready->whatif, 0, sizeof ready->whatif);
    gt_inquiry_free(&ready->inquiry);
    ready->number = -1;
}

static int begin(struct ready *ready, const struct gt_sweep_arguments *arguments, struct gt_error *error)
{
    struct gt_whatif_subject subject;

    if (ready->unread) {
        *error = ready->reason;
        return -1;
    }
    if (gt_inquiry_begin(&ready->inquiry, arguments->traces[ready->number], &arguments->model, arguments->independent,
                         true, error) != 0)
        return -1;
    subject = gt_inquiry_subject(&ready->inquiry, &arguments->model, arguments->bars);
    return gt_whatif_begin(&ready->whatif, &subject, error);
}

static void say_failed(uint32_t number, const struct gt_error *error)
{
    struct gt_frame frame;

    gt_frame_begin(&frame, GT_FRAME_FAILED);
    gt_frame_integer(&frame, number);
    gt_frame_text(&frame, error->text);
    gt_frame_send(&frame, stdout);
}

static void say_trace(const struct ready *ready)
{
    const struct gt_grade_facts *facts = &ready->whatif.facts;
    struct gt_frame frame;

    gt_frame_begin(&frame, GT_FRAME_TRACE);
    gt_frame_integer(&frame, ready->number);
    gt_frame_text(&frame, ready->inquiry.name);
    gt_frame_text(&frame, ready->inquiry.device.name);
    gt_frame_real(&frame, facts->measured_us);
    gt_frame_real(&frame, facts->replay_us);
    gt_frame_real(&frame, facts->baseline_us);
    gt_frame_real(&frame, ready->whatif.step_us);
    gt_frame_integer(&frame, facts->steps.count);
    gt_frame_send(&frame, stdout);
}

static void make_ready(struct ready *ready, uint32_t number, const struct gt_sweep_arguments *arguments)
{
    struct gt_error error = { "" };

    if (ready->number == number)
        return;
    let_go(ready);
    ready->number = number;
    ready->failed = begin(ready, arguments, &error) != 0;
    if (ready->failed)
        say_failed(number, &error);
    else
        say_trace(ready);
}

/* A line each. */
static char *assumptions_of(const struct gt_scenario *scenario)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        gt_no_memory("a text");
    for (uint32_t i = 0; i < scenario->assumption_count; i++)
        fprintf(out, "%s%s", i > 0 ? "\n" : "", scenario->assumptions[i]);
    fclose(out);
    return text;
}

static void say_answer(uint64_t point, const struct gt_answer *answer, const char *refusal)
{
    char *assumptions = assumptions_of(&answer->scenario);
    bool answered = refusal == NULL;
    struct gt_frame frame;

    gt_frame_begin(&frame, GT_FRAME_POINT);
    gt_frame_integer(&frame, (long long)point);
    gt_frame_text(&frame, answer->change);
    gt_frame_real(&frame, answered ? answer->predicted_us : NAN);
    gt_frame_real(&frame, answered ? answer->step_us : NAN);
    gt_frame_real(&frame, answered ? answer->low_us : NAN);
    gt_frame_real(&frame, answered ? answer->high_us : NAN);
    gt_frame_real(&frame, answered ? answer->change_pct : NAN);
    gt_frame_text(&frame, answered ? gt_scenario_trust_text(&answer->scenario) : "");
    gt_frame_text(&frame, answered ? assumptions : "");
    gt_frame_text(&frame, answered ? gt_bound_names[answer->bound_by] : "");
    gt_frame_real(&frame, answered ? 100 * answer->part[answer->bound_by] : NAN);
    gt_frame_text(&frame, refusal);
    gt_frame_send(&frame, stdout);
    free(assumptions);
}

static void answer(const struct ready *ready, const struct gt_sweep_arguments *arguments, uint64_t point)
{
    struct gt_change changes[GT_GRID_PARAMETERS_MAX];
    uint32_t count = gt_change_grid_at(&arguments->grid, point, changes);
    struct gt_error error = { "" };
    struct gt_answer answer;
    int result = gt_whatif_answer(&ready->whatif, changes, count, NULL, &answer, &error);

    say_answer(point, &answer, result == 0 ? NULL : error.text);
    gt_answer_free(&answer);
}

int gt_sweep_serve(struct gt_sweep_arguments *arguments)
{
    struct ready ready = { .number = -1 };
    uint64_t point;

    ready.unread = gt_profiles_read(&arguments->model.profiles, true, &ready.reason) != 0;

    signal(SIGINT, SIG_IGN); /* Ctrl-C is told to all; who started us ends us */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (scanf("%" SCNu64, &point) == 1 && point / arguments->grid.points < arguments->trace_count) {
        make_ready(&ready, (uint32_t)(point / arguments->grid.points), arguments);
        if (!ready.failed)
            answer(&ready, arguments, point);
    }
    let_go(&ready);
    return GT_EXIT_DONE;
}
