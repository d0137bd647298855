/* ranges.h - which calls a range of a workload holds, and which range holds which.
 *
 * A workload's ranges stand by start, the longer first of those that start together; those without a measured start
 * stand behind, by the calls that they hold.  A range is thus behind its parent.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_RANGES_H
#define GRIDTIDE_SIM_WORKLOAD_RANGES_H

#include "sim/workload/workload.h"

/* Put the ranges added in order, find the calls that each holds and its parent: once, when all calls and ranges are
 * there.  calls[i]: range i, as it was added, holds so many calls from its first_call on, of its thread (a step: of
 * any); GT_NONE: those that start within its time, or none where it has no time.  NULL: GT_NONE for all. */
void gt_ranges_finish(struct gt_workload *workload, const uint32_t *calls);

/* Was the call made within the range: by its thread (a step: by any), and not before it began nor after its end? */
bool gt_range_has_call(const struct gt_workload *workload, const struct gt_range *range, gt_call_index call);

/* How many calls each range holds, by number alone (what gt_ranges_finish() takes); malloced. */
uint32_t *gt_ranges_count_calls(const struct gt_workload *workload);

/* Has the range a measured start and end? */
bool gt_range_is_measured(const struct gt_range *range);
/* Its end; GT_TIME_NONE when it has no measured times. */
gt_time_ps gt_range_measured_end(const struct gt_range *range);

/* Calls were dropped, inserted or moved: what was call i is now call place[i], or the next call that was kept has that
 * place; place[call_count] is the new number of calls.  For ranges alone: parents and order stay as they are. */
void gt_ranges_renumber(struct gt_workload *workload, const gt_call_index *place);

/* The same for calls in another order: `to` has the ranges of `from`, whose call i is now new_call[i]; GT_NONE: gone. */
void gt_ranges_follow(struct gt_workload *to, const struct gt_workload *from, const gt_call_index *new_call);

#endif
