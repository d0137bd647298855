/* Every trace's makespan, simulated against measured. */
#include <math.h>

#include "plots/data/suite_view.h"
#include "plots/figures/figure.h"

enum { LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 460 };

static const double close_pct = 1;

/* 0: within 1 %, 1: too short, 2: too long. */
static unsigned side_of(const struct gt_verdict *verdict)
{
    double error_pct = verdict->comparison.makespan_error_pct;

    return fabs(error_pct) <= close_pct ? 0 : error_pct < 0 ? 1 : 2;
}

static int write_points(const struct gt_suite_view *suite, double unit_us, unsigned counts[3],
                        struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);

    if (out == NULL)
        return -1;
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct gt_comparison *comparison = &suite->rows[i].verdict.comparison;
        unsigned side = side_of(&suite->rows[i].verdict);

        counts[side]++;
        fprintf(out, "%.9g\t%.9g\t%u\n", comparison->makespan_measured_us / unit_us,
                comparison->makespan_simulated_us / unit_us, side);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void find_range(const struct gt_suite_view *suite, double *least_us, double *most_us)
{
    *least_us = INFINITY;
    *most_us = 0;
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct gt_comparison *comparison = &suite->rows[i].verdict.comparison;

        *least_us = fmin(*least_us, fmin(comparison->makespan_measured_us, comparison->makespan_simulated_us));
        *most_us = fmax(*most_us, fmax(comparison->makespan_measured_us, comparison->makespan_simulated_us));
    }
}

static void describe_scatter(const struct gt_suite_view *suite, const unsigned counts[3], struct gt_drawing *drawing)
{
    char pearson[32] = "-";

    if (!isnan(suite->sums.pearson))
        snprintf(pearson, sizeof pearson, "%.5f", suite->sums.pearson);
    fprintf(drawing->parameters,
            "array legend[4]\nlegend[1] = \"within 1%%: %u\"\nlegend[2] = \"under: %u\"\n"
            "legend[3] = \"over: %u\"\nlegend[4] = \"MAPE %.2f%%, Pearson r %s\"\n",
            counts[0], counts[1], counts[2], suite->sums.mape_pct, pearson);
    snprintf(drawing->alt, sizeof drawing->alt,
             "Simulated against measured makespan of %u traces: %u within 1%%, %u under, %u over.", suite->count,
             counts[0], counts[1], counts[2]);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Of %u traces the median error is %.2f%%, the 95th percentile %.2f%%, the largest %.2f%%.", suite->count,
             suite->sums.error_median_pct, suite->sums.error_p95_pct, suite->sums.error_max_pct);
}

gt_prepare_fn gt_prepare_suite;
int gt_prepare_suite(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_suite_view *suite = view->suite;
    const struct gt_time_unit *unit;
    unsigned counts[3] = { 0, 0, 0 };
    double least_us, most_us, unit_us;

    find_range(suite, &least_us, &most_us);
    unit = gt_time_unit(most_us * 1e6);
    unit_us = unit->ps / 1e6;
    if (write_points(suite, unit_us, counts, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "axis_from = %.9g\naxis_to = %.9g\naxis_unit = \"%s\"\n", least_us / unit_us / 1.3,
            most_us / unit_us * 1.3, unit->name);
    describe_scatter(suite, counts, drawing);
    return 1;
}
