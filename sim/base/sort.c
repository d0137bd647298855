#include "sim/base/sort.h"

#include <math.h>
#include <stdlib.h>

int gt_by_i64(const void *left, const void *right)
{
    GT_ORDER(*(const int64_t *)left, *(const int64_t *)right);
    return 0;
}

int gt_by_u32(const void *left, const void *right)
{
    GT_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
    return 0;
}

int gt_by_u64(const void *left, const void *right)
{
    GT_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
    return 0;
}

int gt_by_double(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double gt_percentile(const double *sorted, uint64_t count, unsigned percent)
{
    if (count == 0)
        return NAN;
    return sorted[percent == 0 ? 0 : (count * percent + 99) / 100 - 1];
}

double gt_median(double *values, uint64_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, gt_by_double);
    return gt_percentile(values, count, 50);
}

uint32_t gt_count_until(const uint64_t *sorted, uint32_t count, uint64_t value)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, sorted[middle] <= value);
    return low;
}
