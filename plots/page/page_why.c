/* What to do next; and the critical path, which the numbers further down go with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/page/parts.h"
#include "traces/explain/limits.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

/* A replay that is further off than this says little about what was not recorded. */
static const double trusted_error_pct = 3;

static void write_bound(const struct gt_page *page, const struct gt_limits *limits)
{
    /* clang-format off */
    static const struct { const char *bound, *what, *who; } texts[] = {
        { "host", "The host limits this run", "host code and CUDA calls are" },
        { "kernels", "Kernels limit this run", "they are" },
        { "copies", "Copies limit this run", "they are" },
        { "launches", "Launch latency limits this run", "it is" },
        { "gaps", "Gaps between operations limit this run", "they are" },
    };
    /* clang-format on */
    FILE *out = page->out;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(texts[i].bound, limits->bound_by) == 0)
            fprintf(out, "<p><strong>%s</strong>: %s %s of %s. The GPU was idle for %s, %s of the time.</p>\n",
                    texts[i].what, texts[i].who, gt_share_text(limits->bound_share).s,
                    page->view->subject->run->part.all ? "the critical path" : "the critical path in this part",
                    gt_time_text((double)limits->idle_ps).s,
                    gt_share_text((double)limits->idle_ps / fmax(1, (double)limits->makespan_ps)).s);
}

static void write_share(FILE *out, const char *what, const struct gt_limit_share *shares, size_t count)
{
    if (count < 2)
        return;
    fprintf(out, "<p>Most of it belongs to the %s <span class=\"name\">", what);
    gt_html(out, shares[0].name);
    fprintf(out, "</span>: %s, of it %s on the host.</p>\n", gt_share_text(shares[0].share).s,
            gt_time_text((double)shares[0].host_ps).s);
}

/* The shown part's statistics have no path: what is in it of the whole run's. */
static int find_limits(const struct gt_page *page, struct gt_limits *limits, struct gt_error *error)
{
    const struct gt_side *subject = page->view->subject;

    if (subject->run->part.all)
        return gt_limits_of(subject->run, subject->stats, subject->stats, limits, error);
    return gt_limits_find(page->view->database, subject->run, page->view->filter, limits, error);
}

int gt_page_bound(const struct gt_page *page, struct gt_error *error)
{
    struct gt_limits limits;

    if (find_limits(page, &limits, error) != 0)
        return -1;
    fputs("<section id=\"bound\">\n<h2>Critical path</h2>\n", page->out);
    write_bound(page, &limits);
    if (limits.operator_count > 1)
        write_share(page->out, "operator", limits.operators, limits.operator_count);
    else
        write_share(page->out, "step", limits.steps, limits.step_count);
    gt_page_path(page);
    fputs("</section>\n", page->out);
    gt_limits_free(&limits);
    return 0;
}

static void next(FILE *out, const char *command, const char *store, const char *rest, const char *what)
{
    fprintf(out, "<li><code>gridtide %s ", command);
    gt_html(out, store);
    fprintf(out, "%s</code> <span>%s</span></li>\n", rest, what);
}

/* Of the trace by its file, or by what it is called. */
static void next_whatif(const struct gt_page *page, const char *what)
{
    const char *asked = page->view->subject->run->asked;
    char *word = asked[0] != '\0' ? gt_shell_word(asked) : gt_strdup("TRACE");

    fputs("<li><code>gridtide whatif ", page->out);
    gt_html(page->out, word);
    fprintf(page->out, " --all</code> <span>%s</span></li>\n", what);
    free(word);
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
                "<p>The simulation deviates by %s from the recording. Find the first difference; until it is "
                "explained, predictions of changes are unreliable.</p>\n",
                gt_signed_pct_text(view->comparison.makespan_error_pct).s);
    fputs("<ul class=\"next\">\n", out);
    switch (view->kind) {
    case GT_PAGE_KERNELS:
        next(out, "explain", store, " KERNEL", "where the cycles of one launch go, and what would help");
        next(out, "compare", store, "", "simulated and measured cycles of every launch");
        break;
    case GT_PAGE_SUITE: next(out, "compare", store, "", "all traces, worst first, also as CSV or JSON"); break;
    case GT_PAGE_CHANGE:
        next_whatif(page, "other changes, ranked, with their trust");
        next(out, "explain", store, "", "what bounds the changed run");
        break;
    case GT_PAGE_TIMELINE:
    case GT_PAGE_TRACE:
        if (view->measured != NULL && fabs(view->comparison.makespan_error_pct) > trusted_error_pct)
            next(out, "compare", store, "", "operations with the largest errors");
        next_whatif(page, "possible changes, ranked, with their trust");
        next(out, "explain", store, " --full", "every table: idle gaps with causes, operators with their launches");
        break;
    }
    if (view->kind != GT_PAGE_SUITE)
        next(out, "export perfetto", store, " -o OUT.pftrace", "the same timeline for ui.perfetto.dev");
    fputs("</ul>\n</section>\n", out);
}

/* Findings of kernels that a profiler ran one by one would be misleading: page_limit.c has what is to say of them. */
int gt_page_why(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_view *view = page->view;
    int result = 0;

    if (view->kind == GT_PAGE_KERNELS && view->subject->stats->summary.operations > 0)
        result = gt_page_kernel_limits(page, error);
    else if (view->kind != GT_PAGE_SUITE && view->subject->stats->summary.operations > 0)
        gt_page_overview(page);
    if (result == 0)
        write_next(page);
    return result;
}
