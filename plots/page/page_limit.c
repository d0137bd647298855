/* What limits kernels that a profiler ran one by one: units and waits, by the cycles of the launches that they bound, and
 * what would help those with the most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/data/kernel_view.h"
#include "plots/page/parts.h"
#include "traces/compare/kernel_numbers.h"
#include "traces/explain/part.h"
#include "traces/names/clean_text.h"

enum { BOUNDS_MOST = 32, BOUNDS_SHOWN = 3, ADVISED = 3 };

/* Launches bound by one thing, and their cycles. */
struct bound {
    struct gt_text name;
    uint32_t launches;
    double cycles;
};

struct bounds {
    struct bound rows[BOUNDS_MOST];
    size_t count;
    double cycles;
};

/* "DRAM 87%" and "DRAM 91%" are bound by the same. */
static void cut_share(struct gt_text *name)
{
    char *space = strrchr(name->s, ' ');

    if (space != NULL && strchr(space, '%') != NULL)
        *space = '\0';
}

static void add(struct bounds *bounds, struct gt_text name, double cycles)
{
    size_t i = 0;

    cut_share(&name);
    while (i < bounds->count && strcmp(bounds->rows[i].name.s, name.s) != 0)
        i++;
    if (i == BOUNDS_MOST)
        return;
    if (i == bounds->count)
        bounds->rows[bounds->count++].name = name;
    bounds->rows[i].launches++;
    bounds->rows[i].cycles += cycles;
}

static int by_cycles(const void *left, const void *right)
{
    const struct bound *a = left, *b = right;

    return (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

static bool is_shown(const struct gt_view *view, const struct gt_kernel_row *row)
{
    return row->in_simulated.cycles > 0 && gt_part_has_op(view->subject->run, row->op);
}

static int find_bounds(const struct gt_view *view, struct bounds *bounds, struct gt_error *error)
{
    const struct gt_stats_run *run = &view->subject->stats->run;

    for (uint32_t i = 0; i < view->kernels.count; i++) {
        const struct gt_kernel_row *row = &view->kernels.rows[i];
        double reasons[GT_STALLS] = { 0 };

        if (!is_shown(view, row))
            continue;
        if (gt_kernel_reasons(view->store, run->run_id, row->in_simulated.like_op, reasons, error) != 0)
            return -1;
        add(bounds, gt_kernel_bound(&run->device, &row->in_simulated, reasons), row->in_simulated.cycles);
        bounds->cycles += row->in_simulated.cycles;
    }
    qsort(bounds->rows, bounds->count, sizeof *bounds->rows, by_cycles);
    return 0;
}

static void write_bounds(FILE *out, const struct bounds *bounds)
{
    static const char waits[] = "waits: "; /* as gt_kernel_bound() says it */

    fputs("<p>Of the simulated cycles of all launches:</p>\n<ol class=\"path\">\n", out);
    for (size_t i = 0; i < bounds->count && i < BOUNDS_SHOWN; i++) {
        const struct bound *bound = &bounds->rows[i];

        fprintf(out, "<li><strong>%s</strong> ", gt_share_text(bound->cycles / bounds->cycles).s);
        fprintf(out, "in %s launch%s ", gt_count_text(bound->launches).s, bound->launches == 1 ? "" : "es");
        if (strncmp(bound->name.s, waits, strlen(waits)) == 0)
            fprintf(out, "where warps mostly wait: %s</li>\n", bound->name.s + strlen(waits));
        else
            fprintf(out, "bound by: %s</li>\n", bound->name.s);
    }
    fputs("</ol>\n", out);
}

/* The first advice on one launch, where there is any. */
static int write_advice(const struct gt_page *page, const struct gt_kernel_row *row, double all_cycles,
                        struct gt_error *error)
{
    const struct gt_view *view = page->view;
    struct gt_kernel_stalls inside;
    struct gt_explained explained;
    struct gt_advice advice[GT_ADVICE_MOST];
    int result =
        gt_kernel_load_stalls(view->store, view->subject->stats->run.run_id, view->measured_run, row, &inside, error);

    if (result == 0) {
        gt_explain(row, &inside, &explained);
        fprintf(page->out, "<li>Launch %s, <span class=\"name\">", gt_count_text(row->launch).s);
        gt_html(page->out, gt_page_short_name(&page->names, row->name));
        fprintf(page->out, "</span>, %s of all cycles", gt_share_text(row->in_simulated.cycles / all_cycles).s);
        if (gt_kernel_advise(&explained, advice) > 0) {
            fputs(": ", page->out);
            gt_html(page->out, advice[0].text);
        }
        fputs(".</li>\n", page->out);
    }
    gt_kernel_stalls_free(&inside);
    return result;
}

/* Those with the most cycles, which come first; equal launches say the same: the first of them speaks for all. */
static int write_advices(const struct gt_page *page, double all_cycles, struct gt_error *error)
{
    const struct gt_kernels *kernels = &page->view->kernels;
    uint32_t shown = 0;
    int result = 0;

    fputs("<ul class=\"findings\">\n", page->out);
    for (uint32_t i = 0; i < kernels->count && shown < ADVISED && result == 0; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        if (!is_shown(page->view, row) || row->in_simulated.like_op != row->op)
            continue;
        shown++;
        result = write_advice(page, row, all_cycles, error);
    }
    fputs("</ul>\n", page->out);
    return result;
}

int gt_page_kernel_limits(const struct gt_page *page, struct gt_error *error)
{
    struct bounds bounds = { .count = 0 };

    if (find_bounds(page->view, &bounds, error) != 0)
        return -1;
    if (bounds.count == 0)
        return 0;
    fputs("<section id=\"why\">\n<h2>What limits them</h2>\n", page->out);
    write_bounds(page->out, &bounds);
    if (write_advices(page, bounds.cycles, error) != 0)
        return -1;
    fputs("</section>\n", page->out);
    return 0;
}
