#include <math.h>
#include <stdlib.h>

#include "traces/compare/correlation.h"
#include "traces/compare/kernel_cycles.h"

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double mean(double sum, uint32_t count)
{
    return count > 0 ? sum / count : NAN;
}

/* What the warp tier did: equal launches are one row of its work. */
static void count_work(const struct gt_kernel_row *row, struct gt_kernel_error *error)
{
    if (!row->simulated || isnan(row->in_simulated.cycles))
        return;
    error->covered += row->in_simulated.covered;
    if (row->in_simulated.like_op == row->op)
        error->warp_instructions += row->in_simulated.warp_instructions;
}

void gt_kernels_verdict(struct gt_kernels *kernels)
{
    struct gt_kernel_error *error = &kernels->error;
    struct gt_correlation r = { 0 };
    double *errors = gt_calloc(kernels->count, sizeof *errors), sum = 0, short_sum = 0;

    error->launches = kernels->count;
    for (uint32_t i = 0; i < kernels->count; i++) {
        struct gt_kernel_row *row = &kernels->rows[i];
        double measured = row->in_measured.cycles, simulated = row->in_simulated.cycles;

        count_work(row, error);
        row->error_pct = measured > 0 ? 100.0 * (simulated - measured) / measured : NAN;
        if (isnan(row->error_pct))
            continue;
        gt_correlation_add(&r, measured, simulated);
        errors[error->compared++] = fabs(row->error_pct);
        sum += fabs(row->error_pct);
        if (row->measured_us < GT_SHORT_KERNEL_US) {
            error->short_launches++;
            short_sum += fabs(row->error_pct);
        }
    }
    qsort(errors, error->compared, sizeof *errors, by_size);
    error->mape_pct = mean(sum, error->compared);
    error->short_mape_pct = mean(short_sum, error->short_launches);
    error->long_mape_pct = mean(sum - short_sum, error->compared - error->short_launches);
    error->median_pct = error->compared > 0 ? errors[(error->compared - 1) / 2] : NAN;
    error->worst_pct = error->compared > 0 ? errors[error->compared - 1] : NAN;
    error->pearson = gt_correlation_r(&r);
    free(errors);
}
