/* run_result.c - what `gridtide run` says when it is done. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/baseline/fit.h"
#include "sim/baseline/recording_cost.h"
#include "sim/baseline/timeline.h"
#include "sim/cmd/print/table.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/run/run_parts.h"
#include "sim/collectives/cost.h"
#include "traces/explain/why.h"
#include "traces/names/clean_text.h"

/* The first operation, as recorded, whose start or length is off by more than 1 % of the recorded makespan, and 2 us.
 * Each run's times are from the first start among the operations that both have. */
struct gt_departure {
    gt_op_index op;
    bool in_length;                       /* it starts in time, and takes longer or shorter; else its start is off */
    gt_time_ps recorded_ps, simulated_ps; /* of its start; its length */
    gt_time_ps at_ps;                     /* its recorded start */
    char place[GT_HOLDER_BYTES];          /* its name and stream */
    struct gt_hold hold;                  /* what it waited for most in the replay, since the operation before it */
};

/* Where a replay first departs from what was recorded. */

/* As allowed of starts in comparisons: 1 % of the makespan, or 2 us. */
static const gt_time_ps least_ps = 2 * UINT64_C(1000000);
enum { MAKESPAN_PARTS = 100 };

struct runs {
    struct gt_loaded_run *simulated, *measured;
    gt_time_ps simulated_first_ps, measured_first_ps; /* of the operations that both have */
};

static bool in_both(const struct runs *runs, gt_op_index op)
{
    return op < runs->simulated->op_count && runs->simulated->ops[op].there && runs->measured->ops[op].there;
}

static void align(struct runs *runs)
{
    runs->simulated_first_ps = runs->measured_first_ps = GT_TIME_NONE;
    for (uint32_t i = 0; i < runs->measured->started; i++) {
        gt_op_index op = runs->measured->by_start[i];

        if (!in_both(runs, op))
            continue;
        if (runs->simulated->ops[op].start_ps < runs->simulated_first_ps)
            runs->simulated_first_ps = runs->simulated->ops[op].start_ps;
        if (runs->measured->ops[op].start_ps < runs->measured_first_ps)
            runs->measured_first_ps = runs->measured->ops[op].start_ps;
    }
}

static gt_time_ps between(gt_time_ps a, gt_time_ps b)
{
    return a > b ? a - b : b - a;
}

static bool is_off(const struct runs *runs, gt_op_index op, struct gt_departure *departure)
{
    const struct gt_loaded_op *simulated = &runs->simulated->ops[op], *measured = &runs->measured->ops[op];
    gt_time_ps allowed_ps = (runs->measured->last_ps - runs->measured->first_ps) / MAKESPAN_PARTS;

    allowed_ps = allowed_ps > least_ps ? allowed_ps : least_ps;
    departure->op = op;
    departure->at_ps = measured->start_ps - runs->measured_first_ps;
    departure->in_length = false;
    departure->recorded_ps = departure->at_ps;
    departure->simulated_ps = simulated->start_ps - runs->simulated_first_ps;
    if (between(departure->recorded_ps, departure->simulated_ps) > allowed_ps)
        return true;
    departure->in_length = true;
    departure->recorded_ps = measured->end_ps - measured->start_ps;
    departure->simulated_ps = simulated->end_ps - simulated->start_ps;
    return between(departure->recorded_ps, departure->simulated_ps) > allowed_ps;
}

static void find_hold(const struct gt_loaded_run *run, struct gt_departure *departure)
{
    const struct gt_loaded_op *op = &run->ops[departure->op];
    gt_time_ps waited_ps = 0;

    for (int wait = 0; wait < GT_WAITS; wait++)
        waited_ps += op->wait_ps[wait];
    gt_why(run, departure->op, waited_ps < op->start_ps ? op->start_ps - waited_ps : 0, op->start_ps,
           &departure->hold);
    gt_loaded_op_place(run, departure->op, departure->place, sizeof departure->place);
}

static int find(const struct runs *runs, struct gt_departure *departure)
{
    for (uint32_t i = 0; i < runs->measured->started; i++) {
        gt_op_index op = runs->measured->by_start[i];

        if (!in_both(runs, op) || !is_off(runs, op, departure))
            continue;
        find_hold(runs->simulated, departure);
        return 1;
    }
    return 0;
}

/* Of a simulated run against a measured one of the same operations.  1: found; 0: none is off by so much; -1 with the
 * reason. */
static int departure_find(struct gt_database *database, int64_t simulated_run, int64_t measured_run,
                          struct gt_departure *departure, struct gt_error *error)
{
    struct runs runs = { .simulated = gt_loaded_run_load(database, simulated_run, error) };
    int result = -1;

    if (runs.simulated != NULL)
        runs.measured = gt_loaded_run_load(database, measured_run, error);
    if (runs.measured != NULL) {
        align(&runs);
        result = find(&runs, departure);
    }
    gt_loaded_run_free(runs.simulated);
    gt_loaded_run_free(runs.measured);
    return result;
}

enum { TEXT_BYTES = 64 };

/* "1,234 us"; fewer than 100 with three digits. */
static const char *time_text(double time_us, char text[TEXT_BYTES])
{
    char digits[TEXT_BYTES];
    size_t length, at = 0;

    if (fabs(time_us) < 99.95 || fabs(time_us) >= 1e15) {
        snprintf(text, TEXT_BYTES, "%.3g us", time_us);
        return text;
    }
    length = (size_t)snprintf(digits, sizeof digits, "%.0f", time_us);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    strcpy(text + at, " us");
    return text;
}

/* ", 12% shorter than without the change" */
static void write_change(FILE *out, double pct)
{
    if (fabs(pct) < 0.05)
        fputs(", as without the change", out);
    else
        fprintf(out, ", %.*f%% %s than without the change", fabs(pct) < 9.95 ? 1 : 0, fabs(pct),
                pct < 0 ? "shorter" : "longer");
}

/* "step 288 us, 12% longer than without the change (258 us); 90% interval 265 us to 311 us; trust low" */
static void write_step(FILE *out, const struct gt_run_engine *engine)
{
    char step[TEXT_BYTES], without[TEXT_BYTES], low[TEXT_BYTES], high[TEXT_BYTES];

    if (isnan(engine->answer.step_us))
        fputs("step unknown", out);
    else
        fprintf(out, "step %s", time_text(engine->answer.step_us, step));
    if (!isnan(engine->answer.change_pct))
        write_change(out, engine->answer.change_pct);
    fprintf(out, " (%s); 90%% interval %s to %s; trust %s", time_text(engine->whatif.step_us, without),
            time_text(engine->answer.low_us, low), time_text(engine->answer.high_us, high),
            gt_scenario_trust_text(&engine->answer.scenario));
}

/* "makespan 1,234 us, 12% shorter than without the change (1,402 us; recorded 1,410 us)" */
static void write_makespan(FILE *out, const struct gt_run_work *work)
{
    const struct gt_comparison *change = &work->change, *without = &work->without.comparison;
    char text[TEXT_BYTES];

    fprintf(out, "makespan %s", time_text(change->makespan_simulated_us, text));
    write_change(out, change->makespan_error_pct);
    fprintf(out, " (%s", time_text(change->makespan_measured_us, text));
    if (!isnan(without->makespan_measured_us))
        fprintf(out, "; recorded %s", time_text(without->makespan_measured_us, text));
    fputc(')', out);
}

static void tell_change(const struct gt_run_work *work)
{
    char *text;
    size_t bytes;
    FILE *out;

    if (isnan(work->change.makespan_error_pct))
        return;
    out = open_memstream(&text, &bytes);
    if (out == NULL)
        gt_no_memory("a text");
    if (work->engine.asked)
        write_step(out, &work->engine);
    else
        write_makespan(out, work);
    fclose(out);
    fputc('\n', stdout);
    gt_fold_print(stdout, 0, text);
    free(text);
    gt_run_print_change(stdout, work);
}

/* "makespan 1,234 us; 90% interval 1,200 us to 1,300 us, from ..." */
static void tell_range(const struct gt_run_work *work)
{
    const struct gt_makespan_range *range = &work->asked.range;
    char makespan_text[TEXT_BYTES], low_text[TEXT_BYTES], high_text[TEXT_BYTES], *text;

    if (range->draws == 0)
        return;
    time_text(work->asked.comparison.makespan_simulated_us, makespan_text);
    time_text(range->low_us, low_text);
    time_text(range->high_us, high_text);
    if (asprintf(&text, "makespan %s; 90%% interval %s to %s, from host noise and the simulator's own error",
                 makespan_text, low_text, high_text) < 0)
        gt_no_memory("a text");
    fputc('\n', stdout);
    gt_fold_print(stdout, 0, text);
    free(text);
}

/* Beside the makespan, which rests on it. */
static void tell_extrapolated(const struct gt_run_work *work)
{
    uint64_t count = work->asked.extrapolated;
    char *why;

    if (count == 0)
        return;
    why = gt_collective_why_extrapolated(&work->asked.device);
    if (why != NULL)
        printf("\nextrapolated: %" PRIu64 " collective%s; %s\n", count, count > 1 ? "s" : "", why);
    else
        printf("\nextrapolated: %" PRIu64 " collective%s more than the %" PRIu32 " GPUs that were measured\n", count,
               count > 1 ? "s use" : " uses", work->asked.device.collective.measured_ranks);
    free(why);
}

/* What recording took is in all of these times. */
static void tell_recording(const struct gt_run_work *work)
{
    double host_us = gt_recording_host_us(work->workload);
    char time[TEXT_BYTES], *text;

    if (work->changed || host_us == 0)
        return;
    time_text(host_us, time);
    text = gt_format("these times include recording overhead: %s of host time at %" PRIu32 " calls, as measured "
                     "on that machine; 'gridtide whatif' subtracts it",
                     time, work->workload->call_count);
    fputc('\n', stdout);
    gt_fold_print(stdout, 0, text);
    free(text);
}

/* What was written, and what one does with it. */
static void tell_next(const struct gt_run_work *work)
{
    char *text;

    if (asprintf(&text, "written to %s; next: 'gridtide %s %s'%s", work->output,
                 work->kernels.count > 0 ? "compare" : "explain", work->output,
                 work->kernels.count > 0 ? ", or 'gridtide explain' with a kernel's name"
                                         : " for what limits the run; or stats, report, compare, export") < 0)
        gt_no_memory("a text");
    fputc('\n', stdout);
    gt_fold_print(stdout, 0, text);
    free(text);
    if (work->changed || work->measured_run == 0)
        return;
    text = gt_format("to find what makes it faster: 'gridtide whatif %s --all'", work->arguments->trace);
    gt_fold_print(stdout, 0, text);
    free(text);
}

void gt_run_print_result(const struct gt_run_work *work)
{
    enum gt_format format = work->arguments->format;

    gt_run_print_tables(work, format);
    if (format != GT_FORMAT_TABLE || gt_tables_chosen())
        return;
    if (work->kernels.count > GT_RUN_KERNELS_SHOWN)
        fprintf(stderr, "gridtide: %" PRIu32 " launches have simulated cycles; 'gridtide compare' lists them\n",
                work->kernels.count);
    if (work->changed)
        tell_change(work);
    tell_range(work);
    tell_extrapolated(work);
    tell_recording(work);
    tell_next(work);
}

/* A replay that is far from its recording says where it first departs. */

/* Replays within this are taken for what was recorded. */
static const double allowed_pct = 3;

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

static char *say_departure(const struct gt_departure *departure)
{
    double off_us = us(departure->simulated_ps) - us(departure->recorded_ps);

    if (departure->in_length)
        return gt_format("the first difference is at %.1f us, where %s (operation %" PRIu32 ") takes %.1f us "
                         "instead of %.1f us",
                         us(departure->at_ps), departure->place, departure->op, us(departure->simulated_ps),
                         us(departure->recorded_ps));
    return gt_format("the first difference is at %.1f us, where %s (operation %" PRIu32 ") starts %.1f us %s; in "
                     "the replay it waited for: %s (%s)",
                     us(departure->at_ps), departure->place, departure->op, fabs(off_us),
                     off_us > 0 ? "late" : "early", gt_why_names[departure->hold.why], departure->hold.holder);
}

/* Profiles do not say how many connections there were. */
static char *say_remedy(const struct gt_run_work *work, const struct gt_run_variant *replay, double error_pct)
{
    uint32_t connections = 0;

    if (!replay->simulated.no_inference)
        connections = gt_fit_connections(work->workload, &replay->device, &replay->simulated,
                                         gt_recorded_us(work->workload), error_pct / 100);

    if (connections == 0)
        return gt_strdup("what-if predictions from this trace are unreliable");
    return gt_format("CUDA_DEVICE_MAX_CONNECTIONS=%" PRIu32 " would remove the difference: try --set "
                     "scheduling.connections=%" PRIu32,
                     connections, connections);
}

static int warn(struct gt_run_work *work, const struct gt_run_variant *replay, double error_pct,
                const struct gt_departure *departure)
{
    static char kind[] = "replay-departs";
    char *where = departure != NULL ? say_departure(departure)
                                    : gt_format("no single operation differs by more than 1%% of it");
    char *remedy = say_remedy(work, replay, error_pct);
    char *text = gt_format("the replay is %.1f%% %s than the recording: %s; %s", fabs(error_pct),
                           error_pct > 0 ? "longer" : "less", where, remedy);
    struct gt_warning warning = { .kind = kind, .text = text, .count = 1 };
    int result = gt_store_put_warning(work->store, work->trace_id, &warning, work->error);

    if (result == 0 && !work->arguments->model.quiet) {
        char *clean = gt_clean_name(text);

        fprintf(stderr, "gridtide: warning: %s: %s\n", kind, clean);
        free(clean);
    }
    free(where);
    free(remedy);
    free(text);
    return result;
}

int gt_run_warn_of_departure(struct gt_run_work *work)
{
    const struct gt_run_variant *replay = work->changed ? &work->without : &work->asked;
    double error_pct = replay->comparison.makespan_error_pct;
    struct gt_departure departure;
    int found;

    if (work->measured_run == 0 || isnan(error_pct) || fabs(error_pct) <= allowed_pct)
        return 0;
    found =
        departure_find(gt_store_database(work->store), replay->run_id, work->measured_run, &departure, work->error);
    return found < 0 ? -1 : warn(work, replay, error_pct, found == 1 ? &departure : NULL);
}
