/* The top of a page about one trace: how long it took, and how far that is from what was recorded. */
#include <math.h>

#include "plots/page/parts.h"
#include "traces/names/short_name.h"

static bool is_compared(const struct gt_view *view)
{
    return view->measured != NULL && view->comparison.matched > 0;
}

static void write_makespan(FILE *out, const struct gt_view *view)
{
    const struct gt_comparison *comparison = &view->comparison;
    const struct gt_stats *stats = view->subject->stats;

    fputs("<p class=\"headline\">Simulated on ", out);
    gt_html(out, stats->run.device.name);
    if (is_compared(view))
        fprintf(out, ": <strong>%s</strong>; measured %s: <strong>%s</strong>.</p>\n",
                gt_time_text(comparison->makespan_simulated_us * 1e6).s,
                gt_time_text(comparison->makespan_measured_us * 1e6).s,
                gt_signed_pct_text(comparison->makespan_error_pct).s);
    else
        fprintf(out,
                ": <strong>%s</strong> from the first operation’s start to the last one’s end. The trace has no "
                "recorded times to compare with.</p>\n",
                gt_time_text((double)stats->summary.makespan_ps).s);
}

static void write_starts(FILE *out, const struct gt_comparison *comparison)
{
    if (comparison->matched == 0)
        return;
    fprintf(out,
            "<p>Of %s operations compared, half start within %s of their measured start (%s of the measured "
            "makespan), 95%% within %s, all within %s.",
            gt_count_text(comparison->matched).s, gt_time_text(comparison->start_error_us.median * 1e6).s,
            gt_share_text(comparison->start_error_pct.median / 100).s,
            gt_time_text(comparison->start_error_us.p95 * 1e6).s,
            gt_time_text(comparison->start_error_us.max * 1e6).s);
    if (comparison->unmatched > 0)
        fprintf(out, " %s operations have a time in one of the runs only and are not compared.",
                gt_count_text(comparison->unmatched).s);
    fputs("</p>\n", out);
}

static void write_tiles(FILE *out, const struct gt_view *view)
{
    const struct gt_stats *stats = view->subject->stats;
    const struct gt_stats_summary *summary = &stats->summary;

    fputs("<dl class=\"tiles\">\n", out);
    gt_page_tile(out, "Kernels", gt_count_text(summary->kernels));
    gt_page_tile(out, "Copies", gt_count_text(summary->copies));
    gt_page_tile(out, "Memsets", gt_count_text(summary->memsets));
    gt_page_tile(out, "GPU busy", gt_share_text((double)summary->busy_ps / (double)summary->makespan_ps));
    if (stats->sm_count > 0)
        gt_page_tile(out, "Mean SM occupancy", gt_share_text(gt_page_mean_occupancy(stats)));
    if (is_compared(view)) {
        gt_page_tile(out, "Makespan error", gt_signed_pct_text(view->comparison.makespan_error_pct));
        gt_page_tile(out, "Median start error", gt_time_text(view->comparison.start_error_us.median * 1e6));
    }
    fputs("</dl>\n", out);
}

void gt_page_timeline_answer(const struct gt_page *page)
{
    write_makespan(page->out, page->view);
    gt_page_use(page);
    if (is_compared(page->view))
        write_starts(page->out, &page->view->comparison);
    write_tiles(page->out, page->view);
}
