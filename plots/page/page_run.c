/* What every page says of its run: how busy it was, its critical path, what the trace does not tell. */
#include <math.h>
#include <stdlib.h>

#include "plots/page/parts.h"
#include "traces/names/short_name.h"
#include "traces/store/run_rows.h"

static const char *const wait_names[GT_WAITS] = {
    [GT_WAIT_HOST] = "the host",        [GT_WAIT_STREAM] = "stream order",
    [GT_WAIT_EVENT] = "events",         [GT_WAIT_QUEUE] = "a hardware queue",
    [GT_WAIT_ENGINE] = "a copy engine", [GT_WAIT_RESOURCE] = "free SM resources",
};

/* The reason that takes most of the streams' idle time. */
static void write_waits(FILE *out, const struct gt_stats_summary *summary)
{
    double total_ps = 0;
    int most = 0;

    for (int wait = 0; wait < GT_WAITS; wait++) {
        total_ps += (double)summary->idle_wait_ps[wait];
        most = summary->idle_wait_ps[wait] > summary->idle_wait_ps[most] ? wait : most;
    }
    if (!summary->waits_known || total_ps == 0)
        return;
    fprintf(out, " Between operations, streams waited mostly for %s (%s of their idle time).", wait_names[most],
            gt_share_text((double)summary->idle_wait_ps[most] / total_ps).s);
}

void gt_page_use(const struct gt_page *page)
{
    const struct gt_stats_summary *summary = &page->view->subject->stats->summary;
    FILE *out = page->out;

    fprintf(out, "<p>The GPU was busy %s of the time.",
            gt_share_text((double)summary->busy_ps / (double)summary->makespan_ps).s);
    write_waits(out, summary);
    if (summary->copy_ps > 0 && summary->kernel_ps > 0) {
        if (summary->overlap_ps > 0)
            fprintf(out, " Copies overlapped kernels for %s of the %s in which they ran.",
                    gt_time_text((double)summary->overlap_ps).s, gt_time_text((double)summary->copy_ps).s);
        else
            fprintf(out, " Copies ran for %s, all of it while no kernel ran.",
                    gt_time_text((double)summary->copy_ps).s);
    }
    fputs("</p>\n", out);
}

void gt_page_path(const struct gt_page *page)
{
    const struct gt_stats *stats = page->view->subject->stats;
    FILE *out = page->out;

    if (stats->path_count == 0)
        return;
    fputs("<p>The critical path, the chain of calls and operations that determines the end of the run, is "
          "mostly:</p>\n<ol class=\"path\">\n",
          out);
    for (size_t i = 0; i < stats->path_count && i < GT_PAGE_PATH_PARTS; i++) {
        const struct gt_stats_path_part *part = &stats->path[i];
        const char *name = gt_page_short_name(&page->names, part->name);

        fprintf(out, "<li><strong>%s</strong> %s", gt_share_text(part->share).s, gt_path_kind_names[part->kind]);
        if (name[0] != '\0') {
            fputs(" <span class=\"name\">", out);
            gt_html(out, name);
            fputs("</span>", out);
        }
        fprintf(out, " <span class=\"quiet\">%s in %s %s</span></li>\n", gt_time_text((double)part->total_ps).s,
                gt_count_text(part->segments).s, part->segments == 1 ? "stretch" : "stretches");
    }
    fputs("</ol>\n", out);
}

void gt_page_tile(FILE *out, const char *what, struct gt_text number)
{
    fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", what, number.s);
}

double gt_page_mean_occupancy(const struct gt_stats *stats)
{
    double sum = 0;

    for (size_t i = 0; i < stats->sm_count; i++)
        sum += stats->sms[i].occupancy;
    return stats->sm_count > 0 ? sum / (double)stats->sm_count : NAN;
}

struct warnings {
    FILE *out;
    int rows;
};

static int write_warning(void *user, const struct gt_warning_row *row, struct gt_error *error)
{
    struct warnings *warnings = user;

    (void)error;
    if (warnings->rows++ == 0)
        fputs("<section class=\"warnings\">\n<h2>Warnings about the trace</h2>\n<ul>\n", warnings->out);
    fprintf(warnings->out, "<li><strong>%s ×</strong> ", gt_count_text((uint64_t)row->count).s);
    gt_html(warnings->out, row->text);
    fputs("</li>\n", warnings->out);
    return 0;
}

/* What the import could not know: of the trace, and of the one that it was made from. */
int gt_page_warnings(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_view *view = page->view;
    struct warnings warnings = { page->out, 0 };
    int result = gt_run_warnings(view->database, view->subject->stats->run.run_id, write_warning, &warnings, error);

    if (warnings.rows > 0)
        fputs("</ul>\n</section>\n", page->out);
    return result;
}
