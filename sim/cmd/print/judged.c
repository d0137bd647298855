#include "sim/cmd/print/judged.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/cmd/print/terminal.h"
#include "traces/names/short_name.h"

enum { NAME_WIDTH = 36, ROW_WIDTH = 136 /* of a line that has a name and all figures, with notes */ };

const char *gt_judged_verdict(const struct gt_judged *judged)
{
    if (isnan(judged->verdict.comparison.makespan_error_pct))
        return NULL;
    return judged->verdict.within ? "ok" : "off";
}

/* A terminal that is too narrow for a line a trace gets two: the name, and what was found below it. */
static bool is_narrow(FILE *out)
{
    return gt_terminal_columns(out) < ROW_WIDTH;
}

/* Widths of the figures, in a line with the name or below it. */
enum { FIGURES = 9 };
static const int in_line[FIGURES] = { 12, 12, 8, 7, 8, 10, 7, 7, 6 }, below[FIGURES] = { 8, 9, 7, 6, 7, 7, 7, 6, 5 };

void gt_judged_print_heading(FILE *out)
{
    static const char *const wide[FIGURES] = { "real us",  "simulated us", "error %", "gpu %", "spread %",
                                               "start us", "placed%",      "floor %", "order" };
    static const char *const narrow[FIGURES] = { "real us", "sim. us", "error %", "gpu %", "spread%",
                                                 "start",   "placed%", "floor%",  "order" };
    const char *const *headings = is_narrow(out) ? narrow : wide;
    const int *widths = is_narrow(out) ? below : in_line;

    if (is_narrow(out))
        fputs("trace\n", out);
    else
        fprintf(out, "%-*s", NAME_WIDTH, "trace");
    for (int i = 0; i < FIGURES; i++)
        fprintf(out, " %*s", widths[i], headings[i]);
    fputs("  verdict\n", out);
    fflush(out);
}

static void print_real(FILE *out, int width, int decimals, double value)
{
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*f", width, decimals, value);
}

static void print_signed(FILE *out, int width, double value)
{
    if (isnan(value))
        print_real(out, width, 2, NAN);
    else
        fprintf(out, " %+*.2f", width, value);
}

static void print_figures(FILE *out, const struct gt_judged *row, const int *widths)
{
    const struct gt_comparison *comparison = &row->verdict.comparison;
    const struct gt_repeats *repeats = &row->verdict.repeats;

    print_real(out, widths[0], 2, comparison->makespan_measured_us);
    print_real(out, widths[1], 2, comparison->makespan_simulated_us);
    print_signed(out, widths[2], comparison->makespan_error_pct);
    print_signed(out, widths[3], gt_verdict_value(&row->verdict, "makespan_error_gpu_pct"));
    print_real(out, widths[4], 2, repeats->spread_pct);
    print_real(out, widths[5], 3, comparison->start_error_us.median);
    print_real(out, widths[6], 1, repeats->placement_pct);
    print_real(out, widths[7], 1, repeats->placement_floor_pct);
    print_real(out, widths[8], 0, repeats->order.wrong);
}

/* Where not all of the real runs are in the range that was stated. */
static void print_range(FILE *out, const struct gt_verdict *verdict)
{
    double low_us = gt_verdict_value(verdict, "range_low_us"), high_us = gt_verdict_value(verdict, "range_high_us");
    double runs = gt_verdict_value(verdict, "range_runs"), median_us = verdict->comparison.makespan_measured_us;

    if (isnan(runs) || runs == verdict->repeats.count)
        return;
    fprintf(out, ", %.0f of %" PRIu32 " runs within %.2f to %.2f us, the median one %s", runs, verdict->repeats.count,
            low_us, high_us, median_us < low_us ? "below" : (median_us > high_us ? "above" : "too"));
}

static void print_notes(FILE *out, const struct gt_judged *row)
{
    const struct gt_comparison *comparison = &row->verdict.comparison;

    if (row->verdict.repeats.count > 0 && comparison->unmatched > 0)
        fprintf(out, ", %" PRIu64 " of %" PRIu64 " operations not seen", comparison->unmatched,
                comparison->unmatched + comparison->matched);
    print_range(out, &row->verdict);
    fputs(row->surrogates ? ", surrogates\n" : "\n", out);
}

void gt_judged_print(FILE *out, const struct gt_judged *row)
{
    const char *verdict = gt_judged_verdict(row) != NULL ? gt_judged_verdict(row) : "-";
    char *name = gt_clean_name(row->name);

    if (is_narrow(out)) {
        fputs(name, out);
        print_notes(out, row);
        print_figures(out, row, below);
        fprintf(out, "  %s\n", verdict);
    } else {
        fprintf(out, "%-*s", NAME_WIDTH, name);
        print_figures(out, row, in_line);
        fprintf(out, "  %s", verdict);
        print_notes(out, row);
    }
    free(name);
    fflush(out);
}

static struct gt_table *rows_table(const struct gt_judged *rows, uint32_t count)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "repetitions", GT_COLUMN_NUMBER },
        { "makespan_measured_us", GT_COLUMN_NUMBER }, { "makespan_simulated_us", GT_COLUMN_NUMBER },
        { "makespan_error_pct", GT_COLUMN_NUMBER }, { "makespan_error_gpu_pct", GT_COLUMN_NUMBER },
        { "makespan_spread_pct", GT_COLUMN_NUMBER },
        { "range_low_us", GT_COLUMN_NUMBER }, { "range_high_us", GT_COLUMN_NUMBER }, { "range_runs", GT_COLUMN_NUMBER },
        { "start_error_median_us", GT_COLUMN_NUMBER }, { "start_error_allowed_share", GT_COLUMN_NUMBER },
        { "placement_pct", GT_COLUMN_NUMBER }, { "placement_floor_pct", GT_COLUMN_NUMBER },
        { "order_wrong", GT_COLUMN_NUMBER }, { "order_pairs", GT_COLUMN_NUMBER },
        { "unmatched", GT_COLUMN_NUMBER },
        { "kernels", GT_COLUMN_TEXT }, { "verdict", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("traces", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_verdict *verdict = &rows[i].verdict;

        gt_table_text(table, rows[i].name);
        gt_table_integer(table, verdict->repeats.count);
        gt_table_real(table, verdict->comparison.makespan_measured_us, 3);
        gt_table_real(table, verdict->comparison.makespan_simulated_us, 3);
        gt_table_real(table, verdict->comparison.makespan_error_pct, 3);
        gt_table_real(table, gt_verdict_value(verdict, "makespan_error_gpu_pct"), 3);
        gt_table_real(table, verdict->repeats.spread_pct, 3);
        gt_table_real(table, gt_verdict_value(verdict, "range_low_us"), 3);
        gt_table_real(table, gt_verdict_value(verdict, "range_high_us"), 3);
        gt_table_real(table, gt_verdict_value(verdict, "range_runs"), 0);
        gt_table_real(table, verdict->comparison.start_error_us.median, 3);
        gt_table_real(table, verdict->start_allowed_share, 3);
        gt_table_real(table, verdict->repeats.placement_pct, 2);
        gt_table_real(table, verdict->repeats.placement_floor_pct, 2);
        gt_table_real(table, verdict->repeats.order.wrong, 0);
        gt_table_real(table, verdict->repeats.order.pairs, 0);
        gt_table_integer(table, (int64_t)verdict->comparison.unmatched);
        gt_table_text(table, rows[i].surrogates ? "surrogates" : "library");
        gt_table_text(table, gt_judged_verdict(&rows[i]));
    }
    return table;
}

static struct gt_table *suite_table(const struct gt_suite *suite)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "traces", GT_COLUMN_NUMBER }, { "makespan_error_median_pct", GT_COLUMN_NUMBER },
        { "makespan_error_p95_pct", GT_COLUMN_NUMBER }, { "makespan_error_max_pct", GT_COLUMN_NUMBER },
        { "gpu_error_median_pct", GT_COLUMN_NUMBER }, { "gpu_error_p95_pct", GT_COLUMN_NUMBER },
        { "gpu_error_max_pct", GT_COLUMN_NUMBER },
        { "range_runs_pct", GT_COLUMN_NUMBER }, { "range_width_median_pct", GT_COLUMN_NUMBER },
        { "mape_pct", GT_COLUMN_NUMBER }, { "pearson", GT_COLUMN_NUMBER },
        { "start_off_pct", GT_COLUMN_NUMBER }, { "placement_within_pct", GT_COLUMN_NUMBER },
        { "order_wrong", GT_COLUMN_NUMBER }, { "order_pairs", GT_COLUMN_NUMBER },
        { "verdict", GT_COLUMN_TEXT },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("summary", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_integer(table, suite->traces);
    gt_table_real(table, suite->error_median_pct, 3);
    gt_table_real(table, suite->error_p95_pct, 3);
    gt_table_real(table, suite->error_max_pct, 3);
    gt_table_real(table, suite->gpu_median_pct, 3);
    gt_table_real(table, suite->gpu_p95_pct, 3);
    gt_table_real(table, suite->gpu_max_pct, 3);
    gt_table_real(table, suite->range_runs_pct, 1);
    gt_table_real(table, suite->range_width_pct, 1);
    gt_table_real(table, suite->mape_pct, 3);
    gt_table_real(table, suite->pearson, 6);
    gt_table_real(table, suite->start_off_pct, 1);
    gt_table_real(table, suite->placement_within_pct, 1);
    gt_table_real(table, suite->order_wrong, 0);
    gt_table_real(table, suite->order_pairs, 0);
    gt_table_text(table, suite->within ? "ok" : "off");
    return table;
}

void gt_judged_print_summary(FILE *out, const struct gt_suite *suite)
{
    char *text;
    size_t bytes;
    FILE *line;

    if (suite->traces == 0)
        return;
    line = open_memstream(&text, &bytes);
    if (line == NULL)
        gt_no_memory("a text");
    fprintf(line, "%u trace%s: |makespan error| median %.2f %%, 95th percentile %.2f %%, worst %.2f %%",
            suite->traces, suite->traces == 1 ? "" : "s", suite->error_median_pct, suite->error_p95_pct,
            suite->error_max_pct);
    if (!isnan(suite->gpu_median_pct))
        fprintf(line, "; with the host's calls as measured %.2f, %.2f, %.2f %%", suite->gpu_median_pct,
                suite->gpu_p95_pct, suite->gpu_max_pct);
    if (!isnan(suite->range_runs_pct))
        fprintf(line, "; %.0f %% of the real runs within the ranges stated, which are %.1f %% wide in the median",
                suite->range_runs_pct, suite->range_width_pct);
    if (!isnan(suite->placement_within_pct))
        fprintf(line, "; placement within 5 points of the floor in %.0f %%", suite->placement_within_pct);
    if (suite->order_pairs > 0)
        fprintf(line, "; %.0f of %.0f pairs of kernels in the wrong order", suite->order_wrong, suite->order_pairs);
    fprintf(line, ": %s", suite->within ? "ok" : "off");
    fclose(line);
    gt_fold_print(out, 0, text);
    free(text);
}

void gt_judged_print_all(FILE *out, enum gt_format format, const struct gt_judged *rows, uint32_t count,
                         const struct gt_suite *suite, struct gt_table *const *more, size_t more_count)
{
    struct gt_table *tables[2 + GT_JUDGED_MORE] = { rows_table(rows, count), suite_table(suite) };

    for (size_t i = 0; i < more_count; i++)
        tables[2 + i] = more[i];
    gt_tables_print(out, format, tables, format == GT_FORMAT_CSV && !gt_tables_chosen() ? 1 : 2 + more_count);
    gt_table_free(tables[0]);
    gt_table_free(tables[1]);
}
