/* policy.h - scheduling policies: an operator graph in, a plan out.
 *
 * A policy of one's own is one file with the function, its declaration here and a row of the table in policies.c.  The
 * function reads the graph, and calls gt_plan_choose() once an operator and gt_plan_place() once a task, predecessors
 * first; plan.h has the clocks by which it may decide.
 */
#ifndef GRIDTIDE_SIM_SCHEDULE_POLICY_H
#define GRIDTIDE_SIM_SCHEDULE_POLICY_H

#include "sim/base/named_table.h"
#include "sim/schedule/plan.h"

struct gt_schedule_policy {
    struct gt_named named; /* its name, what it does, numbers that it takes */
    /* Fill the empty `plan`.  `parameters`: GT_NAMED_PARAMETERS numbers, as named.parameters says. */
    void (*make)(struct gt_plan *plan, const double *parameters);
};

extern const struct gt_schedule_policy gt_schedule_policies[];
extern const size_t gt_schedule_policy_count;

void gt_schedule_wavefront(struct gt_plan *plan, const double *parameters);
void gt_schedule_round_robin(struct gt_plan *plan, const double *parameters);
void gt_schedule_list(struct gt_plan *plan, const double *parameters);

/* Fill the empty `plan` by the policy that `text` names, "NAME" or "NAME PARAMETER=NUMBER ...".  Returns 0, or -1 with the
 * reason: there is no such policy, or what it made is no plan (gt_plan_check). */
int gt_schedule(struct gt_plan *plan, const char *text, struct gt_error *error);

/* What policies share.  How many tasks a level's operators have by their fastest implementations: do these fill the workers?
 * Then Rammer's rule looks at the thriftiest ones. */
bool gt_level_fills_workers(const struct gt_plan *plan, uint32_t level);
/* Give each operator of a level its fastest implementation, or its thriftiest one. */
void gt_choose_for_level(struct gt_plan *plan, uint32_t level, bool thriftiest);

#endif
