/* The timeline that can be zoomed: its controls, its data and the script (plots/templates/timeline.js) in the page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plots/data/live_rows.h"
#include "plots/page/parts.h"
#include "traces/io/data_path.h"
#include "traces/names/short_name.h"

enum { NAME_COLUMNS = 100 };

/* A text of JSON that is no markup, wherever it stands in a page. */
static void put_text(FILE *out, const char *text)
{
    char *clean = gt_clean_name(text);

    putc('"', out);
    for (const char *s = clean; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '<' || *s == '>' || *s == '&' || (*s == '/' && s[1] == '/'))
            fprintf(out, "\\u%04x", (unsigned char)*s);
        else
            putc(*s, out);
    }
    putc('"', out);
    free(clean);
}

/* Five bits a character, the lowest first; bit 5 says that more follow. */
static void put_number(FILE *out, uint64_t number)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (; number >= 32; number >>= 5)
        putc_unlocked(digits[32 + (number & 31)], out);
    putc_unlocked(digits[number], out);
}

static void put_signed(FILE *out, int64_t number)
{
    put_number(out, number < 0 ? 2 * (uint64_t)-number - 1 : 2 * (uint64_t)number);
}

static int64_t ns(int64_t ps)
{
    return ps >= 0 ? ps / 1000 : -((999 - ps) / 1000);
}

/* Where boxes begin is counted from the end of the one before. */
static void put_span(FILE *out, int64_t *last_ns, int64_t start_ps, int64_t end_ps)
{
    int64_t start_ns = ns(start_ps), end_ns = ns(end_ps);

    put_signed(out, start_ns - *last_ns);
    put_number(out, (uint64_t)(end_ns - start_ns));
    *last_ns = end_ns;
}

/* What an operation waited for, its bytes, and the box of what let it start: bits say which of them there are. */
static void put_waits(FILE *out, const struct gt_live_rows *rows, const struct gt_live_row *row,
                      const struct gt_loaded_op *op, uint32_t *last_cause)
{
    uint32_t head = 0, cause = GT_NONE;

    if (op->cause_op != GT_NONE)
        cause = rows->op_boxes[row->side][op->cause_op];
    else if (op->cause_call != GT_NONE)
        cause = rows->call_boxes[row->side][op->cause_call];
    for (int wait = 0; wait < GT_WAITS; wait++)
        head |= (uint32_t)(op->wait_ps[wait] >= 1000) << wait;
    head |= (uint32_t)(cause != GT_NONE) << GT_WAITS | (uint32_t)(op->bytes > 0) << (GT_WAITS + 1);
    put_number(out, head);
    for (int wait = 0; wait < GT_WAITS; wait++)
        if (head >> wait & 1)
            put_number(out, op->wait_ps[wait] / 1000);
    if (op->bytes > 0)
        put_number(out, op->bytes);
    if (cause != GT_NONE) {
        put_signed(out, (int64_t)cause - *last_cause);
        *last_cause = cause;
    }
}

static void put_boxes(FILE *out, struct gt_live_rows *rows, const struct gt_live_row *row)
{
    const struct gt_side *side = &rows->view->sides[row->side];
    int64_t origin_ps = side->origin_ps, last_ns = 0;
    uint32_t cause = row->first;

    for (uint32_t i = 0; i < row->count; i++) {
        if (row->kind == GT_LIVE_ROW_RANGES) {
            put_span(out, &last_ns, row->ranges[i].start_ps, row->ranges[i].end_ps);
            put_number(out, row->ranges[i].name);
        } else if (row->kind == GT_LIVE_ROW_CALLS) {
            const struct gt_loaded_call *call = &side->run->calls[row->items[i]];

            put_span(out, &last_ns, (int64_t)call->start_ps - origin_ps, (int64_t)call->end_ps - origin_ps);
            put_number(out, rows->call_names[row->side][call->name]);
            put_number(out, call->blocked_ps / 1000);
        } else {
            const struct gt_loaded_op *op = &side->run->ops[row->items[i]];

            put_span(out, &last_ns, (int64_t)op->start_ps - origin_ps, (int64_t)op->end_ps - origin_ps);
            put_number(out, gt_live_op_name(rows, row->side, row->items[i]));
            put_waits(out, rows, row, op, &cause);
        }
    }
}

static void put_rows(FILE *out, struct gt_live_rows *rows)
{
    static const char *const kinds[] = {
        [GT_LIVE_ROW_RANGES] = "range",
        [GT_LIVE_ROW_CALLS] = "call",
        [GT_LIVE_ROW_STREAM] = "stream",
    };

    fputs(",\n\"rows\":[", out);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct gt_live_row *row = &rows->rows[i];

        fprintf(out, "%s\n{\"kind\":\"%s\",\"side\":%zu,\"gpu\":%" PRIu32 ",\"count\":%" PRIu32 ",\"title\":",
                i == 0 ? "" : ",", kinds[row->kind], row->side, row->gpu, row->count);
        put_text(out, row->title);
        fputs(",\"boxes\":\"", out);
        put_boxes(out, rows, row);
        fputs("\"}", out);
    }
    fputs("\n]", out);
}

/* After the boxes: they add names. */
static void put_names(FILE *out, const struct gt_live_rows *rows)
{
    const char **names = gt_calloc(rows->names.count + 1ull, sizeof *names);
    char **shorts = gt_calloc(rows->names.count + 1ull, sizeof *shorts);

    for (uint32_t i = 0; i < rows->names.count; i++)
        names[i] = rows->names.rows[i].text;
    gt_short_names_unique(names, shorts, rows->names.count, NAME_COLUMNS);
    fputs(",\n\"names\":[", out);
    for (uint32_t i = 0; i < rows->names.count; i++) {
        fputs(i == 0 ? "" : ",", out);
        put_text(out, shorts[i]);
        free(shorts[i]);
    }
    fputs("],\n\"kinds\":\"", out);
    for (uint32_t i = 0; i < rows->names.count; i++)
        putc((char)rows->names.rows[i].kind, out);
    fputs("\",\n\"colours\":[", out);
    for (uint32_t i = 0; i < rows->names.count; i++)
        fprintf(out, "%s\"#%06x\"", i == 0 ? "" : ",", rows->names.rows[i].rgb);
    fputs("]", out);
    free(names);
    free(shorts);
}

static void put_data(FILE *out, struct gt_live_rows *rows)
{
    uint32_t gpus = 1;

    for (size_t side = 0; side < rows->view->side_count; side++)
        gpus = rows->view->sides[side].run->gpu_count > gpus ? rows->view->sides[side].run->gpu_count : gpus;
    fprintf(out, "<script type=\"application/json\" id=\"live-data\">\n{\"gpus\":%" PRIu32 ",\"sides\":[", gpus);
    for (size_t side = 0; side < rows->view->side_count; side++) {
        fputs(side == 0 ? "" : ",", out);
        put_text(out, rows->view->sides[side].label);
    }
    fputs("]", out);
    put_rows(out, rows);
    put_names(out, rows);
    fputs("}\n</script>\n", out);
}

static void put_controls(FILE *out, const struct gt_live_rows *rows)
{
    fputs("<div id=\"live\" hidden>\n<div class=\"controls\">\n<input data-part=\"search\" type=\"search\" "
          "placeholder=\"Search names\" aria-label=\"Search names\">\n<button data-part=\"back\" aria-label=\"Match "
          "before\">‹</button><button data-part=\"next\" aria-label=\"Next match\">›</button>\n<output "
          "data-part=\"count\"></output>\n<span class=\"zoom\"><button data-part=\"left\" "
          "aria-label=\"Earlier\">←</button><button data-part=\"right\" aria-label=\"Later\">→</button><button "
          "data-part=\"out\" aria-label=\"Zoom out\">−</button><button data-part=\"in\" aria-label=\"Zoom "
          "in\">+</button><button data-part=\"all\">all</button></span>\n</div>\n<div class=\"frame\" "
          "data-part=\"frame\"><canvas data-part=\"canvas\" tabindex=\"0\" role=\"img\" aria-label=\"Timeline: "
          "arrows move, + and − zoom, n and p go from operation to operation, / searches\"></canvas><div "
          "data-part=\"spacer\"></div><div class=\"tip\" data-part=\"tip\" role=\"status\" hidden></div></div>\n<p "
          "class=\"quiet\">Drag to move; pinch, or Ctrl and wheel, to zoom; double click to fit an operation; keys: "
          "arrows, +, −, 0, n and p, /. Where boxes are too narrow, the height of a column is the share of its time "
          "during which the row was busy.",
          out);
    if (rows->ranges_left_out > 0)
        fprintf(out, " %s ranges are nested too deeply to be shown.", gt_count_text(rows->ranges_left_out).s);
    if (rows->rows_left_out > 0)
        fprintf(out, " %s rows have too many boxes for a page and are not shown.",
                gt_count_text(rows->rows_left_out).s);
    fputs("</p>\n</div>\n", out);
}

int gt_page_live(const struct gt_page *page, struct gt_error *error)
{
    struct gt_live_rows rows;
    int result = gt_live_rows_load(&rows, page->view, error);

    if (result == 0 && rows.boxes > 0) {
        put_controls(page->out, &rows);
        put_data(page->out, &rows);
        result = gt_page_file(page->out, "timeline.js", "<script>\n", "</script>\n", error);
    }
    gt_live_rows_free(&rows);
    return result;
}
