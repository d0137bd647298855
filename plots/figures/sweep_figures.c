/* A sweep's pictures.  Each value stands for the best that the other parameters allow with it. */
#include "plots/figures/sweep_figures.h"

#include <math.h>

#include "plots/figures/axes.h"
#include "traces/names/clean_text.h"

enum { LEFT_PX = 110, TOP_PX = 50, AXIS_PX = 110, PLOT_PX = 380, CELL_PX = 36, TRACES_MAX = 6, VALUES_MAX = 40 };

static unsigned shown_values(const struct gt_sweep_parameter *parameter)
{
    return parameter->count < VALUES_MAX ? parameter->count : VALUES_MAX;
}

/* One trace's line of one parameter: place, change, the value's name. */
static void write_line(FILE *out, const struct gt_sweep_view *view, uint32_t trace, uint32_t parameter,
                       unsigned place)
{
    const struct gt_sweep_parameter *row = &view->plan.parameters[parameter];

    for (uint32_t i = 0; i < shown_values(row); i++) {
        double pct = gt_sweep_view_least(view, trace, parameter, i, parameter, 0);

        if (isnan(pct))
            fprintf(out, "%u\tNaN\t", place + i);
        else
            fprintf(out, "%u\t%.9g\t", place + i, pct);
        gt_plot_field(out, row->values[i]);
        putc('\n', out);
    }
    putc('\n', out); /* the next line is another one */
}

/* All lines, parameter beside parameter, under the name of their trace; returns where the last ends. */
static unsigned write_lines(FILE *points, FILE *names, const struct gt_sweep_view *view, uint32_t traces)
{
    unsigned place = 1;

    for (uint32_t trace = 0; trace < traces; trace++) {
        gt_plot_field(points, gt_sweep_view_trace(view, trace));
        putc('\n', points);
        place = 1;
        for (uint32_t i = 0; i < view->plan.parameter_count; i++) {
            write_line(points, view, trace, i, place);
            place += shown_values(&view->plan.parameters[i]) + 1;
        }
        putc('\n', points); /* two empty lines: another trace */
    }
    place = 1;
    for (uint32_t i = 0; i < view->plan.parameter_count; i++) {
        unsigned values = shown_values(&view->plan.parameters[i]);

        fprintf(names, "%.9g\t", place + (values - 1) / 2.0);
        gt_plot_field(names, view->plan.parameters[i].name);
        putc('\n', names);
        place += values + 1;
    }
    return place - 2;
}

/* Where the best of the traces stands in each parameter. */
static void write_best(FILE *out, const struct gt_sweep_view *view, uint32_t traces)
{
    for (uint32_t trace = 0; trace < traces; trace++) {
        unsigned place = 1;

        for (uint32_t i = 0; i < view->plan.parameter_count && view->best[trace] != UINT64_MAX; i++) {
            uint32_t value = gt_sweep_value(&view->plan, view->best[trace], i);

            if (value < VALUES_MAX)
                fprintf(out, "%u\t%.9g\n", place + value, view->change_pct[view->best[trace]]);
            place += shown_values(&view->plan.parameters[i]) + 1;
        }
    }
}

static void find_range(const struct gt_sweep_view *view, uint32_t traces, double *low, double *high)
{
    for (uint64_t i = 0; i < traces * gt_sweep_grid_points(&view->plan); i++) {
        *low = fmin(*low, view->change_pct[i]);
        *high = fmax(*high, view->change_pct[i]);
    }
}

int gt_prepare_sweep_lines(const void *user, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_sweep_view *view = user;
    uint32_t traces = view->plan.trace_count < TRACES_MAX ? view->plan.trace_count : TRACES_MAX;
    FILE *points, *names, *best;
    double low = 0, high = 0;
    unsigned end;

    if (view->done == view->refused)
        return 0;
    points = gt_folder_open_work(drawing->folder, "points.tsv", error);
    names = points != NULL ? gt_folder_open_work(drawing->folder, "legend.tsv", error) : NULL;
    best = names != NULL ? gt_folder_open_work(drawing->folder, "boxes.tsv", error) : NULL;
    if (best == NULL)
        return -1;
    end = write_lines(points, names, view, traces);
    write_best(best, view, traces);
    if (gt_folder_close(drawing->folder, points, error) != 0 || gt_folder_close(drawing->folder, names, error) != 0 ||
        gt_folder_close(drawing->folder, best, error) != 0)
        return -1;
    find_range(view, traces, &low, &high);
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "places = %u\ntraces = %u\nlow = %.9g\nhigh = %.9g\n", end, traces, low, high);
    snprintf(drawing->alt, sizeof drawing->alt, "Change of the time with each value of %u parameters, %u traces.",
             view->plan.parameter_count, traces);
    return 1;
}

/* Mean over the traces that have an answer. */
static double cell(const struct gt_sweep_view *view, uint32_t across, uint32_t up)
{
    double sum = 0;
    uint32_t count = 0;

    for (uint32_t trace = 0; trace < view->plan.trace_count; trace++) {
        double pct = gt_sweep_view_least(view, trace, 0, across, 1, up);

        sum += isnan(pct) ? 0 : pct;
        count += !isnan(pct);
    }
    return count > 0 ? sum / count : NAN;
}

static int write_cells(const struct gt_sweep_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_sweep_parameter *parameters = view->plan.parameters;
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);
    double least = INFINITY, widest = 0;
    uint32_t best_across = 0, best_up = 0;

    if (out == NULL)
        return -1;
    for (uint32_t up = 0; up < shown_values(&parameters[1]); up++) {
        for (uint32_t across = 0; across < shown_values(&parameters[0]); across++) {
            double pct = cell(view, across, up);

            if (pct < least) {
                least = pct;
                best_across = across;
                best_up = up;
            }
            if (isnan(pct))
                continue;
            widest = fmax(widest, fabs(pct));
            fprintf(out, "%u\t%u\t%.9g\t", across, up, pct);
            gt_plot_field(out, parameters[0].values[across]);
            putc('\t', out);
            gt_plot_field(out, parameters[1].values[up]);
            putc('\n', out);
        }
    }
    fprintf(drawing->parameters, "best_across = %u\nbest_up = %u\nwidest = %.9g\n", best_across, best_up,
            fmax(widest, 1));
    return gt_folder_close(drawing->folder, out, error);
}

int gt_prepare_sweep_map(const void *user, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_sweep_view *view = user;
    const struct gt_sweep_parameter *parameters = view->plan.parameters;

    if (view->plan.parameter_count < 2 || view->done == view->refused)
        return 0;
    if (write_cells(view, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX + 90, TOP_PX, shown_values(&parameters[1]) * CELL_PX + CELL_PX, AXIS_PX);
    fprintf(drawing->parameters, "across = %u\nup = %u\n", shown_values(&parameters[0]),
            shown_values(&parameters[1]));
    snprintf(drawing->alt, sizeof drawing->alt, "Change of the time by two parameters, a cell each pair of values.");
    return 1;
}
