/* The table of scheduling policies, and what they share. */
#include "sim/schedule/policy.h"

const struct gt_schedule_policy gt_schedule_policies[] = {
    { { .name = "wavefront", .help = "as in Rammer: wave by wave, each task to the worker that is free first" },
      gt_schedule_wavefront },
    { { .name = "round-robin", .help = "fastest implementations, tasks assigned in turn" }, gt_schedule_round_robin },
    { { .name = "list", .help = "a free worker takes the task with the longest path to the end" }, gt_schedule_list },
};
const size_t gt_schedule_policy_count = sizeof gt_schedule_policies / sizeof gt_schedule_policies[0];

int gt_schedule(struct gt_plan *plan, const char *text, struct gt_error *error)
{
    double parameters[GT_NAMED_PARAMETERS];
    const struct gt_schedule_policy *policy = gt_named_find(gt_schedule_policies, gt_schedule_policy_count,
                                                            sizeof gt_schedule_policies[0], "--policy", text, error);

    if (policy == NULL || gt_named_parameters(&policy->named, "--policy", text, parameters, error) != 0)
        return -1;
    policy->make(plan, parameters);
    return gt_plan_check(plan, error) == 0 ? 0 : gt_error_prefix(error, "policy '%s': ", policy->named.name);
}

static const struct gt_operator_kind *kind_at(const struct gt_plan *plan, uint32_t place)
{
    return &plan->graph->kinds[plan->graph->operators[plan->graph->by_level[place]].kind];
}

bool gt_level_fills_workers(const struct gt_plan *plan, uint32_t level)
{
    uint64_t tasks = 0;

    for (uint32_t i = plan->graph->first_of_level[level]; i < plan->graph->first_of_level[level + 1]; i++) {
        const struct gt_operator_kind *kind = kind_at(plan, i);

        tasks += kind->implementations[gt_fastest_implementation(kind, plan->workers)].tasks;
    }
    return tasks >= plan->workers;
}

void gt_choose_for_level(struct gt_plan *plan, uint32_t level, bool thriftiest)
{
    for (uint32_t i = plan->graph->first_of_level[level]; i < plan->graph->first_of_level[level + 1]; i++) {
        const struct gt_operator_kind *kind = kind_at(plan, i);

        gt_plan_choose(plan, plan->graph->by_level[i],
                       thriftiest ? gt_thriftiest_implementation(kind)
                                  : gt_fastest_implementation(kind, plan->workers));
    }
}
