/* Why a run takes as long as it does, and what to do next: what `gridtide explain` finds, in words. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/page/parts.h"
#include "traces/explain/explain.h"
#include "traces/explain/limits.h"
#include "traces/names/shell_word.h"
#include "traces/names/short_name.h"

enum { FINDINGS_SHOWN = 4 };

/* A finding that is about less of the run than this is not for the first screen. */
static const double worth_telling = 0.01;
/* A replay that is further off than this says little about what was not recorded. */
static const double trusted_error_pct = 3;

static void write_bound(const struct gt_page *page, const struct gt_limits *limits)
{
    /* clang-format off */
    static const struct { const char *bound, *what, *who; } texts[] = {
        { "host", "The host limits this run", "its own work and its calls are" },
        { "kernels", "Kernels limit this run", "they are" },
        { "copies", "Copies limit this run", "they are" },
        { "launches", "The way from the host to the GPU limits this run", "it is" },
        { "gaps", "Gaps between operations limit this run", "they are" },
    };
    /* clang-format on */
    FILE *out = page->out;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].bound, limits->bound_by) == 0)
            fprintf(out,
                    "<p><strong>%s</strong>: %s %s of %s. The GPU had nothing to do for %s, %s of "
                    "the time.</p>\n",
                    texts[i].what, texts[i].who, gt_share_text(limits->bound_share).s,
                    page->view->subject->run->part.all ? "what its end waited for" : "the critical path in this part",
                    gt_time_text((double)limits->idle_ps).s,
                    gt_share_text((double)limits->idle_ps / fmax(1, (double)limits->makespan_ps)).s);
}

static void write_share(FILE *out, const char *what, const struct gt_limit_share *shares, size_t count)
{
    if (count < 2)
        return;
    fprintf(out, "<p>Most of that is on behalf of the %s <span class=\"name\">", what);
    gt_html(out, shares[0].name);
    fprintf(out, "</span>: %s, of it %s on the host.</p>\n", gt_share_text(shares[0].share).s,
            gt_time_text((double)shares[0].host_ps).s);
}

/* `gridtide whatif` of the trace by its file, or by what it is called. */
static void write_whatif(const struct gt_page *page, const char *rest)
{
    const char *asked = page->view->subject->run->asked;
    char *word = asked[0] != '\0' ? gt_shell_word(asked) : gt_strdup("TRACE");

    fputs("<code>gridtide whatif ", page->out);
    gt_html(page->out, word);
    fprintf(page->out, " %s</code>", rest);
    free(word);
}

static void write_finding(const struct gt_page *page, const struct gt_finding *finding)
{
    FILE *out = page->out;
    char *rest;

    /* A sentence of its own here. */
    fprintf(out, "<li>%c", toupper((unsigned char)finding->text[0]));
    if (finding->text[0] != '\0')
        gt_html(out, finding->text + 1);
    putc('.', out);
    if (finding->help[0] != '\0') {
        fputs(" <span class=\"help\">What may help: ", out);
        gt_html(out, finding->help);
        fputs(".</span>", out);
    }
    if (finding->change != NULL) {
        rest = gt_format("--change %s", finding->change);
        putc(' ', out);
        write_whatif(page, rest);
        free(rest);
    }
    fputs("</li>\n", out);
}

static void write_findings(const struct gt_page *page, const struct gt_stats *stats,
                           const struct gt_finding *findings, size_t count)
{
    FILE *out = page->out;
    size_t shown = 0;

    for (size_t i = 0; i < count && shown < FINDINGS_SHOWN; i++) {
        if ((double)findings[i].about_ps < worth_telling * (double)stats->summary.makespan_ps)
            continue;
        if (shown++ == 0)
            fputs("<ul class=\"findings\">\n", out);
        write_finding(page, &findings[i]);
    }
    if (shown > 0)
        fputs("</ul>\n", out);
    if (count > shown)
        fprintf(out, "<p class=\"quiet\"><code>gridtide explain</code> lists %s.</p>\n",
                shown > 0 ? "the rest, and each gap" : "what is small");
}

/* The shown part's statistics have no path: what is in it of the whole run's. */
static int find_limits(const struct gt_page *page, struct gt_limits *limits, struct gt_error *error)
{
    const struct gt_side *subject = page->view->subject;

    if (subject->run->part.all)
        return gt_limits_of(subject->run, subject->stats, subject->stats, limits, error);
    return gt_limits_find(page->view->database, subject->run, page->view->filter, limits, error);
}

/* Findings of kernels that a profiler ran one by one would be misleading: page_limit.c has what is to say of them. */
static int write_why(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_side *subject = page->view->subject;
    struct gt_limits limits;
    struct gt_breakdown breakdown;
    struct gt_finding *findings;
    size_t count;

    if (page->view->kind == GT_PAGE_KERNELS)
        return gt_page_kernel_limits(page, error);
    if (find_limits(page, &limits, error) != 0)
        return -1;
    gt_breakdown_find(subject->run, &breakdown);
    findings = gt_findings(subject->run, &breakdown, subject->stats->task_kernels, subject->stats->task_kernel_count,
                           &count);
    fputs("<section id=\"why\">\n<h2>What limits it</h2>\n", page->out);
    write_bound(page, &limits);
    if (limits.operator_count > 1)
        write_share(page->out, "operator", limits.operators, limits.operator_count);
    else
        write_share(page->out, "step", limits.steps, limits.step_count);
    gt_page_path(page);
    write_findings(page, subject->stats, findings, count);
    fputs("</section>\n", page->out);
    free(findings);
    gt_breakdown_free(&breakdown);
    gt_limits_free(&limits);
    return 0;
}

static void next(FILE *out, const char *command, const char *store, const char *rest, const char *what)
{
    fprintf(out, "<li><code>gridtide %s ", command);
    gt_html(out, store);
    fprintf(out, "%s</code> <span>%s</span></li>\n", rest, what);
}

static void next_whatif(const struct gt_page *page, const char *what)
{
    fputs("<li>", page->out);
    write_whatif(page, "--all");
    fprintf(page->out, " <span>%s</span></li>\n", what);
}

static void write_next(const struct gt_page *page)
{
    const struct gt_view *view = page->view;
    const char *path = view->database->path, *slash = strrchr(path, '/'), *store = slash != NULL ? slash + 1 : path;
    FILE *out = page->out;

    fputs("<section id=\"next\">\n<h2>What to do next</h2>\n", out);
    if (view->kind == GT_PAGE_TIMELINE && view->measured != NULL &&
        fabs(view->comparison.makespan_error_pct) > trusted_error_pct)
        fprintf(out,
                "<p>The simulation is %s from the recording. Find out where it departs first; until then, answers "
                "about changes mean little.</p>\n",
                gt_signed_pct_text(view->comparison.makespan_error_pct).s);
    fputs("<ul class=\"next\">\n", out);
    switch (view->kind) {
    case GT_PAGE_KERNELS:
        next(out, "explain", store, " KERNEL", "where one launch’s cycles go, and what would help it");
        next(out, "compare", store, "", "every launch beside what the profiler measured");
        break;
    case GT_PAGE_SUITE: next(out, "compare", store, "", "all traces, worst first, for programs too"); break;
    case GT_PAGE_CHANGE:
        next_whatif(page, "what else could be changed, ranked, with how far to trust it");
        next(out, "explain", store, "", "why the changed run is as it is");
        break;
    case GT_PAGE_TIMELINE:
    case GT_PAGE_TRACE:
        if (view->measured != NULL && fabs(view->comparison.makespan_error_pct) > trusted_error_pct)
            next(out, "compare", store, "", "which operations are furthest off");
        next_whatif(page, "what could be changed, ranked, with how far to trust it");
        next(out, "explain", store, "", "every idle gap, and who held up what came next");
        break;
    }
    if (view->kind != GT_PAGE_SUITE)
        next(out, "export perfetto", store, " -o OUT.pftrace", "the same timeline for ui.perfetto.dev");
    fputs("</ul>\n</section>\n", out);
}

int gt_page_why(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_view *view = page->view;

    if (view->kind != GT_PAGE_SUITE && view->subject->stats->summary.operations > 0 && write_why(page, error) != 0)
        return -1;
    write_next(page);
    return 0;
}
