/* simplify.h - a workload with smaller numbers in it. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_SIMPLIFY_H
#define GRIDTIDE_VALIDATE_RANDOM_SIMPLIFY_H

#include "sim/workload/workload.h"

/* One way to make one number of a workload smaller, or one field plainer. */
struct gt_simplification {
    const char *what;
    /* Of so many things: kernels, streams, operations, calls. */
    uint32_t (*count)(const struct gt_workload *workload);
    /* Do it to number `index`; false where there is nothing left to do. */
    bool (*apply)(struct gt_workload *workload, uint32_t index);
};
extern const struct gt_simplification gt_simplifications[];
extern const size_t gt_simplification_count;

#endif
