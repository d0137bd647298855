/* explain_overview.c - the first lines of `gridtide explain`: what bounds a step, where its time goes, what would help. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/cmd/print/fold.h"
#include "sim/cmd/report/explain_parts.h"
#include "traces/names/clean_text.h"
#include "traces/names/shell_word.h"
#include "traces/names/time_text.h"

enum { INDENT = 3 };

/* Kinds of time below this part of a step have no line for people. */
static const double least_share = 0.0005;

static void print_breakdown(FILE *out, const struct gt_breakdown *breakdown)
{
    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++) {
        double share = (double)breakdown->ps[kind] / (double)breakdown->total_ps;

        if (share >= least_share)
            fprintf(out, "  %-16s %9s %6.1f%%\n", gt_time_kind_labels[kind],
                    gt_time_said((double)breakdown->ps[kind] / (double)breakdown->counted).s, 100 * share);
    }
}

/* A paragraph, with names out of a trace made harmless; the text is freed. */
static void put(FILE *out, size_t indent, char *text)
{
    char *clean = gt_clean_name(text);

    gt_fold_print(out, indent, clean);
    free(clean);
    free(text);
}

static void print_finding(FILE *out, const struct gt_loaded_run *run, const struct gt_overview *overview, size_t i)
{
    const struct gt_overview_finding *row = &overview->findings[i];
    char *gain = gt_overview_gain_text(row), *ask = gt_overview_ask_text(run, overview, row);
    char *help = gt_overview_help_text(row);

    put(out, 0, gt_format("%zu. %s: %s", i + 1, row->finding->kind, row->finding->text));
    if (gain != NULL)
        put(out, INDENT, gain);
    else if (help != NULL)
        put(out, INDENT, gt_strdup(help));
    free(help);
    if (ask != NULL)
        put(out, INDENT, ask);
}

void gt_explain_print_overview(FILE *out, const struct gt_loaded_run *run, const struct gt_overview *overview,
                               const char *trust, const struct gt_explain_request *request)
{
    char *steps = gt_overview_steps_text(overview), *store = gt_shell_word(request->store);

    put(out, 0, gt_format("%s on %s: %s", run->trace, run->device.name, steps));
    if (overview->breakdown.total_ps > 0) {
        fprintf(out, "bound by %s: %.0f%% of %s\n\n", overview->bound_by, 100 * overview->bound_share,
                overview->breakdown.marked ? "a step" : "the run");
        print_breakdown(out, &overview->breakdown);
    }
    if (trust != NULL)
        fprintf(out, "trust %s\n", trust);
    putc('\n', out);
    for (size_t i = 0; i < overview->count; i++)
        print_finding(out, run, overview, i);
    if (overview->count == 0)
        fputs("no change is known that would gain 1% or more\n", out);
    if (overview->why_not != NULL)
        put(out, 0, gt_strdup(overview->why_not));
    putc('\n', out);
    if (!request->full)
        put(out, 0, gt_format("all tables: gridtide explain --full %s", store));
    free(steps);
    free(store);
}

struct gt_table *gt_explain_overview_table(const struct gt_loaded_run *run, const struct gt_overview *overview)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT }, { "bound_by", GT_COLUMN_TEXT },
        { "bound_by_pct", GT_COLUMN_NUMBER }, { "steps", GT_COLUMN_NUMBER }, { "step_us", GT_COLUMN_TIME },
        { "note", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    const struct gt_breakdown *breakdown = &overview->breakdown;
    bool known = breakdown->total_ps > 0;
    struct gt_table *table = gt_table_new("summary", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, run->trace);
    gt_table_text(table, run->device.name);
    gt_table_text(table, known ? overview->bound_by : NULL);
    gt_table_real(table, known ? 100 * overview->bound_share : NAN, 1);
    gt_table_integer(table, breakdown->marked ? (int64_t)breakdown->counted : 0);
    gt_table_real(table, known ? (double)breakdown->total_ps / (double)breakdown->counted / 1e6 : NAN, 3);
    gt_table_text(table, overview->why_not);
    return table;
}

struct gt_table *gt_explain_advised_table(const struct gt_loaded_run *run, const struct gt_overview *overview)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "finding", GT_COLUMN_TEXT }, { "about_us", GT_COLUMN_TIME }, { "gain_pct", GT_COLUMN_NUMBER },
        { "of", GT_COLUMN_TEXT }, { "baseline_us", GT_COLUMN_TIME }, { "predicted_us", GT_COLUMN_TIME }, { "interval_low_us", GT_COLUMN_TIME },
        { "interval_high_us", GT_COLUMN_TIME }, { "trust", GT_COLUMN_TEXT }, { "what", GT_COLUMN_WIDE },
        { "help", GT_COLUMN_WIDE }, { "ask", GT_COLUMN_WIDE },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("advised", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < overview->count; i++) {
        const struct gt_overview_finding *row = &overview->findings[i];
        char *ask = gt_overview_ask_text(run, overview, row);

        gt_table_text(table, row->finding->kind);
        gt_table_real(table, (double)row->finding->about_ps / 1e6, 3);
        gt_table_real(table, row->predicted ? row->gain_pct : NAN, 1);
        gt_table_text(table, !row->predicted ? NULL : row->prediction.of_step ? "step" : "run");
        gt_table_real(table, row->predicted ? row->prediction.baseline_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.predicted_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.low_us : NAN, 3);
        gt_table_real(table, row->predicted ? row->prediction.high_us : NAN, 3);
        gt_table_text(table, row->predicted ? row->prediction.trust : NULL);
        gt_table_text(table, row->finding->text);
        gt_table_text(table, row->finding->help[0] != '\0' ? row->finding->help : NULL);
        gt_table_text(table, ask);
        free(ask);
    }
    return table;
}
