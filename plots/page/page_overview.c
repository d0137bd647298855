/* What bounds a step, where its time goes, what would help most: what `gridtide explain` says first. */
#include <ctype.h>
#include <stdlib.h>

#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/explain/overview.h"
#include "traces/explain/ranks.h"
#include "traces/names/short_name.h"

/* A kind of time below this part of a step has no row. */
static const double least_share = 0.0005;

static void write_headline(const struct gt_page *page, const struct gt_overview *overview)
{
    char *steps = gt_overview_steps_text(overview);

    fprintf(page->out, "<p class=\"headline\">Bound by <strong>%s</strong>: %s of %s.</p>\n<p class=\"quiet\">",
            overview->bound_by, gt_share_text(overview->bound_share).s,
            overview->breakdown.marked ? "a step" : "the run");
    gt_html(page->out, steps);
    fputs("</p>\n", page->out);
    free(steps);
}

static void write_breakdown(FILE *out, const struct gt_breakdown *breakdown)
{
    fprintf(out,
            "<div class=\"scroll\"><table id=\"breakdown\">\n<thead><tr><th>Where the time "
            "goes</th><th>%s</th><th>Share</th>"
            "<th></th></tr></thead>\n<tbody>\n",
            breakdown->marked ? "A step" : "Time");
    for (enum gt_time_kind kind = 0; kind < GT_TIME_KINDS; kind++) {
        double share = (double)breakdown->ps[kind] / (double)breakdown->total_ps;

        if (share >= least_share)
            fprintf(out,
                    "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td class=\"bar\"><span "
                    "style=\"width:%.1f%%\"></span></td></tr>\n",
                    gt_time_kind_labels[kind],
                    gt_time_text((double)breakdown->ps[kind] / (double)breakdown->counted).s, gt_share_text(share).s,
                    100 * share);
    }
    fputs("</tbody></table></div>\n", out);
}

/* A sentence of its own here. */
static void write_sentence(FILE *out, const char *text)
{
    if (text[0] == '\0')
        return;
    putc(toupper((unsigned char)text[0]), out);
    gt_html(out, text + 1);
    putc('.', out);
}

static void write_finding(const struct gt_page *page, const struct gt_overview *overview,
                          const struct gt_overview_finding *row)
{
    char *gain = gt_overview_gain_text(row), *ask = gt_overview_ask_text(page->view->subject->run, overview, row);
    char *help = gt_overview_help_text(row);
    FILE *out = page->out;

    fputs("<li>", out);
    write_sentence(out, row->finding->text);
    if (gain != NULL) {
        fputs(" <strong>", out);
        write_sentence(out, gain);
        fputs("</strong>", out);
    }
    if (help != NULL) {
        fputs(" <span class=\"help\">", out);
        write_sentence(out, help);
        fputs("</span>", out);
    }
    if (ask != NULL) {
        fputs(" <code>", out);
        gt_html(out, ask);
        fputs("</code>", out);
    }
    fputs("</li>\n", out);
    free(gain);
    free(help);
    free(ask);
}

static void write_findings(const struct gt_page *page, const struct gt_overview *overview)
{
    FILE *out = page->out;

    if (overview->count > 0)
        fputs("<ol class=\"findings\">\n", out);
    for (size_t i = 0; i < overview->count; i++)
        write_finding(page, overview, &overview->findings[i]);
    fputs(overview->count > 0 ? "</ol>\n" : "<p>No finding, and no change that would shorten it by 1% or more.</p>\n",
          out);
    if (overview->why_not != NULL) {
        fputs("<p class=\"quiet\">", out);
        write_sentence(out, overview->why_not);
        fputs("</p>\n", out);
    }
}

void gt_page_overview(const struct gt_page *page)
{
    static const struct gt_predictor nobody = { .predict = NULL };
    const struct gt_side *subject = page->view->subject;
    struct gt_overview overview;

    gt_overview_find(subject->run, subject->stats->task_kernels, subject->stats->task_kernel_count,
                     page->view->predictor != NULL ? page->view->predictor : &nobody, &overview);
    fputs("<section id=\"why\">\n", page->out);
    if (page->view->kind == GT_PAGE_CHANGE)
        fputs("<h2>What limits it</h2>\n", page->out);
    if (overview.breakdown.total_ps > 0) {
        write_headline(page, &overview);
        write_breakdown(page->out, &overview.breakdown);
    }
    write_findings(page, &overview);
    fputs("</section>\n", page->out);
    gt_overview_free(&overview);
}

/* Runs of several GPUs: who waits for whom in collectives, and how much of them is hidden behind other work. */

static struct gt_text share_of(gt_time_ps part_ps, gt_time_ps whole_ps)
{
    return gt_share_text((double)part_ps / (whole_ps > 0 ? (double)whole_ps : 1));
}

static void write_rank(FILE *out, const struct gt_rank_waits *rank)
{
    gt_time_ps whole_ps = rank->hidden_ps + rank->exposed_ps;
    char *name = gt_format("GPU %u", rank->gpu);

    gt_page_name_cell(out, name, name);
    gt_page_cell(out, gt_count_text(rank->collectives));
    gt_page_cell(out, gt_count_text(rank->last));
    gt_page_cell(out, gt_time_text((double)rank->waited_ps));
    gt_page_cell(out, gt_time_text((double)rank->kept_ps));
    gt_page_cell(out, gt_time_text((double)rank->hidden_ps));
    gt_page_cell(out, gt_time_text((double)rank->exposed_ps));
    gt_page_cell(out, share_of(rank->hidden_ps, whole_ps));
    fputs("</tr>\n", out);
    free(name);
}

void gt_page_ranks(const struct gt_page *page)
{
    static const char *const heads[] = { "GPU",    "Collectives", "Was last",     "Waited", "Others waited",
                                         "Hidden", "Exposed",     "Hidden share", NULL };
    size_t count;
    struct gt_rank_waits *ranks = gt_rank_waits(page->view->subject->run, &count);

    if (count > 0) {
        gt_page_table_begin(page->out, "ranks", "Collectives, GPU by GPU",
                            "Collectives per GPU: how often this GPU was last, how long its collectives waited for "
                            "the last GPU, how long the others waited for this one; and for how much of the time "
                            "other work of the GPU ran (hidden) or none (exposed).",
                            heads);
        for (size_t i = 0; i < count; i++)
            write_rank(page->out, &ranks[i]);
        gt_page_table_end(page->out, "explain", count, count);
    }
    free(ranks);
}
