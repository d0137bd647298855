/* held_calls.h - calls of several threads that were held up inside by each other before they asked for anything.
 *
 * Threads that put work into one stream, or into streams that the legacy default stream orders, take turns at the driver,
 * and a profiler takes a call's time before its turn has come.  In which order the driver took the operations is seen from
 * the order in which they ran: a call whose operation ran behind that of a call that began later was held up until that one
 * had begun.  So was one whose operation had not ended when a synchronisation that began later returned. */
#ifndef GRIDTIDE_SIM_REPLAY_HELD_CALLS_H
#define GRIDTIDE_SIM_REPLAY_HELD_CALLS_H

#include "sim/workload/workload.h"

/* By call, malloced: for how long after its measured begin it was held up at least; NULL: none was. */
gt_time_ps *gt_held_calls(const struct gt_workload *workload);

/* The call's measured begin, or when it was no longer held up; GT_TIME_NONE where it was not measured. */
static inline gt_time_ps gt_call_turn_ps(const struct gt_workload *workload, const gt_time_ps *held_ps,
                                         gt_call_index call)
{
    gt_time_ps start_ps = workload->calls[call].start_ps;

    return held_ps == NULL || start_ps == GT_TIME_NONE ? start_ps : start_ps + held_ps[call];
}

/* The numbers of all calls by that, those without it where they stand among the others; malloced. */
gt_call_index *gt_calls_in_turn(const struct gt_workload *workload, const gt_time_ps *held_ps);

#endif
