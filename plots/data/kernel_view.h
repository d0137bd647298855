/* kernel_view.h - kernels in cycles, as the figures and the page share them. */
#ifndef GRIDTIDE_PLOTS_DATA_KERNEL_VIEW_H
#define GRIDTIDE_PLOTS_DATA_KERNEL_VIEW_H

#include "plots/data/view.h"
#include "traces/compare/kernel_cycles.h"

/* The launches that matter most, at most GT_KERNELS_CHOSEN: simulated ones, of equal ones the first, most
 * simulated cycles first.  `chosen` has room for all; returns how many there are. */
enum { GT_KERNELS_CHOSEN = 16 };
uint32_t gt_kernels_choose(const struct gt_kernels *kernels, const struct gt_kernel_row **chosen);

/* Reasons why warps wait that are shown as one; the first is that they do not. */
enum { GT_WAIT_GROUPS = 9 };
struct gt_wait_group {
    const char *name;
    uint32_t rgb, reasons;
}; /* reasons: a bit for each enum gt_stall */
extern const struct gt_wait_group gt_wait_groups[GT_WAIT_GROUPS];

/* The groups' shares of all warp cycles, 0..1; all 0 where there are none. */
void gt_wait_shares(const double reasons[GT_STALLS], double shares[GT_WAIT_GROUPS]);

/* What holds a launch up: the busiest of DRAM, L2, the load/store unit and the issue slots, where it works at
 * least GT_BOUND_SHARE of the time; else what its warps wait for most.  "–" where nothing is known. */
#define GT_BOUND_SHARE 0.6
struct gt_text gt_kernel_bound(const struct gt_device *device, const struct gt_kernel_numbers *numbers,
                               const double reasons[GT_STALLS]);

#endif
