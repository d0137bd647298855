#include "traces/compare/kernel_error.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/compare/kernel_cycles.h"

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
    qsort(errors, error->compared, sizeof *errors, gt_by_double);
    error->mape_pct = mean(sum, error->compared);
    error->short_mape_pct = mean(short_sum, error->short_launches);
    error->long_mape_pct = mean(sum - short_sum, error->compared - error->short_launches);
    error->median_pct = gt_percentile(errors, error->compared, 50);
    error->worst_pct = gt_percentile(errors, error->compared, 100);
    error->pearson = gt_correlation_r(&r);
    free(errors);
}

void gt_correlation_add(struct gt_correlation *c, double x, double y)
{
    double dx = x - c->mean_x, dy = y - c->mean_y;

    c->count++;
    c->mean_x += dx / c->count;
    c->mean_y += dy / c->count;
    c->xx += dx * (x - c->mean_x);
    c->yy += dy * (y - c->mean_y);
    c->xy += dx * (y - c->mean_y);
}

double gt_correlation_r(const struct gt_correlation *c)
{
    return c->xx > 0 && c->yy > 0 ? c->xy / sqrt(c->xx * c->yy) : NAN;
}
