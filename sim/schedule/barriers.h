/* barriers.h - what each task of a program waits for and counts up, so that a plan's order holds among its workers.
 *
 * Rammer's barrier task waits until other workers have done so many steps of their lists; here a task waits for counters,
 * each of which tells one thing:
 *   fine    that all tasks of an operator have ended; operators that have the same successors share a counter
 *   global  that all workers with a task in a breadth-first wave have ended their last one of it
 * A worker that has waited for a counter does not wait for it again, nor for what it has done itself: its list is done in
 * order.  Operators of earlier programs have ended before this one begins.
 */
#ifndef GRIDTIDE_SIM_SCHEDULE_BARRIERS_H
#define GRIDTIDE_SIM_SCHEDULE_BARRIERS_H

#include "sim/schedule/plan.h"

struct gt_program_barriers {
    uint32_t first_task, tasks; /* those of the program, in plan->tasks; numbers below count from the first */
    uint32_t counters;          /* each starts at 0, and is waited for by somebody */
    uint32_t *thresholds;       /* of each: how many tasks signal it */
    uint32_t *signals;          /* of each task: the counter that it counts up; GT_NONE: none */
    uint32_t *waits;            /* counters that ... */
    uint32_t *first_wait;       /* ... task i waits for: from first_wait[i] up to first_wait[i + 1] */
};

struct gt_program_barriers *gt_program_barriers_new(const struct gt_plan *plan, uint32_t program);
void gt_program_barriers_free(struct gt_program_barriers *barriers);

#endif
