/* The top of a page about many traces: their errors, the worst first. */
#include <math.h>
#include <stdlib.h>

#include "plots/data/report_folder.h"
#include "plots/data/suite_view.h"
#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/names/short_name.h"

enum { ROWS_MAX = 2000, NAME_COLUMNS = 60 };

static void write_headline(const struct gt_page *page)
{
    const struct gt_suite_view *suite = page->view->suite;

    fprintf(page->out, "<p class=\"headline\">%s traces, measured and simulated on ", gt_count_text(suite->count).s);
    gt_html(page->out, page->view->subject->stats->run.device.name);
    fprintf(page->out,
            ": half of the makespans are within <strong>%.2f%%</strong> of the measured ones, 95%% of them "
            "within <strong>%.2f%%</strong>, all within <strong>%.2f%%</strong>.</p>\n",
            suite->sums.error_median_pct, suite->sums.error_p95_pct, suite->sums.error_max_pct);
}

static void write_tiles(const struct gt_page *page)
{
    const struct gt_suite *sums = &page->view->suite->sums;
    struct gt_text pearson = { "–" };

    if (!isnan(sums->pearson))
        snprintf(pearson.s, sizeof pearson.s, "%.5f", sums->pearson);
    fputs("<dl class=\"tiles\">\n", page->out);
    gt_page_tile(page->out, "Traces", gt_count_text(page->view->suite->count));
    gt_page_tile(page->out, "Mean error (MAPE)", gt_share_text(sums->mape_pct / 100));
    gt_page_tile(page->out, "Pearson’s r", pearson);
    gt_page_tile(page->out, "Traces with excessive start errors", gt_share_text(sums->start_off_pct / 100));
    if (!isnan(sums->order_pairs) && sums->order_pairs > 0)
        gt_page_tile(page->out, "Traces with kernels in another order", gt_count_text((uint64_t)sums->order_wrong));
    fputs("</dl>\n", page->out);
}

/* The first ones have a page of their own. */
static void write_name(FILE *out, uint32_t place, const struct gt_suite_row *row, const char *shortened)
{
    fputs("<tr><th scope=\"row\" class=\"name\">", out);
    if (place < GT_FOLDER_TRACES)
        fprintf(out, "<a href=\"trace-%u.html\">", place + 1);
    gt_html(out, row->name[0] != '\0' ? shortened : "(no name)");
    fprintf(out, "%s</th>", place < GT_FOLDER_TRACES ? "</a>" : "");
}

static void write_rows(FILE *out, const struct gt_suite_view *suite, uint32_t shown)
{
    const char **names = gt_calloc(shown, sizeof *names);
    char **shorts = gt_calloc(shown, sizeof *shorts);

    for (uint32_t i = 0; i < shown; i++)
        names[i] = suite->rows[i].name;
    gt_short_names_unique(names, shorts, shown, NAME_COLUMNS);
    for (uint32_t i = 0; i < shown; i++) {
        const struct gt_suite_row *row = &suite->rows[i];
        const struct gt_comparison *comparison = &row->verdict.comparison;

        write_name(out, i, row, shorts[i]);
        gt_page_cell(out, gt_signed_pct_text(comparison->makespan_error_pct));
        gt_page_cell(out, gt_time_text(comparison->makespan_measured_us * 1e6));
        gt_page_cell(out, gt_time_text(comparison->makespan_simulated_us * 1e6));
        gt_page_cell(out, gt_time_text(comparison->start_error_us.median * 1e6));
        gt_page_cell(out, gt_count_text(row->verdict.repeats.count));
        gt_page_cell(out, gt_share_text(row->verdict.repeats.spread_pct / 100));
        fputs("</tr>\n", out);
        free(shorts[i]);
    }
    free(shorts);
    free(names);
}

void gt_page_suite_answer(const struct gt_page *page)
{
    static const char *const heads[] = { "Trace",         "Error",  "Measured", "Simulated", "Median start error",
                                         "Measured runs", "Spread", NULL };
    const struct gt_suite_view *suite = page->view->suite;
    uint32_t shown = suite->count < ROWS_MAX ? suite->count : ROWS_MAX;

    write_headline(page);
    write_tiles(page);
    gt_page_table_begin(page->out, "traces", "All traces, worst first",
                        "Makespan errors are (simulated − measured) / measured, against the median of several "
                        "measured runs; spread is (longest − shortest) / median.",
                        heads);
    write_rows(page->out, suite, shown);
    gt_page_table_end(page->out, "compare", suite->count, shown);
    if (shown > GT_FOLDER_TRACES)
        fprintf(page->out, "<p class=\"quiet\">The %u worst traces have their own pages.</p>\n",
                (unsigned)GT_FOLDER_TRACES);
}
