#include "plots/page/page_sweep.h"

#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "plots/figures/sweep_figures.h"
#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/names/clean_text.h"

enum { ROWS_MAX = 2000 };

typedef int prepare_fn(const struct gt_sweep_view *view, struct gt_drawing *drawing, struct gt_error *error);

/* A picture and its section; nothing where there is nothing to draw. */
static int put_figure(FILE *out, const struct gt_folder *folder, const struct gt_sweep_view *view, const char *name,
                      const char *title, const char *how, prepare_fn *prepare, struct gt_error *error)
{
    struct gt_drawing drawing;
    int prepared;

    if (gt_drawing_begin(&drawing, folder, error) != 0)
        return -1;
    prepared = prepare(view, &drawing, error);
    if (prepared != 1) {
        gt_drawing_abandon(&drawing);
        return prepared;
    }
    if (gt_drawing_plot(&drawing, name, name, true, error) != 0)
        return -1;
    fprintf(out,
            "<section id=\"%s\">\n<h2>%s</h2>\n<figure>\n<a class=\"card\" href=\"%s.svg\"><img src=\"%s.svg\" "
            "width=\"%u\" height=\"%u\" alt=\"%s\"></a>\n<figcaption>%s <a href=\"%s.png\">PNG</a> · <a "
            "href=\"%s.svg\">SVG</a></figcaption>\n</figure>\n</section>\n",
            name, title, name, name, drawing.width_px, drawing.height_px, drawing.alt, how, name, name);
    return 0;
}

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

static int put_head(FILE *out, const struct gt_sweep_view *view, struct gt_error *error)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" GT_REPORT_MARKER "\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Sweep – Gridtide report</title>\n",
          out);
    if (gt_page_file(out, "report.css", "<style>\n", "</style>\n", error) != 0)
        return -1;
    fputs("</head>\n<body>\n<header>\n<p class=\"kicker\">Gridtide report</p>\n<h1>Sweep</h1>\n</header>\n<main>\n"
          "<section class=\"answer\">\n<p class=\"headline\">",
          out);
    fprintf(out, "%s points of ", gt_count_text(view->points).s);
    fprintf(out, "%s %s: ", gt_count_text(view->plan.trace_count).s,
            view->plan.trace_count == 1 ? "trace" : "traces");
    fprintf(out, "%s answered, ", gt_count_text(view->done - view->refused).s);
    fprintf(out, "%s refused", gt_count_text(view->refused).s);
    if (view->done < view->points)
        fprintf(out, ", %s not done", gt_count_text(view->points - view->done).s);
    fputs(".</p>\n</section>\n", out);
    return 0;
}

static int put_page(FILE *out, const struct gt_folder *folder, const struct gt_sweep_view *view,
                    struct gt_error *error)
{
    if (put_head(out, view, error) != 0)
        return -1;
    put_best(out, view);
    if (put_figure(out, folder, view, GT_SWEEP_LINES, "By parameter",
                   "Change of the time, one line per trace: the best result for each value over all other "
                   "parameters. Stars: the best point of each trace.",
                   gt_prepare_sweep_lines, error) != 0 ||
        put_figure(out, folder, view, GT_SWEEP_MAP, "First parameter horizontal, second vertical",
                   "Change of the time in percent, mean of the traces: the best result for each pair of values over "
                   "all other parameters. Framed: the best. Empty: refused.",
                   gt_prepare_sweep_map, error) != 0)
        return -1;
    fputs("</main>\n<footer><p>Made by " PACKAGE_STRING ".</p></footer>\n</body>\n</html>\n", out);
    return 0;
}

int gt_page_sweep(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error)
{
    struct gt_sweep_view view;
    FILE *out;
    int result = gt_sweep_view_load(&view, store, error);

    out = result == 0 ? gt_folder_open(folder, "index.html", error) : NULL;
    if (out == NULL) {
        result = -1;
    } else if (put_page(out, folder, &view, error) != 0) {
        fclose(out);
        result = -1;
    } else {
        result = gt_folder_close(folder, out, error);
    }
    gt_sweep_view_free(&view);
    return result;
}
