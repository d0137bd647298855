/* How far the simulated starts are from the measured ones. */
#include <math.h>
#include <stdlib.h>

#include "plots/figures/figure.h"
#include "traces/explain/part.h"
#include "traces/store/run_rows.h"

enum {
    LEFT_PX = 80,
    TOP_PX = 50,
    AXIS_PX = 60,
    PLOT_PX = 300,
    BINS = 800, /* logarithmic, of the cumulative curve */
    BINS_PER_BAR = 10,
    FEWEST_BARS = 10,
    DECADES_MAX = 6,
};

/* The log axis runs from 1 ns to 10^7 s; what is smaller is in the first bin. */
#define LEAST_PS        1e3
#define BINS_PER_DECADE 50.0

struct errors {
    uint64_t counts[BINS], total, folded;
    double largest_ps;
};

static double bin_from_ps(size_t bin)
{
    return LEAST_PS * pow(10, (double)bin / BINS_PER_DECADE);
}

static void add(struct errors *errors, double error_ps)
{
    double place = error_ps > LEAST_PS ? floor(log10(error_ps / LEAST_PS) * BINS_PER_DECADE) : 0;

    errors->counts[place < BINS ? (size_t)place : BINS - 1]++;
    errors->total++;
    errors->largest_ps = fmax(errors->largest_ps, error_ps);
}

static void read_errors(const struct gt_view *view, struct errors *errors)
{
    const struct gt_loaded_run *simulated = view->subject->run, *measured = view->measured->run;
    int64_t shift_ps = view->subject->origin_ps - view->measured->origin_ps;

    for (uint32_t i = 0; i < simulated->op_count; i++)
        if (gt_view_has_both(view, i) && gt_part_has_op(view->subject->run, i))
            add(errors,
                fabs((double)((int64_t)simulated->ops[i].start_ps - (int64_t)measured->ops[i].start_ps - shift_ps)));
}

/* The first and one past the last bin to draw, in whole bars: what holds something, but no more than
 * DECADES_MAX; smaller errors are folded into the first bar. */
static void fold(struct errors *errors, size_t *from, size_t *to)
{
    size_t widest = (size_t)(DECADES_MAX * BINS_PER_DECADE), first = 1;

    *to = BINS;
    while (*to > 1 && errors->counts[*to - 1] == 0)
        --*to;
    *to = (*to + BINS_PER_BAR - 1) / BINS_PER_BAR * BINS_PER_BAR;
    while (first < *to && errors->counts[first] == 0)
        first++;
    *from = first / BINS_PER_BAR * BINS_PER_BAR;
    if (*to - *from > widest)
        *from = *to - widest / BINS_PER_BAR * BINS_PER_BAR;
    if (*to - *from < FEWEST_BARS * BINS_PER_BAR)
        *from = *to > FEWEST_BARS * BINS_PER_BAR ? *to - FEWEST_BARS * BINS_PER_BAR : 0;
    if (*to < FEWEST_BARS * BINS_PER_BAR)
        *to = FEWEST_BARS * BINS_PER_BAR;
    for (size_t bin = 0; bin < *from; bin++) {
        errors->folded += errors->counts[bin];
        errors->counts[*from] += errors->counts[bin];
    }
}

static int write_bars(const struct errors *errors, size_t from, size_t to, double unit_ps, double *top,
                      struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "bars.tsv", error);

    if (out == NULL)
        return -1;
    *top = 0;
    for (size_t bar = from; bar < to; bar += BINS_PER_BAR) {
        uint64_t count = 0;
        double pct;

        for (size_t bin = bar; bin < bar + BINS_PER_BAR && bin < to; bin++)
            count += errors->counts[bin];
        pct = 100.0 * (double)count / (double)errors->total;
        *top = pct > *top ? pct : *top;
        fprintf(out, "%.9g\t%.9g\t%.6g\n", bin_from_ps(bar) / unit_ps, bin_from_ps(bar + BINS_PER_BAR) / unit_ps,
                pct);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static int write_steps(const struct errors *errors, size_t from, size_t to, double unit_ps,
                       struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "steps.tsv", error);
    uint64_t below = 0;

    if (out == NULL)
        return -1;
    fprintf(out, "%.9g\t0\n", bin_from_ps(from) / unit_ps);
    for (size_t bin = from; bin < to; bin++) {
        below += errors->counts[bin];
        fprintf(out, "%.9g\t%.6g\n", bin_from_ps(bin + 1) / unit_ps, 100.0 * (double)below / (double)errors->total);
    }
    return gt_folder_close(drawing->folder, out, error);
}

/* Median and 95th percentile, as upright lines with their values. */
static void write_marks(const struct gt_spread *spread_us, double least, double unit_ps, struct gt_drawing *drawing)
{
    fprintf(drawing->parameters, "array mark[2]\narray mark_text[2]\n");
    fprintf(drawing->parameters, "mark[1] = %.9g\nmark_text[1] = \"median %s\"\n",
            fmax(spread_us->median * 1e6 / unit_ps, least), gt_time_text(spread_us->median * 1e6).s);
    fprintf(drawing->parameters, "mark[2] = %.9g\nmark_text[2] = \"95%% within %s\"\n",
            fmax(spread_us->p95 * 1e6 / unit_ps, least), gt_time_text(spread_us->p95 * 1e6).s);
}

static void describe(const struct gt_view *view, const struct errors *errors, struct gt_drawing *drawing)
{
    const struct gt_comparison *comparison = &view->comparison;
    char folded[120] = "";

    if (errors->folded > 0)
        snprintf(folded, sizeof folded, " Smaller errors (%s) are in the first bar.",
                 gt_count_text(errors->folded).s);
    snprintf(drawing->alt, sizeof drawing->alt, "Distribution of start errors: median %s, 95%% below %s, at most %s.",
             gt_time_text(comparison->start_error_us.median * 1e6).s,
             gt_time_text(comparison->start_error_us.p95 * 1e6).s,
             gt_time_text(comparison->start_error_us.max * 1e6).s);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Start errors, |simulated − measured|, of %s operations; both runs are aligned at their first "
             "operation, and the axis is logarithmic. Bars: share of operations per range (left scale). Curve: "
             "cumulative share (right scale); further left is better. Dashed: median and 95th percentile.%s",
             gt_count_text(errors->total).s, folded);
}

static int write_all(const struct gt_view *view, struct errors *errors, struct gt_drawing *drawing,
                     struct gt_error *error)
{
    const struct gt_time_unit *unit = gt_time_unit(fmax(errors->largest_ps, 1e6));
    size_t from, to;
    double top;

    fold(errors, &from, &to);
    if (write_bars(errors, from, to, unit->ps, &top, drawing, error) != 0 ||
        write_steps(errors, from, to, unit->ps, drawing, error) != 0)
        return -1;
    write_marks(&view->comparison.start_error_us, bin_from_ps(from) / unit->ps, unit->ps, drawing);
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters,
            "right_px = 70\nerror_from = %.9g\nerror_to = %.9g\nerror_unit = \"%s\"\n"
            "bar_top = %.6g\n",
            bin_from_ps(from) / unit->ps, bin_from_ps(to) / unit->ps, unit->name,
            top > 50   ? 100.0
            : top > 25 ? 50.0
            : top > 10 ? 25.0
                       : 10.0);
    describe(view, errors, drawing);
    return 1;
}

gt_prepare_fn gt_prepare_errors;
int gt_prepare_errors(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct errors *errors = gt_calloc(1, sizeof *errors);
    int result = 0;

    if (view->measured != NULL)
        read_errors(view, errors);
    if (errors->total > 0)
        result = write_all(view, errors, drawing, error);
    free(errors);
    return result;
}
