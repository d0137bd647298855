/* Kernels in cycles: the top of a page about them, and the table of launches. */
#include <math.h>
#include <stdlib.h>

#include "plots/data/kernel_view.h"
#include "plots/page/page_table.h"
#include "plots/page/parts.h"
#include "traces/names/short_name.h"

static void write_headline(const struct gt_page *page)
{
    const struct gt_kernels *kernels = &page->view->kernels;

    fprintf(page->out, "<p class=\"headline\">%s kernel %s on ", gt_count_text(kernels->error.launches).s,
            kernels->error.launches == 1 ? "launch" : "launches");
    gt_html(page->out, page->view->subject->stats->run.device.name);
    if (kernels->error.compared > 0)
        fprintf(page->out,
                ", simulated from machine code: the mean error of their cycles (MAPE) is <strong>%s</strong>, "
                "compared with the profiler’s measurement.</p>\n",
                gt_share_text(kernels->error.mape_pct / 100).s);
    else
        fputs(", simulated from machine code. The trace has no measured cycles to compare with.</p>\n", page->out);
}

static void tile_share(FILE *out, const char *what, double pct)
{
    if (!isnan(pct))
        gt_page_tile(out, what, gt_share_text(pct / 100));
}

static void write_tiles(const struct gt_page *page)
{
    const struct gt_kernel_error *error = &page->view->kernels.error;
    struct gt_text pearson;

    fputs("<dl class=\"tiles\">\n", page->out);
    gt_page_tile(page->out, "Launches", gt_count_text(error->launches));
    if (error->compared > 0) {
        gt_page_tile(page->out, "Compared", gt_count_text(error->compared));
        tile_share(page->out, "MAPE of cycles", error->mape_pct);
        tile_share(page->out, "Median error", error->median_pct);
        tile_share(page->out, "Worst", error->worst_pct);
        tile_share(page->out, "MAPE below 5 µs", error->short_mape_pct);
    }
    if (error->compared > 0 && !isnan(error->pearson)) {
        snprintf(pearson.s, sizeof pearson.s, "%.4f", error->pearson);
        gt_page_tile(page->out, "Pearson’s r", pearson);
    }
    fputs("</dl>\n", page->out);
}

void gt_page_kernels_answer(const struct gt_page *page)
{
    write_headline(page);
    write_tiles(page);
}

static struct gt_text cycles_text(double cycles)
{
    return isnan(cycles) ? (struct gt_text){ "–" } : gt_count_text((uint64_t)fmax(0, cycles + 0.5));
}

static struct gt_text percent_text(double pct)
{
    return isnan(pct) ? (struct gt_text){ "–" } : gt_signed_pct_text(pct);
}

/* What the cycles of each launch are held against: measured ones, or those before a change. */
struct basis {
    const char *head, *how; /* NULL: nothing */
    double *cycles;         /* of a change: by launch; NULL */
    uint32_t launches;
};

static double basis_cycles(const struct basis *basis, const struct gt_kernel_row *row)
{
    if (basis->cycles == NULL)
        return row->in_measured.cycles;
    return row->launch < basis->launches ? basis->cycles[row->launch] : NAN;
}

static int load_before(const struct gt_view *view, struct basis *basis, struct gt_error *error)
{
    struct gt_kernels before;
    int result = gt_kernels_load(view->store, view->beside->stats->run.run_id, 0, &before, error);

    for (uint32_t i = 0; i < before.count; i++)
        if (before.rows[i].launch >= basis->launches)
            basis->launches = before.rows[i].launch + 1;
    basis->cycles = gt_calloc(basis->launches + 1ull, sizeof *basis->cycles);
    for (uint32_t i = 0; i < basis->launches; i++)
        basis->cycles[i] = NAN;
    for (uint32_t i = 0; i < before.count; i++)
        basis->cycles[before.rows[i].launch] = before.rows[i].in_simulated.cycles;
    gt_kernels_free(&before);
    return result;
}

static int find_basis(const struct gt_view *view, struct basis *basis, struct gt_error *error)
{
    *basis = (struct basis){ .head = NULL };
    if (view->kind == GT_PAGE_CHANGE) {
        basis->head = "Cycles, before";
        basis->how = " Change is (after − before) / before.";
        return load_before(view, basis, error);
    }
    if (view->kernels.error.compared > 0) {
        basis->head = "Cycles, measured";
        basis->how = " Error is (simulated − measured) / measured.";
    }
    return 0;
}

static int write_row(const struct gt_page *page, const struct basis *basis, const struct gt_kernel_row *row,
                     struct gt_error *error)
{
    const struct gt_view *view = page->view;
    double reasons[GT_STALLS] = { 0 }, from = basis_cycles(basis, row), to = row->in_simulated.cycles;
    FILE *out = page->out;

    if (row->simulated && gt_kernel_reasons(view->store, view->subject->stats->run.run_id, row->in_simulated.like_op,
                                            reasons, error) != 0)
        return -1;
    gt_page_name_cell(out, row->name, gt_page_short_name(&page->names, row->name));
    gt_page_cell(out, gt_count_text(row->launch));
    if (basis->head != NULL)
        gt_page_cell(out, cycles_text(from));
    gt_page_cell(out, cycles_text(to));
    if (basis->head != NULL)
        gt_page_cell(out, percent_text(from > 0 ? 100 * (to - from) / from : NAN));
    gt_page_cell(out, gt_kernel_bound(&view->subject->stats->run.device, &row->in_simulated, reasons));
    fputs("</tr>\n", out);
    return 0;
}

int gt_page_kernels(const struct gt_page *page, struct gt_error *error)
{
    const struct gt_kernels *kernels = &page->view->kernels;
    uint32_t shown = kernels->count < GT_PAGE_LAUNCHES ? kernels->count : GT_PAGE_LAUNCHES;
    bool change = page->view->kind == GT_PAGE_CHANGE;
    struct basis basis;
    char how[400];
    int result;

    if (kernels->count == 0)
        return 0;
    result = find_basis(page->view, &basis, error);
    snprintf(how, sizeof how,
             "Most cycles first.%s Bound by, in the simulation: the most utilised of DRAM, L2, load/store unit and "
             "issue slots, if it reaches 60%% of its peak; else the most frequent stall reason.",
             basis.how != NULL ? basis.how : "");
    if (result == 0)
        gt_page_table_begin(page->out, "kernel-cycles", "Kernel launches in cycles", how,
                            (const char *const[]){ "Kernel", "Launch", basis.head != NULL ? basis.head : "",
                                                   change ? "Cycles, after" : "Cycles, simulated",
                                                   basis.head == NULL ? ""
                                                   : change           ? "Change"
                                                                      : "Error",
                                                   "Bound by", NULL });
    for (uint32_t i = 0; i < shown && result == 0; i++)
        result = write_row(page, &basis, &kernels->rows[i], error);
    if (result == 0)
        gt_page_table_end(page->out, "compare", kernels->count, shown);
    free(basis.cycles);
    return result;
}
