/* part.h - the part of a run that is explained: what lies in it, and how much of the critical path does. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_PART_H
#define GRIDTIDE_TRACES_EXPLAIN_PART_H

#include "traces/explain/loaded_run.h"
#include "traces/stats/stats.h"

/* From now on gaps, pairs, copies, calls, findings and limits are of that part of the run alone (NULL: of all).  What its
 * operations waited for may lie outside of it.  Returns 0; -1 with the reason: there is no such part. */
int gt_part_take(struct gt_loaded_run *run, struct gt_database *database, const struct gt_filter *filter,
                 struct gt_error *error);

/* Did nothing run on a GPU in it? */
bool gt_part_is_empty(const struct gt_loaded_run *run);

bool gt_part_has_op(const struct gt_loaded_run *run, gt_op_index op);
/* A call of that time and step; where streams or kernels are asked for, one that asked for such an operation. */
bool gt_part_has_call(const struct gt_loaded_run *run, gt_call_index call);

/* The stretch of a segment of the whole run's critical path that lies in the part: its length, 0 for none.  Where
 * nothing but times is asked for, all that happened then; else what calls and operations of the part took. `call` is
 * the segment's, or that of its operation; GT_NONE: none.  It lies from *from_ps to *to_ps. */
gt_time_ps gt_part_of_segment(const struct gt_loaded_run *run, const struct gt_stats_segment *segment, uint32_t call,
                              gt_time_ps *from_ps, gt_time_ps *to_ps);

#endif
