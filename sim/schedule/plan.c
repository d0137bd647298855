#include "sim/schedule/plan.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

const char *const gt_barriers_names[GT_BARRIERS] = { [GT_BARRIERS_FINE] = "fine", [GT_BARRIERS_GLOBAL] = "global" };

static void make_clocks(struct gt_workers *clocks, uint32_t workers)
{
    clocks->free_ps = gt_calloc(workers, sizeof *clocks->free_ps);
    clocks->heap = gt_calloc(workers, sizeof *clocks->heap);
    clocks->places = gt_calloc(workers, sizeof *clocks->places);
}

static void free_clocks(struct gt_workers *clocks)
{
    free(clocks->free_ps);
    free(clocks->heap);
    free(clocks->places);
}

static void copy_clocks(struct gt_workers *to, const struct gt_workers *from, uint32_t workers)
{
    memcpy(to->free_ps, from->free_ps, workers * sizeof *to->free_ps);
    memcpy(to->heap, from->heap, workers * sizeof *to->heap);
    memcpy(to->places, from->places, workers * sizeof *to->places);
}

/* All workers are free at `time_ps`: in order of their numbers they are a heap. */
static void set_clocks(struct gt_plan *plan, gt_time_ps time_ps)
{
    for (uint32_t i = 0; i < plan->workers; i++) {
        plan->clocks.free_ps[i] = time_ps;
        plan->clocks.heap[i] = plan->clocks.places[i] = i;
    }
}

struct gt_plan *gt_plan_new(const struct gt_operator_graph *graph, uint32_t workers, enum gt_barriers barriers,
                            const struct gt_plan_costs *costs)
{
    struct gt_plan *plan = gt_calloc(1, sizeof *plan);

    plan->graph = graph;
    plan->workers = workers;
    plan->barriers = barriers;
    plan->costs = *costs;
    plan->chosen = gt_calloc(graph->operator_count, sizeof *plan->chosen);
    memset(plan->chosen, 0xff, graph->operator_count * sizeof *plan->chosen); /* GT_NONE */
    plan->end_ps = gt_calloc(graph->operator_count, sizeof *plan->end_ps);
    plan->level_end_ps = gt_calloc(graph->levels, sizeof *plan->level_end_ps);
    make_clocks(&plan->clocks, workers);
    set_clocks(plan, 0);
    gt_array_grow(plan->first_of_program, plan->program_count, plan->program_room);
    plan->first_of_program[plan->program_count++] = 0;
    return plan;
}

void gt_plan_free(struct gt_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->chosen);
    free(plan->tasks);
    free(plan->first_of_program);
    free(plan->end_ps);
    free(plan->level_end_ps);
    free_clocks(&plan->clocks);
    free(plan);
}

void gt_plan_choose(struct gt_plan *plan, gt_operator_index op, uint32_t implementation)
{
    plan->chosen[op] = implementation;
}

const struct gt_implementation *gt_plan_chosen(const struct gt_plan *plan, gt_operator_index op)
{
    return &plan->graph->kinds[plan->graph->operators[op].kind].implementations[plan->chosen[op]];
}

gt_time_ps gt_plan_ready_ps(const struct gt_plan *plan, gt_operator_index op)
{
    const struct gt_operator *this = &plan->graph->operators[op];
    gt_time_ps ready_ps = 0;

    if (plan->barriers == GT_BARRIERS_GLOBAL)
        return this->level > 0 ? plan->level_end_ps[this->level - 1] : 0;
    for (uint32_t i = 0; i < this->predecessors; i++) {
        gt_time_ps end_ps = plan->end_ps[plan->graph->predecessors[this->first_predecessor + i]];

        ready_ps = end_ps > ready_ps ? end_ps : ready_ps;
    }
    return ready_ps;
}

uint32_t gt_plan_first_free(const struct gt_plan *plan)
{
    return plan->clocks.heap[0];
}

static bool is_before(const struct gt_workers *clocks, uint32_t a, uint32_t b)
{
    return clocks->free_ps[a] != clocks->free_ps[b] ? clocks->free_ps[a] < clocks->free_ps[b] : a < b;
}

/* The worker's clock goes forward. */
static void advance(struct gt_plan *plan, uint32_t worker, gt_time_ps time_ps)
{
    struct gt_workers *clocks = &plan->clocks;
    uint32_t at = clocks->places[worker];

    clocks->free_ps[worker] = time_ps;
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < plan->workers && is_before(clocks, clocks->heap[child + 1], clocks->heap[child]))
            child++;
        if (child >= plan->workers || !is_before(clocks, clocks->heap[child], worker))
            break;
        clocks->heap[at] = clocks->heap[child];
        clocks->places[clocks->heap[at]] = at;
        at = child;
    }
    clocks->heap[at] = worker;
    clocks->places[worker] = at;
}

/* When a task that is placed next starts on `worker`. */
static gt_time_ps start_ps(const struct gt_plan *plan, gt_operator_index op, uint32_t worker)
{
    gt_time_ps known_ps = plan->clocks.free_ps[worker] + plan->costs.take_ps;
    gt_time_ps ready_ps = gt_plan_ready_ps(plan, op);

    if (plan->graph->operators[op].predecessors == 0 && ready_ps <= known_ps)
        return known_ps;
    return (ready_ps > known_ps ? ready_ps : known_ps) + plan->costs.wait_ps;
}

void gt_plan_place(struct gt_plan *plan, gt_operator_index op, uint32_t worker)
{
    const struct gt_operator *this = &plan->graph->operators[op];
    gt_time_ps *level_end_ps = &plan->level_end_ps[this->level];
    gt_time_ps end_ps;

    if (plan->chosen[op] == GT_NONE || worker >= plan->workers)
        gt_bug("a scheduling policy places a task of '%s' without an implementation, or on no worker", this->name);
    end_ps = start_ps(plan, op, worker) + gt_plan_chosen(plan, op)->task_ps;
    if (this->successors > 0)
        end_ps += plan->costs.signal_ps;
    gt_array_grow(plan->tasks, plan->task_count, plan->task_room);
    plan->tasks[plan->task_count++] = (struct gt_placed_task){ op, worker };
    plan->end_ps[op] = end_ps > plan->end_ps[op] ? end_ps : plan->end_ps[op];
    *level_end_ps = end_ps > *level_end_ps ? end_ps : *level_end_ps;
    plan->latest_ps = end_ps > plan->latest_ps ? end_ps : plan->latest_ps;
    advance(plan, worker, end_ps);
}

void gt_plan_next_program(struct gt_plan *plan)
{
    if (plan->first_of_program[plan->program_count - 1] == plan->task_count)
        return;
    gt_array_grow(plan->first_of_program, plan->program_count, plan->program_room);
    plan->first_of_program[plan->program_count++] = plan->task_count;
    set_clocks(plan, plan->latest_ps + plan->costs.launch_ps);
}

struct gt_plan_mark *gt_plan_mark_new(const struct gt_plan *plan)
{
    struct gt_plan_mark *mark = gt_calloc(1, sizeof *mark);

    make_clocks(&mark->clocks, plan->workers);
    gt_plan_mark_set(mark, plan);
    return mark;
}

void gt_plan_mark_free(struct gt_plan_mark *mark)
{
    free_clocks(&mark->clocks);
    free(mark);
}

void gt_plan_mark_set(struct gt_plan_mark *mark, const struct gt_plan *plan)
{
    mark->task_count = plan->task_count;
    mark->program_count = plan->program_count;
    mark->latest_ps = plan->latest_ps;
    copy_clocks(&mark->clocks, &plan->clocks, plan->workers);
}

void gt_plan_back_to(struct gt_plan *plan, const struct gt_plan_mark *mark)
{
    for (uint32_t i = mark->task_count; i < plan->task_count; i++) {
        gt_operator_index op = plan->tasks[i].op;

        plan->chosen[op] = GT_NONE;
        plan->end_ps[op] = 0;
        plan->level_end_ps[plan->graph->operators[op].level] = 0;
    }
    plan->task_count = mark->task_count;
    plan->program_count = mark->program_count;
    plan->latest_ps = mark->latest_ps;
    copy_clocks(&plan->clocks, &mark->clocks, plan->workers);
}
