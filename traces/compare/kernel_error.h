/* kernel_error.h - the correlation of two series of numbers. */
#ifndef GRIDTIDE_TRACES_COMPARE_KERNEL_ERROR_H
#define GRIDTIDE_TRACES_COMPARE_KERNEL_ERROR_H

/* Starts as all zero. */
struct gt_correlation {
    double count, mean_x, mean_y, xx, yy, xy;
};

void gt_correlation_add(struct gt_correlation *correlation, double x, double y);
/* NAN where either side does not vary. */
double gt_correlation_r(const struct gt_correlation *correlation);

#endif
