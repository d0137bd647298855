#include "plots/page/page_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/page/parts.h"
#include "traces/names/demangle.h"
#include "traces/names/short_name.h"
#include "traces/store/run_rows.h"

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

/* The tables after the figures. */

enum { STREAM_ROWS = 100, NAME_COLUMNS = 60, HEAD_BYTES = 48 };

/* "Busy, measured": a column of the run beside the one that the table is of. */
static const char *beside_head(const char *what, const struct gt_view *view, char head[HEAD_BYTES])
{
    if (view->beside == NULL)
        return "";
    snprintf(head, HEAD_BYTES, "%s, %s", what, view->beside->label);
    return head;
}

/* The streams' names and the short ones, of the first `count`. */
static void name_streams(const struct gt_side *side, size_t count, char **names, char **shorts)
{
    for (size_t i = 0; i < count; i++)
        names[i] = gt_view_stream_name(side, i);
    gt_short_names_unique((const char *const *)names, shorts, count, NAME_COLUMNS);
}

static void write_stream(const struct gt_page *page, size_t number, bool pairs)
{
    const struct gt_stats *stats = page->view->subject->stats;
    const struct gt_side *beside = page->view->beside;
    const struct gt_stats_stream *stream = &stats->streams[number];
    double makespan = (double)stats->summary.makespan_ps;
    FILE *out = page->out;

    gt_page_cell(out, gt_count_text(stream->operations));
    gt_page_cell(out, gt_share_text((double)stream->busy_ps / makespan));
    if (pairs)
        gt_page_cell(out, number < beside->stats->stream_count
                              ? gt_share_text((double)beside->stats->streams[number].busy_ps /
                                              (double)beside->stats->summary.makespan_ps)
                              : (struct gt_text){ "–" });
    gt_page_cell(out, gt_share_text((double)stream->idle_before_ps / makespan));
    for (int wait = 0; wait < GT_WAITS; wait++)
        gt_page_cell(out, gt_share_text((double)stream->idle_wait_ps[wait] / makespan));
    gt_page_cell(out, gt_share_text((double)stream->idle_unknown_ps / makespan));
    gt_page_cell(out, gt_share_text((double)stream->idle_after_ps / makespan));
    fputs("</tr>\n", out);
}

static void write_streams(const struct gt_page *page)
{
    const struct gt_view *view = page->view;
    size_t count = view->subject->stats->stream_count, shown = count < STREAM_ROWS ? count : STREAM_ROWS;
    bool pairs = view->beside != NULL && !view->other_streams;
    char *names[STREAM_ROWS], *shorts[STREAM_ROWS], head[HEAD_BYTES];
    const char *const heads[] = {
        "Stream",       "Operations",  "Busy",         pairs ? beside_head("Busy", view, head) : "",
        "Before first", "Host",        "Stream order", "Event",
        "Queue",        "Copy engine", "SM resources", "Not known",
        "After last",   NULL,
    };

    gt_page_table_begin(page->out, "streams", "Streams: busy and idle times",
                        "Shares of the time from the first operation’s start to the last one’s end; the columns "
                        "between name the causes of idle time between operations.",
                        heads);
    name_streams(view->subject, shown, names, shorts);
    for (size_t i = 0; i < shown; i++) {
        gt_page_name_cell(page->out, names[i], shorts[i]);
        write_stream(page, i, pairs);
        free(names[i]);
        free(shorts[i]);
    }
    gt_page_table_end(page->out, "stats", count, shown);
}

static const struct gt_stats_kernel *kernel_of(const struct gt_side *side, const char *name)
{
    for (size_t i = 0; side != NULL && i < side->stats->kernel_count; i++)
        if (strcmp(side->stats->kernels[i].name, name) == 0)
            return &side->stats->kernels[i];
    return NULL;
}

static void shape_cell(FILE *out, const struct gt_stats_kernel *kernel)
{
    fprintf(out, "<td class=\"shape\">%u×%u×%u / %u×%u×%u%s</td>", kernel->grid[0], kernel->grid[1], kernel->grid[2],
            kernel->block[0], kernel->block[1], kernel->block[2], kernel->shapes > 1 ? " and others" : "");
}

static void write_kernels(const struct gt_page *page)
{
    const struct gt_view *view = page->view;
    FILE *out = page->out;
    char head[HEAD_BYTES];
    const struct gt_stats *stats = view->subject->stats;
    const char *const heads[] = { "Kernel",
                                  "Launches",
                                  "Total",
                                  "Share",
                                  "Mean",
                                  beside_head("Mean", view, head),
                                  "Mean wait for SM resources",
                                  "Grid / block",
                                  "Waves",
                                  "Occupancy",
                                  "Limited by",
                                  NULL };
    size_t shown = stats->kernel_count < GT_PAGE_KERNEL_ROWS ? stats->kernel_count : GT_PAGE_KERNEL_ROWS;

    if (stats->kernel_count == 0)
        return;
    gt_page_table_begin(out, "kernels", "Kernels",
                        "By name, most time first. Shares are of all kernels’ time; waves, occupancy and its limit "
                        "are those of the launch shape with the most time, alone on the device.",
                        heads);
    for (size_t i = 0; i < shown; i++) {
        const struct gt_stats_kernel *kernel = &stats->kernels[i];
        const struct gt_stats_kernel *other = kernel_of(view->beside, kernel->name);

        gt_page_name_cell(out, kernel->name, gt_page_short_name(&page->names, kernel->name));
        gt_page_cell(out, gt_count_text(kernel->count));
        gt_page_cell(out, gt_time_text((double)kernel->total_ps));
        gt_page_cell(out, gt_share_text(kernel->share));
        gt_page_cell(out, gt_time_text(kernel->mean_ps));
        if (view->beside != NULL)
            gt_page_cell(out, gt_time_text(other != NULL ? other->mean_ps : NAN));
        gt_page_cell(out, gt_time_text(kernel->mean_wait_resource_ps));
        shape_cell(out, kernel);
        gt_page_cell(out, gt_number_text(kernel->waves));
        gt_page_cell(out, gt_share_text(kernel->occupancy));
        fprintf(out, "<td>%s</td></tr>\n", kernel->limiter != NULL ? kernel->limiter : "does not fit");
    }
    gt_page_table_end(out, "stats", stats->kernel_count, shown);
}

static void write_task_kinds(const struct gt_page *page)
{
    const struct gt_stats *stats = page->view->subject->stats;
    size_t shown = stats->task_kind_count < GT_PAGE_KERNEL_ROWS ? stats->task_kind_count : GT_PAGE_KERNEL_ROWS;
    const char *const heads[] = {
        "Kind", "Tasks", "Total", "Share of the workers’ time", "Mean", "Mean wait for counters", NULL
    };
    FILE *out = page->out;

    if (stats->tasks.count == 0)
        return;
    gt_page_table_begin(out, "task-table", "Tasks by kind", "Tasks of kernels with a task graph, most time first.",
                        heads);
    for (size_t i = 0; i < shown; i++) {
        const struct gt_stats_task_kind *kind = &stats->task_kinds[i];
        double count = kind->count > 0 ? (double)kind->count : NAN;

        gt_page_name_cell(out, kind->name, kind->name);
        gt_page_cell(out, gt_count_text(kind->count));
        gt_page_cell(out, gt_time_text((double)kind->total_ps));
        gt_page_cell(out, gt_share_text((double)kind->total_ps / (double)stats->tasks.worker_ps));
        gt_page_cell(out, gt_time_text((double)kind->total_ps / count));
        gt_page_cell(out, gt_time_text((double)kind->wait_ps / count));
        fputs("</tr>\n", out);
    }
    gt_page_table_end(out, "stats", stats->task_kind_count, shown);
}

static const struct gt_stats_copy *copy_of(const struct gt_side *side, const struct gt_stats_copy *like)
{
    for (size_t i = 0; side != NULL && i < side->stats->copy_count; i++) {
        const struct gt_stats_copy *copy = &side->stats->copies[i];

        if (strcmp(copy->kind, like->kind) == 0 && strcmp(copy->direction, like->direction) == 0 &&
            strcmp(copy->memory, like->memory) == 0)
            return copy;
    }
    return NULL;
}

static void write_copies(const struct gt_page *page)
{
    const struct gt_view *view = page->view;
    FILE *out = page->out;
    char head[HEAD_BYTES];
    const struct gt_stats *stats = view->subject->stats;
    const char *const heads[] = { "Copy",
                                  "Count",
                                  "Bytes",
                                  "Busy",
                                  "Bandwidth",
                                  beside_head("Bandwidth", view, head),
                                  "Overlapped with kernels",
                                  "Overlapped with other directions",
                                  NULL };

    if (stats->copy_count == 0)
        return;
    gt_page_table_begin(
        out, "copy-table", "Copies and memsets",
        "By direction and memory. Busy is the time in which at least one ran; bandwidth is bytes / busy time.",
        heads);
    for (size_t i = 0; i < stats->copy_count; i++) {
        const struct gt_stats_copy *copy = &stats->copies[i];
        const struct gt_stats_copy *other = copy_of(view->beside, copy);
        char label[80];

        snprintf(label, sizeof label, "%s %s %s", copy->kind, copy->direction, copy->memory);
        gt_page_name_cell(out, label, label);
        gt_page_cell(out, gt_count_text(copy->count));
        gt_page_cell(out, gt_bytes_text((double)copy->bytes));
        gt_page_cell(out, gt_time_text((double)copy->busy_ps));
        gt_page_cell(out, gt_rate_text(copy->gbps));
        if (view->beside != NULL)
            gt_page_cell(out, gt_rate_text(other != NULL ? other->gbps : NAN));
        gt_page_cell(out, gt_time_text((double)copy->kernel_overlap_ps));
        gt_page_cell(out, gt_time_text((double)copy->other_direction_overlap_ps));
        fputs("</tr>\n", out);
    }
    gt_page_table_end(out, "stats", stats->copy_count, stats->copy_count);
}

static void write_notes(FILE *out, const struct gt_stats *stats)
{
    if (stats->note_count == 0)
        return;
    fputs("<section>\n<h2>Notes</h2>\n<ul>\n", out);
    for (size_t i = 0; i < stats->note_count; i++) {
        fprintf(out, "<li>%s: ", stats->notes[i].section);
        gt_html(out, stats->notes[i].text);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n</section>\n", out);
}

static int write_key(void *user, const char *key, const char *value, struct gt_error *error)
{
    FILE *out = user;

    (void)error;
    gt_page_name_cell(out, key, key);
    fputs("<td class=\"value\">", out);
    gt_html(out, value);
    fputs("</td></tr>\n", out);
    return 0;
}

/* The device as the run used it: every key, folded away. */
static int write_device(FILE *out, const struct gt_view *view, struct gt_error *error)
{
    int result;

    fputs("<section>\n<details>\n<summary>Device keys of this run</summary>\n<div "
          "class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Key</th><th "
          "scope=\"col\">Value</th></tr></thead>\n<tbody>\n",
          out);
    result = gt_run_device_keys(view->database, view->subject->stats->run.run_id, write_key, out, error);
    fputs("</tbody>\n</table></div>\n</details>\n</section>\n", out);
    return result;
}

int gt_page_tables(const struct gt_page *page, struct gt_error *error)
{
    write_streams(page);
    gt_page_ranks(page);
    write_kernels(page);
    write_task_kinds(page);
    write_copies(page);
    write_notes(page->out, page->view->subject->stats);
    return write_device(page->out, page->view, error);
}
