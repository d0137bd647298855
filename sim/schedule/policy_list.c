/* Critical-path list scheduling (Graham 1969; Adam, Chandy, Dickson 1974): whenever a worker is free, it takes a task of the
 * ready operator from which the longest way leads to the end of the graph.
 *
 * It is done with all fastest implementations and, where waves fill the workers, again with the thriftiest ones in these;
 * the plan that ends earlier is kept.
 */
#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/schedule/policy.h"

struct list {
    struct gt_plan *plan;
    gt_time_ps *way_ps;      /* from each operator's start to the end, its own time in it */
    uint32_t *missing;       /* predecessors of each that are not placed */
    uint32_t *level_missing; /* operators of each level that are not placed */
    uint32_t *tasks_left;    /* of each */
    struct gt_heap coming;   /* operators whose predecessors are all placed, by when these have ended */
    struct gt_heap ready;    /* those that can start at the time at hand, the longest way first */
};

static void find_ways(struct list *list)
{
    const struct gt_operator_graph *graph = list->plan->graph;

    for (uint32_t i = graph->operator_count; i-- > 0;) {
        gt_operator_index op = graph->by_level[i];
        gt_time_ps longest_ps = 0;

        for (uint32_t k = 0; k < graph->operators[op].successors; k++) {
            gt_time_ps way_ps = list->way_ps[graph->successors[graph->operators[op].first_successor + k]];

            longest_ps = way_ps > longest_ps ? way_ps : longest_ps;
        }
        list->way_ps[op] = longest_ps + gt_plan_chosen(list->plan, op)->task_ps;
    }
}

static void let_come(struct list *list, gt_operator_index op)
{
    gt_heap_push(&list->coming,
                 (struct gt_heap_event){ .time_ps = gt_plan_ready_ps(list->plan, op), .order = op, .subject = op });
}

static void let_level_come(struct list *list, uint32_t level)
{
    const struct gt_operator_graph *graph = list->plan->graph;

    for (uint32_t i = graph->first_of_level[level]; i < graph->first_of_level[level + 1]; i++)
        let_come(list, graph->by_level[i]);
}

/* All tasks of `op` are placed: who waited for no other comes. */
static void let_others_come(struct list *list, gt_operator_index op)
{
    const struct gt_operator_graph *graph = list->plan->graph;
    const struct gt_operator *done = &graph->operators[op];

    if (list->plan->barriers == GT_BARRIERS_GLOBAL) {
        if (--list->level_missing[done->level] == 0 && done->level + 1 < graph->levels)
            let_level_come(list, done->level + 1);
        return;
    }
    for (uint32_t k = 0; k < done->successors; k++) {
        gt_operator_index after = graph->successors[done->first_successor + k];

        if (--list->missing[after] == 0)
            let_come(list, after);
    }
}

/* What can start when the next worker is free; where nothing can, what can first. */
static void find_ready(struct list *list)
{
    gt_time_ps now_ps = list->plan->clocks.free_ps[gt_plan_first_free(list->plan)];

    if (list->ready.count == 0 && list->coming.events[0].time_ps > now_ps)
        now_ps = list->coming.events[0].time_ps;
    while (list->coming.count > 0 && list->coming.events[0].time_ps <= now_ps) {
        gt_operator_index op = gt_heap_pop(&list->coming).subject;

        gt_heap_push(&list->ready, (struct gt_heap_event){
                                       .time_ps = GT_TIME_NONE - list->way_ps[op], .order = op, .subject = op });
    }
}

static void place_all(struct list *list)
{
    const struct gt_operator_graph *graph = list->plan->graph;

    for (gt_operator_index i = 0; i < graph->operator_count; i++) {
        list->missing[i] = graph->operators[i].predecessors;
        list->tasks_left[i] = gt_plan_chosen(list->plan, i)->tasks;
    }
    for (uint32_t level = 0; level < graph->levels; level++)
        list->level_missing[level] = graph->first_of_level[level + 1] - graph->first_of_level[level];
    find_ways(list);
    let_level_come(list, 0);
    while (list->coming.count + list->ready.count > 0) {
        gt_operator_index op;

        find_ready(list);
        op = list->ready.events[0].subject;
        gt_plan_place(list->plan, op, gt_plan_first_free(list->plan));
        if (--list->tasks_left[op] == 0) {
            gt_heap_pop(&list->ready);
            let_others_come(list, op);
        }
    }
}

static bool any_full_wave(const struct gt_plan *plan)
{
    for (uint32_t level = 0; level < plan->graph->levels; level++)
        if (gt_level_fills_workers(plan, level))
            return true;
    return false;
}

/* Place all, and say when all has ended. */
static gt_time_ps attempt(struct list *list, bool thrifty)
{
    struct gt_plan *plan = list->plan;

    for (uint32_t level = 0; level < plan->graph->levels; level++)
        gt_choose_for_level(plan, level, thrifty && gt_level_fills_workers(plan, level));
    gt_plan_make_room(plan, 0, plan->graph->levels);
    place_all(list);
    return plan->latest_ps;
}

static bool is_thrifty_better(struct list *list)
{
    struct gt_plan_mark *empty = gt_plan_mark_new(list->plan);
    gt_time_ps fast_ps, thrifty_ps;

    fast_ps = attempt(list, false);
    gt_plan_back_to(list->plan, empty);
    thrifty_ps = attempt(list, true);
    gt_plan_back_to(list->plan, empty);
    gt_plan_mark_free(empty);
    return thrifty_ps < fast_ps;
}

void gt_schedule_list(struct gt_plan *plan, const double *parameters)
{
    uint32_t operators = plan->graph->operator_count;
    struct list list = {
        .plan = plan,
        .way_ps = gt_calloc(operators, sizeof *list.way_ps),
        .missing = gt_calloc(operators, sizeof *list.missing),
        .level_missing = gt_calloc(plan->graph->levels, sizeof *list.level_missing),
        .tasks_left = gt_calloc(operators, sizeof *list.tasks_left),
    };

    (void)parameters;
    attempt(&list, any_full_wave(plan) && is_thrifty_better(&list));
    gt_heap_free(&list.coming);
    gt_heap_free(&list.ready);
    free(list.way_ps);
    free(list.missing);
    free(list.level_missing);
    free(list.tasks_left);
}
