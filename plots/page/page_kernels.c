/* Launches in cycles: the table after the figures of kernels. */
#include <math.h>
#include <stdlib.h>

#include "plots/data/kernel_view.h"
#include "plots/page/page.h"
#include "plots/page/page_table.h"

enum { LAUNCH_ROWS = 100 };

static double cycles_of(const struct gt_kernel_row *row)
{
    double cycles = isnan(row->in_measured.cycles) ? row->in_simulated.cycles : row->in_measured.cycles;

    return isnan(cycles) ? 0 : cycles;
}

static int by_cycles(const void *left, const void *right)
{
    const struct gt_kernel_row *a = left, *b = right;

    if (cycles_of(a) != cycles_of(b))
        return cycles_of(a) > cycles_of(b) ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

static struct gt_text cycles_text(double cycles)
{
    return isnan(cycles) ? (struct gt_text){ "–" } : gt_count_text((uint64_t)fmax(0, cycles + 0.5));
}

static int write_row(FILE *out, const struct gt_view *view, const struct gt_kernel_row *row,
                     struct gt_error *error)
{
    const struct gt_side *simulated = view->main->stats->run.simulated ? view->main : NULL;
    double reasons[GT_STALLS] = { 0 };

    if (row->simulated && simulated != NULL
        && gt_kernel_reasons(view->store, simulated->stats->run.run_id, row->in_simulated.like_op, reasons,
                             error) != 0)
        return -1;
    gt_page_name_cell(out, row->name);
    gt_page_cell(out, gt_count_text(row->launch));
    gt_page_cell(out, cycles_text(row->in_measured.cycles));
    gt_page_cell(out, cycles_text(row->in_simulated.cycles));
    gt_page_cell(out, isnan(row->error_pct) ? (struct gt_text){ "–" } : gt_signed_pct_text(row->error_pct));
    gt_page_cell(out, gt_kernel_bound(&view->main->stats->run.device, &row->in_simulated, reasons));
    fputs("</tr>\n", out);
    return 0;
}

static int write_rows(FILE *out, const struct gt_view *view, struct gt_kernels *kernels,
                      struct gt_error *error)
{
    static const char *const heads[] = { "Kernel", "Launch", "Cycles, measured", "Cycles, simulated", "Error",
                                         "Bound by", NULL };
    uint32_t shown = kernels->count < LAUNCH_ROWS ? kernels->count : LAUNCH_ROWS;

    qsort(kernels->rows, kernels->count, sizeof *kernels->rows, by_cycles);
    gt_page_table_begin(out, "kernel-cycles", "Kernel launches in cycles",
                        "Most cycles first. Error is (simulated − measured) / measured. Bound by, in the "
                        "simulation: what of DRAM, L2, load/store unit and issue slots works most, where "
                        "that is at least 60% of its peak; else what warps wait for most, of all warp "
                        "cycles.",
                        heads);
    for (uint32_t i = 0; i < shown; i++)
        if (write_row(out, view, &kernels->rows[i], error) != 0)
            return -1;
    gt_page_table_end(out, "compare", kernels->count, shown);
    return 0;
}

int gt_page_kernels(FILE *out, const struct gt_view *view, struct gt_error *error)
{
    struct gt_kernels kernels;
    int result = gt_report_kernels(view, &kernels, error);

    if (result == 1)
        result = write_rows(out, view, &kernels, error);
    gt_kernels_free(&kernels);
    return result;
}
