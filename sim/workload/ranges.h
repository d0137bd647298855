/* ranges.h - the ranges of a workload in order, and which holds which.
 *
 * A workload's ranges stand by start, the longer first of those that start together; those without a measured start
 * stand behind, by the calls that they hold.  A range is thus behind its parent.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_RANGES_H
#define GRIDTIDE_SIM_WORKLOAD_RANGES_H

#include "sim/workload/range_calls.h"

/* Put the ranges added in order, find the calls that each holds and its parent: once, when all calls and ranges are
 * there.  `calls` is as for gt_ranges_find_calls(). */
void gt_ranges_finish(struct gt_workload *workload, const uint32_t *calls);

/* The innermost range of its own thread that each call is in, GT_NONE where there is none; of those that nest
 * (not GT_RANGE_UNNESTED).  Malloced. */
gt_range_index *gt_ranges_innermost(const struct gt_workload *workload);

#endif
