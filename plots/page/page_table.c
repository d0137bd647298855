#include "plots/page/page_table.h"

#include <stdlib.h>
#include <string.h>

#include "traces/names/demangle.h"
#include "traces/names/short_name.h"

void gt_page_table_begin(FILE *out, const char *id, const char *title, const char *how, const char *const heads[])
{
    fprintf(out,
            "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n<div class=\"scroll\" tabindex=\"0\" "
            "role=\"region\" aria-label=\"%s\"><table>\n<thead><tr>",
            id, title, how, title);
    for (size_t i = 0; heads[i] != NULL; i++)
        if (i == 0 || heads[i][0] != '\0')
            fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void gt_page_table_end(FILE *out, const char *command, size_t rows, size_t shown)
{
    fputs("</tbody>\n</table></div>\n", out);
    if (shown < rows)
        fprintf(out, "<p class=\"quiet\">%s more are not listed; <code>gridtide %s</code> prints all.</p>\n",
                gt_count_text(rows - shown).s, command);
    fputs("</section>\n", out);
}

void gt_page_cell(FILE *out, struct gt_text text)
{
    fprintf(out, "<td>%s</td>", text.s);
}

void gt_page_name_cell(FILE *out, const char *name, const char *shortened)
{
    char *text = gt_demangle(name);

    fputs("<tr><th scope=\"row\" class=\"name\"", out);
    if (strcmp(text, shortened) != 0) {
        fputs(" title=\"", out);
        gt_html(out, text);
        putc('"', out);
    }
    putc('>', out);
    gt_html(out, shortened);
    fputs("</th>", out);
    free(text);
}
