/* sort.h - what sorting takes: comparisons for qsort(), and ranks of sorted values. */
#ifndef GRIDTIDE_SIM_BASE_SORT_H
#define GRIDTIDE_SIM_BASE_SORT_H

#include <stdint.h>

/* Rising, for qsort() of plain values. */
int gt_by_i64(const void *left, const void *right);
int gt_by_u32(const void *left, const void *right);
int gt_by_u64(const void *left, const void *right);
int gt_by_double(const void *left, const void *right);

/* How many of sorted values, rising, are not above `value`. */
uint32_t gt_count_until(const uint64_t *sorted, uint32_t count, uint64_t value);

/* One key of several in a comparison for qsort(): where the two differ, that decides. */
#define GT_ORDER(a, b)                 \
    do {                               \
        if ((a) != (b))                \
            return (a) < (b) ? -1 : 1; \
    } while (0)

/* Of values sorted, rising: the one at place ceil(percent / 100 * count), from 1 (nearest rank). NAN of none. */
double gt_percentile(const double *sorted, uint64_t count, unsigned percent);
/* Sorts the values; the one at 50 percent: of an even number the lower one of the two in the middle. */
double gt_median(double *values, uint64_t count);

/* Binary search: the first index from `low` on for which `before`, an expression of the index `at`, is false; `high` if there is none.
 * `before` must be true for all lower indices and false for all higher ones. */
#define GT_LOWER_BOUND(at, low, high, before)                                            \
    __extension__({                                                                      \
        __typeof__((low) + (high)) at##_low = (low), at##_high = (high);                 \
        while (at##_low < at##_high) {                                                   \
            const __typeof__((low) + (high)) at = at##_low + (at##_high - at##_low) / 2; \
            if (before)                                                                  \
                at##_low = at + 1;                                                       \
            else                                                                         \
                at##_high = at;                                                          \
        }                                                                                \
        at##_low;                                                                        \
    })

#endif
