#include "plots/page/page.h"

#include <stdlib.h>

#include "config.h"
#include "plots/data/report_folder.h"
#include "traces/names/short_name.h"
#include "traces/io/datadir.h"

static int write_style(FILE *out, struct gt_error *error)
{
    char *path = gt_data_path("templates", "report.css"), buffer[4096];
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    size_t bytes;

    if (in == NULL) {
        gt_error_set(error, "report.css: cannot read the report's style; install Gridtide again, or set"
                     " GRIDTIDE_DATA");
        free(path);
        return -1;
    }
    free(path);
    fputs("<style>\n", out);
    while ((bytes = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, bytes, out);
    fputs("</style>\n", out);
    fclose(in);
    return 0;
}

static int write_head(FILE *out, const struct gt_view *view, struct gt_error *error)
{
    const struct gt_stats_run *run = &view->main->stats->run;

    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" GT_REPORT_MARKER "\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>", out);
    gt_html(out, run->trace);
    fputs(" – Gridtide report</title>\n", out);
    if (write_style(out, error) != 0)
        return -1;
    fputs("</head>\n<body>\n<header>\n<p class=\"kicker\">Gridtide report</p>\n<h1>", out);
    gt_html(out, run->trace);
    fputs("</h1>\n<p class=\"run\">", out);
    gt_html(out, run->device.name);
    if (run->options[0] != '\0') {
        fputs(" · <span>", out);
        gt_html(out, run->options);
        fputs("</span>", out);
    }
    fputs("</p>\n</header>\n<main>\n", out);
    return 0;
}

static void write_figure(FILE *out, const struct gt_page_figure *figure)
{
    const char *name = figure->figure->name;

    if (!figure->drawn && figure->figure->absent == NULL)
        return;
    fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", name, figure->figure->title);
    if (!figure->drawn) {
        fprintf(out, "<p class=\"absent\">%s</p>\n</section>\n", figure->figure->absent);
        return;
    }
    fprintf(out, "<figure>\n<div class=\"card\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<img src=\"%s.svg\" width=\"%u\" height=\"%u\" alt=\"", figure->figure->title, name,
            figure->drawing.width_px, figure->drawing.height_px);
    gt_html(out, figure->drawing.alt);
    fputs("\"></div>\n<figcaption>", out);
    gt_html(out, figure->drawing.caption);
    fprintf(out,
            " <a href=\"%s.png\">PNG</a> · <a href=\"%s.svg\">SVG</a></figcaption>\n</figure>\n</section>\n",
            name, name);
}

int gt_page_write(FILE *out, const struct gt_view *view, const struct gt_page_figure *figures, size_t count,
                  struct gt_error *error)
{
    if (write_head(out, view, error) != 0 || gt_page_answer(out, view, error) != 0)
        return -1;
    if (view->main->stats->summary.operations > 0) {
        for (size_t i = 0; i < count; i++)
            write_figure(out, &figures[i]);
        if (gt_page_tables(out, view, error) != 0)
            return -1;
    }
    fputs("</main>\n<footer><p>Made by " PACKAGE_STRING ".</p></footer>\n</body>\n</html>\n", out);
    return 0;
}
