/* range_calls.h - which calls a range of a workload holds. */
#ifndef GRIDTIDE_SIM_WORKLOAD_RANGE_CALLS_H
#define GRIDTIDE_SIM_WORKLOAD_RANGE_CALLS_H

#include "sim/workload/workload.h"

/* The calls of each thread, in order: thread i's are calls[first[i] .. first[i + 1] - 1]. */
struct gt_thread_calls {
    uint32_t *first;
    gt_call_index *calls;
};
void gt_thread_calls_find(struct gt_thread_calls *threads, const struct gt_workload *workload);
void gt_thread_calls_free(struct gt_thread_calls *threads);

/* Has the range a measured start and end? */
static inline bool gt_range_is_measured(const struct gt_range *range)
{
    return range->start_ps != GT_TIME_NONE && range->duration_ps != GT_TIME_NONE;
}
/* Its end; GT_TIME_NONE when it has no measured times. */
static inline gt_time_ps gt_range_measured_end(const struct gt_range *range)
{
    return gt_range_is_measured(range) ? range->start_ps + range->duration_ps : GT_TIME_NONE;
}

/* Was the call made within the range: by its thread (a step: by any of its process), and not before it began nor after its end? */
bool gt_range_has_call(const struct gt_workload *workload, const struct gt_range *range, gt_call_index call);

/* Find the calls of every range.  calls[i]: range i holds so many calls from its first_call on, of its thread (a step:
 * of any); GT_NONE: those that start within its time, or none where it has no time.  NULL: GT_NONE for all. */
void gt_ranges_find_calls(struct gt_workload *workload, const uint32_t *calls);
/* How many calls each range holds, by number alone, as gt_ranges_find_calls() takes them; malloced. */
uint32_t *gt_ranges_count_calls(const struct gt_workload *workload);

/* Calls were dropped or inserted: what was call i is now call place[i], or the next call that was kept has that place;
 * place[call_count] is the new number of calls. */
void gt_ranges_renumber(struct gt_workload *workload, const gt_call_index *place);
/* Renumber for calls in another order: `to` has the ranges of `from`, whose call i is now new_call[i]; GT_NONE: gone. */
void gt_ranges_follow(struct gt_workload *to, const struct gt_workload *from, const gt_call_index *new_call);

#endif
