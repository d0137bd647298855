/* internal.h - between the files that read kernels' cycles. */
#ifndef GRIDTIDE_TRACES_COMPARE_INTERNAL_H
#define GRIDTIDE_TRACES_COMPARE_INTERNAL_H

#include "traces/compare/kernel_cycles.h"
#include "traces/store/query.h"

/* Step through `query` (NULL: failed to compile), which ends here. Returns 0 or -1. */
int gt_kernels_each(struct gt_query *query, void (*each)(struct gt_query *query, void *user), void *user,
                    struct gt_error *error);

#endif
