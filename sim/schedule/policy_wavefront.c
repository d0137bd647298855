/* Rammer's wavefront policy (Ma et al., OSDI 2020, section 4.3): for each breadth-first wave W, with the plan P so far,
 *
 *     P1 = schedule(W, appended to P);  P2 = schedule(W, a program of its own)
 *     if time(P1) <= time(P) + time(P2): P = P1; else: emit P, go on with P2
 *
 * where schedule() gives each operator its fastest implementation; where these fill the workers, also tries the one of
 * each that takes the least of the workers' time, and keeps it if the wave then ends earlier; and puts each task on the
 * worker that is free first.  A program's time has its launch in it.  A wave whose tasks leave room for fewer workers than the
 * program has cannot be appended to it.
 */
#include "sim/schedule/policy.h"

struct attempt {
    bool own_program, thriftiest;
};

/* Place a level and say when all has ended; GT_TIME_NONE where that cannot be. */
static gt_time_ps place_level(struct gt_plan *plan, uint32_t level, struct attempt attempt)
{
    if (attempt.own_program)
        gt_plan_next_program(plan);
    gt_choose_for_level(plan, level, attempt.thriftiest);
    if (!gt_plan_make_room(plan, level, 1))
        return GT_TIME_NONE;
    for (uint32_t i = plan->graph->first_of_level[level]; i < plan->graph->first_of_level[level + 1]; i++) {
        gt_operator_index op = plan->graph->by_level[i];

        for (uint32_t task = 0; task < gt_plan_chosen(plan, op)->tasks; task++)
            gt_plan_place(plan, op, gt_plan_first_free(plan));
    }
    return plan->latest_ps;
}

/* What is tried, in this order: of those that end together the first is taken. */
static struct attempt best_attempt(struct gt_plan *plan, struct gt_plan_mark *mark, uint32_t level)
{
    static const struct attempt attempts[] = { { false, false }, { false, true }, { true, false }, { true, true } };
    bool fills = gt_level_fills_workers(plan, level);
    struct attempt best = attempts[0];
    gt_time_ps best_ps = GT_TIME_NONE;

    gt_plan_mark_set(mark, plan);
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        gt_time_ps end_ps;

        if ((attempts[i].thriftiest && !fills) || (attempts[i].own_program && plan->task_count == 0))
            continue;
        end_ps = place_level(plan, level, attempts[i]);
        gt_plan_back_to(plan, mark);
        if (end_ps < best_ps) {
            best = attempts[i];
            best_ps = end_ps;
        }
    }
    return best;
}

void gt_schedule_wavefront(struct gt_plan *plan, const double *parameters)
{
    struct gt_plan_mark *mark = gt_plan_mark_new(plan);

    (void)parameters;
    for (uint32_t level = 0; level < plan->graph->levels; level++)
        place_level(plan, level, best_attempt(plan, mark, level));
    gt_plan_mark_free(mark);
}
