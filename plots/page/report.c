#include "plots/page/report.h"

#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "plots/data/report_folder.h"
#include "plots/data/suite_view.h"
#include "plots/figures/sweep_figures.h"
#include "plots/page/page.h"
#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/names/clean_text.h"
#include "traces/store/store.h"

/* The report of a sweep: one page, with its pictures. */

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

/* Draw and write it, into a folder that was begun with the pictures of figures/sweep_figures.h.  Returns 0 or -1. */
static int page_sweep(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error)
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

/* A report that is being made. */
struct making {
    const struct gt_folder *folder;
    const struct gt_filter *filter; /* the part of a run that is shown */
    const struct gt_predictor *predictor;
    int64_t predicted_run; /* that it predicts for */
    gt_report_progress *progress;
    void *user;
    uint64_t done, total; /* figures */
};

static void tell(struct making *making)
{
    if (making->progress != NULL)
        making->progress(making->user, making->done++, making->total);
}

static int draw(struct making *making, const struct gt_view *view, struct gt_page_figure *figure,
                struct gt_error *error)
{
    int prepared;

    tell(making);
    if (view->subject->stats->summary.operations == 0)
        return 0;
    if (gt_drawing_begin(&figure->drawing, making->folder, error) != 0)
        return -1;
    prepared = figure->figure->prepare(view, &figure->drawing, error);
    if (prepared != 1) {
        gt_drawing_abandon(&figure->drawing);
        return prepared;
    }
    figure->drawn = true;
    return gt_drawing_plot(&figure->drawing, figure->figure->template, figure->file, figure->png, error);
}

/* The figures of a page of that kind; `figures` NULL: count them. */
static size_t choose_figures(enum gt_page_kind kind, const char *file, struct gt_page_figure *figures)
{
    size_t count = 0;

    for (unsigned i = 0; i < gt_figure_count; i++) {
        const struct gt_figure *figure = &gt_figures[i];

        if (!((figure->opens | figure->follows) & kind))
            continue;
        if (figures != NULL)
            figures[count] = (struct gt_page_figure){ .figure = figure,
                                                      .file = file != NULL ? file : figure->name,
                                                      .png = file == NULL };
        count++;
    }
    return count;
}

/* One page with its figures.  `file` NULL: the report's first. */
static int write_page(struct making *making, const struct gt_view *view, const char *file, struct gt_error *error)
{
    size_t count = choose_figures(view->kind, file, NULL);
    struct gt_page_figure *figures = gt_calloc(count + 1, sizeof *figures);
    int result = 0;
    char name[32];
    FILE *out;

    choose_figures(view->kind, file, figures);
    for (size_t i = 0; i < count && result == 0; i++)
        result = draw(making, view, &figures[i], error);
    snprintf(name, sizeof name, "%s.html", file != NULL ? file : "index");
    out = result == 0 ? gt_folder_open(making->folder, name, error) : NULL;
    if (out == NULL) {
        result = -1;
    } else if (gt_page_write(out, view, figures, count, error) != 0) {
        fclose(out);
        result = -1;
    } else {
        result = gt_folder_close(making->folder, out, error);
    }
    free(figures);
    return result;
}

/* The page of trace `place` of a suite, and (0) the suite's own. */
static int write_suite_page(struct making *making, const struct gt_suite_view *suite, struct gt_store *store,
                            uint32_t place, struct gt_error *error)
{
    struct gt_view view;
    char file[16];
    int result;

    if (gt_view_open(&view, store, suite->rows[place == 0 ? 0 : place - 1].run, NULL, error) != 0)
        return -1;
    snprintf(file, sizeof file, "trace-%u", place);
    view.kind = place == 0 ? GT_PAGE_SUITE : GT_PAGE_TRACE;
    view.suite = suite;
    result = write_page(making, &view, place == 0 ? NULL : file, error);
    gt_view_close(&view);
    return result;
}

static int write_suite(struct making *making, const struct gt_suite_view *suite, struct gt_store *store,
                       struct gt_error *error)
{
    uint32_t pages = suite->count < GT_FOLDER_TRACES ? suite->count : GT_FOLDER_TRACES;

    making->total = choose_figures(GT_PAGE_SUITE, NULL, NULL) + pages * choose_figures(GT_PAGE_TRACE, NULL, NULL);
    for (uint32_t place = 0; place <= pages; place++)
        if (write_suite_page(making, suite, store, place, error) != 0)
            return -1;
    return 0;
}

static int write_run(struct making *making, struct gt_store *store, struct gt_error *error)
{
    struct gt_view view;
    int result;

    if (gt_view_open(&view, store, 0, making->filter, error) != 0)
        return -1;
    making->total = choose_figures(view.kind, NULL, NULL);
    if (view.subject->run->run_id == making->predicted_run)
        view.predictor = making->predictor;
    result = write_page(making, &view, NULL, error);
    gt_view_close(&view);
    return result;
}

static int write_all(struct making *making, struct gt_store *store, struct gt_error *error)
{
    struct gt_suite_view suite;
    int result = gt_store_has_sweep(store, error);

    if (result != 0)
        return result > 0 ? page_sweep(making->folder, store, error) : -1;
    result = gt_suite_view_load(&suite, store, error);

    if (result == 0 && suite.count > 1 && !gt_filter_is_all(making->filter))
        result = gt_error_set(error, "%s: contains several traces; a part can be shown for one trace only",
                              gt_store_database(store)->path);
    if (result == 0)
        result = suite.count > 1 ? write_suite(making, &suite, store, error) : write_run(making, store, error);
    gt_suite_view_free(&suite);
    return result;
}

static int begin(struct gt_folder *folder, const char *path, struct gt_error *error)
{
    const char **pictures = gt_calloc(gt_figure_count + 2, sizeof *pictures);
    int result;

    for (unsigned i = 0; i < gt_figure_count; i++)
        pictures[i] = gt_figures[i].name;
    pictures[gt_figure_count] = GT_SWEEP_LINES;
    pictures[gt_figure_count + 1] = GT_SWEEP_MAP;
    result = gt_folder_begin(folder, path, pictures, gt_figure_count + 2, error);
    free(pictures);
    return result;
}

int gt_report(struct gt_store *store, const char *path, const struct gt_filter *filter,
              const struct gt_predictor *predictor, int64_t predicted_run, gt_report_progress *progress, void *user,
              struct gt_error *error)
{
    struct gt_folder folder;
    struct making making = { .folder = &folder,
                             .filter = filter,
                             .predictor = predictor,
                             .predicted_run = predicted_run,
                             .progress = progress,
                             .user = user };

    if (begin(&folder, path, error) != 0)
        return -1;
    if (write_all(&making, store, error) == 0)
        return gt_folder_commit(&folder, error);
    gt_folder_abandon(&folder);
    return -1;
}
