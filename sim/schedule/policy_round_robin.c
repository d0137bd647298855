/* The plainest plan: operators wave by wave, each task to the worker behind the one that got the task before. */
#include "sim/schedule/policy.h"

void gt_schedule_round_robin(struct gt_plan *plan, const double *parameters)
{
    uint32_t next = 0;

    (void)parameters;
    for (uint32_t level = 0; level < plan->graph->levels; level++)
        gt_choose_for_level(plan, level, false);
    gt_plan_make_room(plan, 0, plan->graph->levels);
    for (uint32_t i = 0; i < plan->graph->operator_count; i++) {
        gt_operator_index op = plan->graph->by_level[i];

        for (uint32_t task = 0; task < gt_plan_chosen(plan, op)->tasks;
             task++, next = (next + 1) % gt_plan_workers(plan))
            gt_plan_place(plan, op, next);
    }
}
