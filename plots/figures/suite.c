/* Stores of the validator: every trace's makespan, simulated against measured; errors by family. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "traces/names/short_name.h"
#include "traces/compare/repetitions.h"

enum { LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 460,
       FAMILY_LEFT_PX = 150, FAMILY_PX = 34, NAME_BYTES = 64 };

static const double close_pct = 1;

/* Every trace with a measured run. */
struct suite {
    struct gt_verdict *judgements;
    char (*names)[NAME_BYTES];
    uint32_t count;
    struct gt_suite sums;
};

static void end_suite(struct suite *suite)
{
    free(suite->judgements);
    free(suite->names);
}

static int name_run(const struct gt_view *view, int64_t run, char *name, struct gt_error *error)
{
    sqlite3_stmt *query = gt_view_query(view,
                                        "SELECT t.name FROM run r JOIN trace t ON t.trace_id = r.trace_id"
                                        " WHERE r.run_id = ?1",
                                        error);
    int row;

    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, run);
    row = gt_view_row(view, query, error);
    snprintf(name, NAME_BYTES, "%s", row == 1 ? (const char *)sqlite3_column_text(query, 0) : "");
    sqlite3_finalize(query);
    return row < 0 ? -1 : 0;
}

static int judge_all(const struct gt_view *view, const int64_t *runs, uint32_t count, struct suite *suite,
                     struct gt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct gt_verdict *judgement = &suite->judgements[suite->count];

        if (gt_verdict_of(view->store, runs[i], false, judgement, error) != 0
                || name_run(view, runs[i], suite->names[suite->count], error) != 0)
            return -1;
        suite->count += judgement->comparison.makespan_measured_us > 0
                     && judgement->comparison.makespan_simulated_us > 0;
    }
    return gt_verdict_suite(view->store, suite->judgements, suite->count, &suite->sums, error);
}

/* Returns 1 where there are several traces, 0 where not. */
static int load_suite(const struct gt_view *view, struct suite *suite, struct gt_error *error)
{
    uint32_t count;
    int64_t *runs;
    int result = 0;

    *suite = (struct suite){ .count = 0 };
    if (gt_simulated_runs(view->store, &runs, &count, error) != 0)
        return -1;
    if (count > 1) {
        suite->judgements = gt_calloc(count, sizeof *suite->judgements);
        suite->names = gt_calloc(count, sizeof *suite->names);
        result = judge_all(view, runs, count, suite, error);
    }
    free(runs);
    return result != 0 ? -1 : suite->count > 1;
}

/* 0: within 1 %, 1: too short, 2: too long. */
static unsigned side_of(const struct gt_verdict *judgement)
{
    double error_pct = judgement->comparison.makespan_error_pct;

    return fabs(error_pct) <= close_pct ? 0 : error_pct < 0 ? 1 : 2;
}

static int write_points(const struct suite *suite, double unit_us, unsigned counts[3],
                        struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);

    if (out == NULL)
        return -1;
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct gt_comparison *comparison = &suite->judgements[i].comparison;
        unsigned side = side_of(&suite->judgements[i]);

        counts[side]++;
        fprintf(out, "%.9g\t%.9g\t%u\n", comparison->makespan_measured_us / unit_us,
                comparison->makespan_simulated_us / unit_us, side);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void find_range(const struct suite *suite, double *least_us, double *most_us)
{
    *least_us = INFINITY;
    *most_us = 0;
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct gt_comparison *comparison = &suite->judgements[i].comparison;

        *least_us = fmin(*least_us,
                         fmin(comparison->makespan_measured_us, comparison->makespan_simulated_us));
        *most_us = fmax(*most_us, fmax(comparison->makespan_measured_us, comparison->makespan_simulated_us));
    }
}

static void describe_scatter(const struct suite *suite, const unsigned counts[3], struct gt_drawing *drawing)
{
    char pearson[32] = "-";

    if (!isnan(suite->sums.pearson))
        snprintf(pearson, sizeof pearson, "%.5f", suite->sums.pearson);
    fprintf(drawing->parameters,
            "array legend[4]\nlegend[1] = \"within 1 %%: %u\"\nlegend[2] = \"under: %u\"\n"
            "legend[3] = \"over: %u\"\nlegend[4] = \"MAPE %.2f %%, Pearson r %s\"\n",
            counts[0], counts[1], counts[2], suite->sums.mape_pct, pearson);
    snprintf(drawing->alt, sizeof drawing->alt,
             "Simulated against measured makespan of %u traces: %u within 1 %%, %u under, %u over.",
             suite->count, counts[0], counts[1], counts[2]);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Makespans of the %u traces of this store, each the median of its measured runs; both axes are "
             "logarithmic. On the line the simulation is right, below it too short, above it too long. The "
             "median error is %.2f %%, the 95th percentile %.2f %%, the largest %.2f %%.", suite->count,
             suite->sums.error_median_pct, suite->sums.error_p95_pct, suite->sums.error_max_pct);
}

static int write_scatter(const struct suite *suite, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_time_unit *unit;
    unsigned counts[3] = { 0, 0, 0 };
    double least_us, most_us, unit_us;

    find_range(suite, &least_us, &most_us);
    unit = gt_time_unit(most_us * 1e6);
    unit_us = unit->ps / 1e6;
    if (write_points(suite, unit_us, counts, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "axis_from = %.9g\naxis_to = %.9g\naxis_unit = \"%s\"\n",
            least_us / unit_us / 1.3, most_us / unit_us * 1.3, unit->name);
    describe_scatter(suite, counts, drawing);
    return 1;
}

static int prepare_scatter(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct suite suite;
    int result = load_suite(view, &suite, error);

    if (result == 1)
        result = write_scatter(&suite, drawing, error);
    end_suite(&suite);
    return result;
}

/* "copy/pinned-in" is of family "copy"; those without a slash are the others. */
static void name_family(const char *trace, char name[NAME_BYTES])
{
    const char *slash = strchr(trace, '/');

    snprintf(name, NAME_BYTES, "%.*s", slash == NULL ? 6 : (int)(slash - trace),
             slash == NULL ? "others" : trace);
}

static bool same_family(const char *a, const char *b)
{
    char family_a[NAME_BYTES], family_b[NAME_BYTES];

    name_family(a, family_a);
    name_family(b, family_b);
    return strcmp(family_a, family_b) == 0;
}

/* The number of each trace's family, in order of appearance; returns how many there are. */
static uint32_t number_families(const struct suite *suite, uint32_t *families)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < suite->count; i++) {
        uint32_t before = 0;

        while (before < i && !same_family(suite->names[i], suite->names[before]))
            before++;
        families[i] = before < i ? families[before] : count++;
    }
    return count;
}

static int write_families(const struct suite *suite, const uint32_t *families, struct gt_drawing *drawing,
                          struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "errors.tsv", error);

    if (out == NULL)
        return -1;
    for (uint32_t i = 0; i < suite->count; i++) {
        char name[NAME_BYTES];

        name_family(suite->names[i], name);
        fprintf(out, "%.9g\t%u\t", suite->judgements[i].comparison.makespan_error_pct, families[i] + 1);
        gt_plot_field(out, name);
        fputc('\n', out);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static int draw_families(const struct suite *suite, uint32_t *families, struct gt_drawing *drawing,
                         struct gt_error *error)
{
    uint32_t count = number_families(suite, families);

    if (count < 2 || count == suite->count)
        return 0;
    if (write_families(suite, families, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, FAMILY_LEFT_PX, TOP_PX, (count + 1) * FAMILY_PX, AXIS_PX);
    fprintf(drawing->parameters, "families = %u\nlargest = %.9g\n", count,
            fmax(2, suite->sums.error_max_pct * 1.3));
    snprintf(drawing->alt, sizeof drawing->alt, "Makespan errors of %u traces in %u families.", suite->count,
             count);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Makespan error of every trace, (simulated − measured) / measured, by family, the part of its "
             "name before the slash if it has one. The axis is linear near 0 and logarithmic further out; "
             "shaded: within 1 %%.");
    return 1;
}

static int prepare_families(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct suite suite;
    uint32_t *families;
    int result = load_suite(view, &suite, error);

    if (result == 1) {
        families = gt_calloc(suite.count, sizeof *families);
        result = draw_families(&suite, families, drawing, error);
        free(families);
    }
    end_suite(&suite);
    return result;
}

const struct gt_figure gt_figure_suite = { "suite", "All traces: simulated against measured", NULL,
                                           prepare_scatter };
const struct gt_figure gt_figure_families = { "families", "All traces: error by family", NULL,
                                              prepare_families };
