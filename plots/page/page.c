#include "plots/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "plots/data/report_folder.h"
#include "plots/data/suite_view.h"
#include "plots/page/parts.h"
#include "traces/io/data_path.h"
#include "traces/names/short_name.h"

int gt_page_file(FILE *out, const char *name, const char *before, const char *after, struct gt_error *error)
{
    char *path = gt_data_path("templates", name), buffer[4096];
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    size_t bytes;

    free(path);
    if (in == NULL)
        return gt_error_set(
            error, "%s: cannot read this template of the report; install Gridtide again, or set GRIDTIDE_DATA", name);
    fputs(before, out);
    while ((bytes = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, bytes, out);
    fputs(after, out);
    fclose(in);
    return 0;
}

static void write_title(const struct gt_page *page)
{
    const struct gt_view *view = page->view;

    if (view->kind == GT_PAGE_SUITE)
        fprintf(page->out, "%s traces", gt_count_text(view->suite->count).s);
    else
        gt_html(page->out, view->subject->stats->run.trace);
}

/* What part of the run it is about. */
static void write_part(FILE *out, const struct gt_filter *filter)
{
    const struct {
        const char *what, *name;
    } names[] = { { "step", filter->step }, { "stream", filter->stream }, { "kernel", filter->kernel } };

    fputs(" · <span>only", out);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].name == NULL)
            continue;
        fprintf(out, " %s ", names[i].what);
        gt_html(out, names[i].name);
    }
    if (filter->from_ps > 0)
        fprintf(out, " from %.3f µs", (double)filter->from_ps / 1e6);
    if (filter->to_ps != GT_TIME_NONE)
        fprintf(out, " to %.3f µs", (double)filter->to_ps / 1e6);
    fputs("</span>", out);
}

static int write_head(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_stats_run *run = &page->view->subject->stats->run;
    FILE *out = page->out;

    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" GT_REPORT_MARKER "\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"connect-src 'none'; object-src 'none'; "
          "frame-src 'none'; form-action 'none'; base-uri 'none'\">\n<title>",
          out);
    write_title(page);
    fputs(" – Gridtide report</title>\n", out);
    if (gt_page_file(out, "report.css", "<style>\n", "</style>\n", error) != 0)
        return -1;
    fprintf(out, "</head>\n<body>\n<header>\n<p class=\"kicker\">Gridtide report%s</p>\n<h1>",
            page->view->kind == GT_PAGE_TRACE ? " · <a href=\"index.html\">all traces</a>" : "");
    write_title(page);
    fputs("</h1>\n<p class=\"run\">", out);
    gt_html(out, run->device.name);
    if (run->options[0] != '\0' && page->view->kind != GT_PAGE_SUITE) {
        fputs(" · <span>", out);
        gt_html(out, run->options);
        fputs("</span>", out);
    }
    if (!gt_filter_is_all(page->view->filter))
        write_part(out, page->view->filter);
    fputs("</p>\n</header>\n<main>\n", out);
    return 0;
}

/* How to read a figure, of one run or of two. */
static void write_caption(FILE *out, const struct gt_view *view, const struct gt_page_figure *figure)
{
    const struct gt_figure *row = figure->figure;
    char text[1024] = "";

    if (view->beside != NULL && row->pair != NULL)
        snprintf(text, sizeof text, row->pair, view->beside->label, view->subject->label);
    else if (row->alone != NULL)
        snprintf(text, sizeof text, "%s", row->alone);
    gt_html(out, text);
    if (text[0] != '\0' && figure->drawing.caption[0] != '\0')
        putc(' ', out);
    gt_html(out, figure->drawing.caption);
}

/* The timeline that can be zoomed takes the place of its picture, where the page is allowed to run its script. */
static int write_figure(const struct gt_page *page, const struct gt_page_figure *figure, struct gt_error *error)
{
    const char *title = figure->figure->title, *file = figure->file;
    bool live = strcmp(figure->figure->name, "timeline") == 0;
    FILE *out = page->out;

    if (!figure->drawn && (figure->figure->absent == NULL || page->view->kind == GT_PAGE_KERNELS))
        return 0;
    fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", figure->figure->name, title);
    if (!figure->drawn) {
        fprintf(out, "<p class=\"absent\">%s</p>\n</section>\n", figure->figure->absent);
        return 0;
    }
    if (live && gt_page_live(page, error) != 0)
        return -1;
    fprintf(out,
            "<figure>\n<a class=\"card\"%s href=\"%s.svg\"><img src=\"%s.svg\" width=\"%u\" height=\"%u\" alt=\"",
            live ? " id=\"still\"" : "", file, file, figure->drawing.width_px, figure->drawing.height_px);
    gt_html(out, figure->drawing.alt);
    fputs("\"></a>\n<figcaption>", out);
    write_caption(out, page->view, figure);
    if (figure->png)
        fprintf(out, " <a href=\"%s.png\">PNG</a> ·", file);
    fprintf(out, " <a href=\"%s.svg\">SVG</a></figcaption>\n</figure>\n</section>\n", file);
    return 0;
}

static int write_figures(const struct gt_page *page, const struct gt_page_figure *figures, size_t count, bool opens,
                         struct gt_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (((opens ? figures[i].figure->opens : figures[i].figure->follows) & page->view->kind) &&
            write_figure(page, &figures[i], error) != 0)
            return -1;
    return 0;
}

static bool is_timeline(const struct gt_page *page)
{
    return page->view->kind == GT_PAGE_TIMELINE || page->view->kind == GT_PAGE_TRACE;
}

/* What a page is about that does not open with what bounds a step. */
static int write_subject(const struct gt_page *page, struct gt_error *error)
{
    switch (page->view->kind) {
    case GT_PAGE_SUITE: gt_page_suite_answer(page); return 0;
    case GT_PAGE_KERNELS: gt_page_kernels_answer(page); return 0;
    case GT_PAGE_CHANGE: return gt_page_change_answer(page, error);
    default: return 0;
    }
}

static int write_answer(const struct gt_page *page, struct gt_error *error)
{
    bool empty = page->view->subject->stats->summary.operations == 0 && page->view->kind != GT_PAGE_SUITE;
    int result = 0;

    if (empty || !is_timeline(page)) {
        fputs("<section class=\"answer\">\n", page->out);
        if (empty)
            fputs("<p class=\"headline\">The trace has no GPU operation (kernel, copy or memset), so there is "
                  "nothing to draw.</p>\n",
                  page->out);
        else
            result = write_subject(page, error);
        fputs("</section>\n", page->out);
    }
    return result != 0 ? -1 : gt_page_why(page, error);
}

/* The numbers behind what the page opens with, and how near the simulation is. */
static int write_numbers(const struct gt_page *page, struct gt_error *error)
{
    if (is_timeline(page)) {
        fprintf(page->out, "<section id=\"accuracy\">\n<h2>%s</h2>\n",
                page->view->measured != NULL ? "Simulated and measured" : "Simulated");
        gt_page_timeline_answer(page);
        fputs("</section>\n", page->out);
    }
    return page->view->kind == GT_PAGE_KERNELS ? 0 : gt_page_bound(page, error);
}

/* After the answer of a page that is about a run: figures and tables, those first that the page is about. */
static int write_run(const struct gt_page *page, const struct gt_page_figure *figures, size_t count,
                     struct gt_error *error)
{
    bool kernels_first = page->view->kind == GT_PAGE_KERNELS;

    if (gt_page_warnings(page, error) != 0)
        return -1;
    if (page->view->subject->stats->summary.operations == 0)
        return 0;
    if (kernels_first && gt_page_kernels(page, error) != 0)
        return -1;
    if (write_figures(page, figures, count, true, error) != 0 || write_numbers(page, error) != 0)
        return -1;
    if (kernels_first) {
        fputs("<section>\n<h2>Launches one by one</h2>\n", page->out);
        gt_page_use(page);
        gt_page_path(page);
        fputs("</section>\n", page->out);
    }
    if (write_figures(page, figures, count, false, error) != 0)
        return -1;
    if (!kernels_first && gt_page_kernels(page, error) != 0)
        return -1;
    return gt_page_tables(page, error);
}

int gt_page_write(FILE *out, const struct gt_view *view, const struct gt_page_figure *figures, size_t count,
                  struct gt_error *error)
{
    struct gt_page page = { out, view, gt_page_names_of(view) };
    int result = write_head(&page, error);

    if (result == 0)
        result = write_answer(&page, error);
    if (result == 0)
        result = view->kind == GT_PAGE_SUITE ? write_figures(&page, figures, count, true, error)
                                             : write_run(&page, figures, count, error);
    if (result == 0)
        fputs("</main>\n<footer><p>Made by " PACKAGE_STRING ".</p></footer>\n</body>\n</html>\n", out);
    gt_page_names_free(&page.names);
    return result;
}
