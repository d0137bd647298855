/* residency_bins.h - residency of SMs over time in bins, whatever a run's length.
 *
 * Bins start narrow; when a record ends beyond the last one, all are doubled
 * and merged in pairs, so a run has at most GT_BINS of them and the sums stay
 * exact.  Each record costs the same however many bins it spans: the bins it
 * fills are kept as differences and summed at the end.
 */
#ifndef GRIDTIDE_TRACES_STORE_RESIDENCY_BINS_H
#define GRIDTIDE_TRACES_STORE_RESIDENCY_BINS_H

#include "sim/workload/probe.h"

enum { GT_BINS = 512 };

struct gt_bins;

struct gt_bins *gt_bins_new(void);
void gt_bins_free(struct gt_bins *bins);
void gt_bins_add(struct gt_bins *bins, const struct gt_block_record *record);
/* Add a record that comes `times` times, the first time now and then every period_ps; however many
 * they are. */
void gt_bins_add_repeated(struct gt_bins *bins, const struct gt_block_record *record, uint64_t times,
                          uint64_t period_ps);
/* Width of a bin, in picoseconds. */
uint64_t gt_bins_width_ps(const struct gt_bins *bins);

/* Every bin in which something was resident, in order of GPU, SM, bin. Sums are capped at INT64_MAX.
 * `visit` returns 0, or -1 to stop. */
typedef int gt_bins_visit(void *user, uint32_t gpu, uint32_t sm, uint32_t bin, int64_t warp_ps, int64_t block_ps);
int gt_bins_each(struct gt_bins *bins, gt_bins_visit *visit, void *user);

#endif
