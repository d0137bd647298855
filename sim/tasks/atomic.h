/* atomic.h - atomics on one address: L2 does them one after the other.
 *
 * All take as long on their way there, so that they are served in the order in which they are sent.
 */
#ifndef GRIDTIDE_SIM_TASKS_ATOMIC_H
#define GRIDTIDE_SIM_TASKS_ATOMIC_H

#include "sim/workload/workload.h"

/* One is sent at `sent_ps`, no earlier than the one before; `free_ps`, of the address, is when the next one could be
 * served.  When is it served, leaving out the ways there and back? */
static inline gt_time_ps gt_task_atomic(gt_time_ps *free_ps, gt_time_ps sent_ps, gt_time_ps serial_ps)
{
    gt_time_ps served_ps = sent_ps > *free_ps ? sent_ps : *free_ps;

    *free_ps = served_ps + serial_ps;
    return served_ps;
}

/* Who polls from `from_ps` on, a look each `poll_ps` that sees what was there at its middle: when has he seen what
 * is there from `there_ps` on? */
static inline gt_time_ps gt_task_seen(gt_time_ps from_ps, gt_time_ps there_ps, gt_time_ps poll_ps)
{
    gt_time_ps half_ps = poll_ps / 2, looks = 1;

    if (poll_ps == 0)
        return there_ps > from_ps ? there_ps : from_ps;
    if (there_ps > from_ps + half_ps)
        looks = (there_ps - from_ps - half_ps + poll_ps - 1) / poll_ps + 1;
    return from_ps + looks * poll_ps;
}

#endif
