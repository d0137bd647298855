/* What a policy promises of a plan, and what a plan is in numbers. */
#include <stdlib.h>

#include "sim/schedule/plan.h"

/* The tasks of `op` that are placed so far, against those that its implementation has. */
static int check_task(const struct gt_plan *plan, const uint32_t *placed, const uint32_t *level_missing,
                      gt_operator_index op, struct gt_error *error)
{
    const struct gt_operator *this = &plan->graph->operators[op];

    if (placed[op] == gt_plan_chosen(plan, op)->tasks)
        return gt_error_set(error, "operator '%.200s' has more tasks placed than it has", this->name);
    if (plan->barriers == GT_BARRIERS_GLOBAL && this->level > 0 && level_missing[this->level - 1] > 0)
        return gt_error_set(error, "operator '%.200s' is placed before all of the wave before it", this->name);
    for (uint32_t i = 0; i < this->predecessors; i++) {
        gt_operator_index before = plan->graph->predecessors[this->first_predecessor + i];

        if (plan->chosen[before] == GT_NONE || placed[before] < gt_plan_chosen(plan, before)->tasks)
            return gt_error_set(error, "operator '%.200s' is placed before '%.200s', which it comes after",
                                this->name, plan->graph->operators[before].name);
    }
    return 0;
}

static int check_all_placed(const struct gt_plan *plan, const uint32_t *placed, struct gt_error *error)
{
    for (gt_operator_index i = 0; i < plan->graph->operator_count; i++)
        if (plan->chosen[i] == GT_NONE || placed[i] != gt_plan_chosen(plan, i)->tasks)
            return gt_error_set(error, "operator '%.200s' has tasks that no worker does",
                                plan->graph->operators[i].name);
    return 0;
}

static int check_resident(const struct gt_plan *plan, struct gt_error *error)
{
    for (uint32_t i = 0; i < plan->program_count; i++)
        if (plan->programs[i].workers > gt_plan_resident(plan, &plan->programs[i]))
            return gt_error_set(error, "program %u has %u workers, of which %u are resident at once", i,
                                plan->programs[i].workers, gt_plan_resident(plan, &plan->programs[i]));
    return 0;
}

int gt_plan_check(const struct gt_plan *plan, struct gt_error *error)
{
    uint32_t *placed = gt_calloc(plan->graph->operator_count, sizeof *placed);
    uint32_t *level_missing = gt_calloc(plan->graph->levels, sizeof *level_missing); /* operators not all placed */
    int status = 0;

    for (uint32_t level = 0; level < plan->graph->levels; level++)
        level_missing[level] = plan->graph->first_of_level[level + 1] - plan->graph->first_of_level[level];
    for (uint32_t i = 0; i < plan->task_count && status == 0; i++) {
        gt_operator_index op = plan->tasks[i].op;

        status = check_task(plan, placed, level_missing, op, error);
        if (++placed[op] == gt_plan_chosen(plan, op)->tasks)
            level_missing[plan->graph->operators[op].level]--;
    }
    if (status == 0)
        status = check_all_placed(plan, placed, error);
    if (status == 0)
        status = check_resident(plan, error);
    free(placed);
    free(level_missing);
    return status;
}

struct gt_plan_size gt_plan_measure(const struct gt_plan *plan)
{
    const struct gt_operator_graph *graph = plan->graph;
    gt_time_ps *end_ps = gt_calloc(graph->operator_count, sizeof *end_ps);
    struct gt_plan_size size = { .end_ps = plan->latest_ps };

    for (uint32_t i = 0; i < graph->operator_count; i++) {
        gt_operator_index op = graph->by_level[i];
        const struct gt_operator *this = &graph->operators[op];
        const struct gt_implementation *chosen = gt_plan_chosen(plan, op);

        for (uint32_t k = 0; k < this->predecessors; k++) {
            gt_time_ps before_ps = end_ps[graph->predecessors[this->first_predecessor + k]];

            end_ps[op] = before_ps > end_ps[op] ? before_ps : end_ps[op];
        }
        end_ps[op] += chosen->task_ps;
        size.work_ps += chosen->task_ps * chosen->tasks;
        size.critical_path_ps = end_ps[op] > size.critical_path_ps ? end_ps[op] : size.critical_path_ps;
    }
    free(end_ps);
    return size;
}
