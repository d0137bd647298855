/* The top of the page: what came out, in words and numbers, and what to mind. */
#include <math.h>
#include <stdlib.h>

#include "plots/page/page.h"
#include "traces/names/short_name.h"

enum { PATH_PARTS = 5 };

const char *const gt_page_waits[GT_WAITS] = {
    [GT_WAIT_HOST] = "the host",
    [GT_WAIT_STREAM] = "stream order",
    [GT_WAIT_EVENT] = "events",
    [GT_WAIT_QUEUE] = "a hardware queue",
    [GT_WAIT_ENGINE] = "a copy engine",
    [GT_WAIT_RESOURCE] = "room on the SMs",
};

static double makespan_ps(const struct gt_view *view)
{
    if (view->measured != NULL && view->comparison.matched > 0)
        return view->comparison.makespan_simulated_us * 1e6;
    return (double)view->main->stats->summary.makespan_ps;
}

static void write_makespan(FILE *out, const struct gt_view *view)
{
    const struct gt_comparison *comparison = &view->comparison;
    const struct gt_stats *stats = view->main->stats;

    if (stats->run.simulated) {
        fputs("Simulated on ", out);
        gt_html(out, stats->run.device.name);
    } else {
        fputs("Measured", out);
    }
    fprintf(out, ": <strong>%s</strong>", gt_time_text(makespan_ps(view)).s);
    if (view->measured != NULL && comparison->matched > 0)
        fprintf(out, "; the trace recorded %s: <strong>%s</strong>.",
                gt_time_text(comparison->makespan_measured_us * 1e6).s,
                gt_signed_pct_text(comparison->makespan_error_pct).s);
    else
        fprintf(out, " from the first operation’s start to the last one’s end. %s",
                stats->run.simulated ? "The trace recorded no times to compare with."
                                     : "The store has no simulated run of it.");
}

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
    fprintf(out, " Between operations, streams waited mostly for %s (%s of their idle time).",
            gt_page_waits[most], gt_share_text((double)summary->idle_wait_ps[most] / total_ps).s);
}

static void write_use(FILE *out, const struct gt_stats_summary *summary)
{
    fprintf(out, "<p>The GPU was busy %s of the time.",
            gt_share_text((double)summary->busy_ps / (double)summary->makespan_ps).s);
    write_waits(out, summary);
    if (summary->copy_ps > 0 && summary->kernel_ps > 0) {
        if (summary->overlap_ps > 0)
            fprintf(out, " Copies overlapped kernels for %s of the %s in which they ran.",
                    gt_time_text((double)summary->overlap_ps).s, gt_time_text((double)summary->copy_ps).s);
        else
            fprintf(out, " Copies ran for %s, none of it while a kernel ran.",
                    gt_time_text((double)summary->copy_ps).s);
    }
    fputs("</p>\n", out);
}

static void write_starts(FILE *out, const struct gt_comparison *comparison)
{
    if (comparison->matched == 0)
        return;
    fprintf(out,
            "<p>Of %s operations compared, half start within %s of where they were measured (%s of the "
            "measured time), 95%% within %s, all within %s.",
            gt_count_text(comparison->matched).s, gt_time_text(comparison->start_error_us.median * 1e6).s,
            gt_share_text(comparison->start_error_pct.median / 100).s,
            gt_time_text(comparison->start_error_us.p95 * 1e6).s,
            gt_time_text(comparison->start_error_us.max * 1e6).s);
    if (comparison->unmatched > 0)
        fprintf(out, " %s operations have a time in one of the runs only and are left out.",
                gt_count_text(comparison->unmatched).s);
    fputs("</p>\n", out);
}

static void write_path(FILE *out, const struct gt_stats *stats)
{
    if (stats->path_count == 0)
        return;
    fputs("<p>The critical path, what the run’s end waited for step by step, is mostly:</p>\n"
          "<ol class=\"path\">\n", out);
    for (size_t i = 0; i < stats->path_count && i < PATH_PARTS; i++) {
        const struct gt_stats_path_part *part = &stats->path[i];
        char *name = gt_short_name(part->name, 80);

        fprintf(out, "<li><strong>%s</strong> %s", gt_share_text(part->share).s,
                gt_path_kind_names[part->kind]);
        if (name[0] != '\0') {
            fputs(" <span class=\"name\">", out);
            gt_html(out, name);
            fputs("</span>", out);
        }
        fprintf(out, " <span class=\"quiet\">%s in %s %s</span></li>\n",
                gt_time_text((double)part->total_ps).s, gt_count_text(part->segments).s,
                part->segments == 1 ? "stretch" : "stretches");
        free(name);
    }
    fputs("</ol>\n", out);
}

static void tile(FILE *out, const char *what, struct gt_text number)
{
    fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", what, number.s);
}

static double mean_occupancy(const struct gt_stats *stats)
{
    double sum = 0;

    for (size_t i = 0; i < stats->sm_count; i++)
        sum += stats->sms[i].occupancy;
    return stats->sm_count > 0 ? sum / (double)stats->sm_count : NAN;
}

static void write_tiles(FILE *out, const struct gt_view *view)
{
    const struct gt_stats *stats = view->main->stats;
    const struct gt_stats_summary *summary = &stats->summary;

    fputs("<dl class=\"tiles\">\n", out);
    tile(out, "Kernels", gt_count_text(summary->kernels));
    tile(out, "Copies", gt_count_text(summary->copies));
    tile(out, "Memsets", gt_count_text(summary->memsets));
    tile(out, "GPU busy", gt_share_text((double)summary->busy_ps / (double)summary->makespan_ps));
    if (stats->sm_count > 0)
        tile(out, "Mean SM occupancy", gt_share_text(mean_occupancy(stats)));
    if (view->measured != NULL && view->comparison.matched > 0) {
        tile(out, "Makespan error", gt_signed_pct_text(view->comparison.makespan_error_pct));
        tile(out, "Median start error", gt_time_text(view->comparison.start_error_us.median * 1e6));
    }
    fputs("</dl>\n", out);
}

/* What the import could not know: of the trace, and of the one that it was made from. */
static int write_warnings(FILE *out, const struct gt_view *view, struct gt_error *error)
{
    sqlite3_stmt *query = gt_view_query(view,
        "SELECT count, text FROM warning WHERE trace_id IN (SELECT trace_id FROM trace WHERE trace_id = ?1"
        " UNION SELECT base_trace_id FROM trace WHERE trace_id = ?1) GROUP BY kind ORDER BY kind", error);
    int result, rows = 0;

    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, view->main->stats->run.trace_id);
    while ((result = gt_view_row(view, query, error)) == 1) {
        const char *text = (const char *)sqlite3_column_text(query, 1);

        if (rows++ == 0)
            fputs("<section class=\"warnings\">\n<h2>What the trace does not tell</h2>\n<ul>\n", out);
        fprintf(out, "<li><strong>%s ×</strong> ", gt_count_text((uint64_t)sqlite3_column_int64(query, 0)).s);
        gt_html(out, text != NULL ? text : "");
        fputs("</li>\n", out);
    }
    sqlite3_finalize(query);
    if (rows > 0)
        fputs("</ul>\n</section>\n", out);
    return result;
}

int gt_page_answer(FILE *out, const struct gt_view *view, struct gt_error *error)
{
    const struct gt_stats *stats = view->main->stats;

    fputs("<section class=\"answer\">\n", out);
    if (stats->summary.operations == 0) {
        fputs("<p class=\"headline\">The trace has no operation for a GPU: no kernel, copy or memset. There "
              "is nothing to draw.</p>\n</section>\n",
              out);
        return write_warnings(out, view, error);
    }
    fputs("<p class=\"headline\">", out);
    write_makespan(out, view);
    fputs("</p>\n", out);
    write_use(out, &stats->summary);
    if (view->measured != NULL)
        write_starts(out, &view->comparison);
    write_tiles(out, view);
    write_path(out, stats);
    fputs("</section>\n", out);
    return write_warnings(out, view, error);
}
