#include "plots/page/page_plain.h"

#include "config.h"
#include "plots/page/parts.h"

int gt_plain_head(FILE *out, const char *title, struct gt_error *error)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" GT_REPORT_MARKER "\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s – Gridtide report</title>\n",
            title);
    if (gt_page_file(out, "report.css", "<style>\n", "</style>\n", error) != 0)
        return -1;
    fprintf(out,
            "</head>\n<body>\n<header>\n<p class=\"kicker\">Gridtide report</p>\n<h1>%s</h1>\n</header>\n<main>\n"
            "<section class=\"answer\">\n<p class=\"headline\">",
            title);
    return 0;
}

void gt_plain_foot(FILE *out)
{
    fputs("</main>\n<footer><p>Made by " PACKAGE_STRING ".</p></footer>\n</body>\n</html>\n", out);
}

int gt_plain_figure(FILE *out, const struct gt_folder *folder, const char *name, const char *title, const char *how,
                    gt_plain_prepare *prepare, const void *user, struct gt_error *error)
{
    struct gt_drawing drawing;
    int prepared;

    if (gt_drawing_begin(&drawing, folder, error) != 0)
        return -1;
    prepared = prepare(user, &drawing, error);
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

int gt_plain_page(const struct gt_folder *folder, gt_plain_put *put, const void *user, struct gt_error *error)
{
    FILE *out = gt_folder_open(folder, "index.html", error);

    if (out == NULL)
        return -1;
    if (put(out, folder, user, error) == 0)
        return gt_folder_close(folder, out, error);
    fclose(out);
    return -1;
}
