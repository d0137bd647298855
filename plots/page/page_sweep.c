/* The report of a sweep: one page, with its pictures. */
#include <math.h>

#include "plots/figures/sweep_figures.h"
#include "plots/page/page_plain.h"
#include "plots/page/page_table.h"
#include "traces/names/clean_text.h"

enum { ROWS_MAX = 2000 };

/* "streams 4, connections 8" */
static void put_point(FILE *out, const struct gt_sweep_view *view, uint64_t point)
{
    for (uint32_t i = 0; i < view->plan.parameter_count; i++) {
        const struct gt_sweep_parameter *parameter = &view->plan.parameters[i];

        fputs(i > 0 ? ", " : "", out);
        gt_html(out, parameter->name);
        putc(' ', out);
        gt_html(out, parameter->values[gt_sweep_value(&view->plan, point, i)]);
    }
}

static void put_best(FILE *out, const struct gt_sweep_view *view)
{
    static const char *const heads[] = { "Trace", "Baseline", "Best", "Change", "With", "Trust", NULL };

    gt_page_table_begin(out, "best", "The best of each trace",
                        "Steady steps, compared with those of the recorded program without profiler overhead.",
                        heads);
    for (uint32_t i = 0; i < view->plan.trace_count && i < ROWS_MAX; i++) {
        const struct gt_sweep_trace *trace = &view->plan.traces[i];
        uint64_t best = view->best[i];

        if (best == UINT64_MAX)
            continue;
        gt_page_name_cell(out, gt_sweep_view_trace(view, i), gt_sweep_view_trace(view, i));
        gt_page_cell(out, gt_time_text(trace->step_us * 1e6));
        gt_page_cell(out, gt_time_text(view->step_us[best] * 1e6));
        gt_page_cell(out, gt_signed_pct_text(view->change_pct[best]));
        fputs("<td>", out);
        put_point(out, view, best);
        fputs("</td><td>", out);
        gt_html(out, view->trust[best] != NULL ? view->trust[best] : "–");
        fputs("</td></tr>\n", out);
    }
    gt_page_table_end(out, "sweep", view->plan.trace_count,
                      view->plan.trace_count < ROWS_MAX ? view->plan.trace_count : ROWS_MAX);
}

static void put_headline(FILE *out, const struct gt_sweep_view *view)
{
    fprintf(out, "%s points of ", gt_count_text(view->points).s);
    fprintf(out, "%s %s: ", gt_count_text(view->plan.trace_count).s,
            view->plan.trace_count == 1 ? "trace" : "traces");
    fprintf(out, "%s answered, ", gt_count_text(view->done - view->refused).s);
    fprintf(out, "%s refused", gt_count_text(view->refused).s);
    if (view->done < view->points)
        fprintf(out, ", %s not done", gt_count_text(view->points - view->done).s);
    fputs(".</p>\n</section>\n", out);
}

static int put_page(FILE *out, const struct gt_folder *folder, const void *user, struct gt_error *error)
{
    const struct gt_sweep_view *view = user;

    if (gt_plain_head(out, "Sweep", error) != 0)
        return -1;
    put_headline(out, view);
    put_best(out, view);
    if (gt_plain_figure(out, folder, GT_SWEEP_LINES, "By parameter",
                        "Change of the time, one line per trace: the best result for each value over all other "
                        "parameters. Stars: the best point of each trace.",
                        gt_prepare_sweep_lines, view, error) != 0 ||
        gt_plain_figure(
            out, folder, GT_SWEEP_MAP, "First parameter horizontal, second vertical",
            "Change of the time in percent, mean of the traces: the best result for each pair of values over "
            "all other parameters. Framed: the best. Empty: refused.",
            gt_prepare_sweep_map, view, error) != 0)
        return -1;
    gt_plain_foot(out);
    return 0;
}

int gt_page_sweep(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error)
{
    struct gt_sweep_view view;
    int result = gt_sweep_view_load(&view, store, error);

    if (result == 0)
        result = gt_plain_page(folder, put_page, &view, error);
    gt_sweep_view_free(&view);
    return result;
}
