/* kernel_order.h - which kernel's blocks go first: as in every measured run of the trace? */
#ifndef GRIDTIDE_TRACES_COMPARE_KERNEL_ORDER_H
#define GRIDTIDE_TRACES_COMPARE_KERNEL_ORDER_H

#include "traces/store/store.h"

/* Kernels further apart in the order of launches are not held against each other. */
enum { GT_ORDER_REACH = 1000 };

struct gt_order {
    double pairs; /* of kernels whose order is certain: the first block of the same one started more
                         * than 2 us, or than the clocks' residual, before the other's in all measured runs; where
                         * blocks launched them, so it was of all pairs that differ only in these blocks */
    double wrong; /* of these, simulated the other way about, or at one time */
};

/* Both are NAN with fewer than two measured runs: nothing is certain that was seen once. `runs` are whole
 * measured runs of the trace that `simulated_run` played. Returns 0 or -1. */
int gt_order_of(struct gt_store *store, int64_t simulated_run, const int64_t *runs, uint32_t count,
                struct gt_order *order, struct gt_error *error);

#endif
