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

static struct gt_planned_program *program_at_hand(const struct gt_plan *plan)
{
    return &plan->programs[plan->program_count - 1];
}

uint32_t gt_plan_workers(const struct gt_plan *plan)
{
    return program_at_hand(plan)->workers;
}

/* A program of as many workers as there may be, all free at `time_ps`: in order of their numbers they are a heap. */
static void add_program(struct gt_plan *plan, gt_time_ps time_ps)
{
    gt_array_grow(plan->programs, plan->program_count, plan->program_room);
    plan->programs[plan->program_count++] =
        (struct gt_planned_program){ .first_task = plan->task_count, .workers = plan->workers };
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
    add_program(plan, 0);
    return plan;
}

void gt_plan_free(struct gt_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->chosen);
    free(plan->tasks);
    free(plan->programs);
    free(plan->end_ps);
    free(plan->level_end_ps);
    free_clocks(&plan->clocks);
    free(plan);
}

/* Workers that do such a task, too, need so much. */
static void ask_for(struct gt_planned_program *program, const struct gt_implementation *chosen)
{
    if (chosen->registers_per_thread > program->registers_per_thread)
        program->registers_per_thread = chosen->registers_per_thread;
    if (chosen->shared_bytes > program->shared_bytes)
        program->shared_bytes = chosen->shared_bytes;
}

uint32_t gt_plan_resident(const struct gt_plan *plan, const struct gt_planned_program *program)
{
    return plan->room.resident == NULL
               ? UINT32_MAX
               : plan->room.resident(plan->room.user, program->registers_per_thread, program->shared_bytes);
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
    uint32_t at = clocks->places[worker], workers = gt_plan_workers(plan);

    clocks->free_ps[worker] = time_ps;
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < workers && is_before(clocks, clocks->heap[child + 1], clocks->heap[child]))
            child++;
        if (child >= workers || !is_before(clocks, clocks->heap[child], worker))
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
    known_ps += plan->costs.read_ps;
    return (ready_ps > known_ps ? ready_ps : known_ps) + plan->costs.wait_ps;
}

void gt_plan_place(struct gt_plan *plan, gt_operator_index op, uint32_t worker)
{
    const struct gt_operator *this = &plan->graph->operators[op];
    gt_time_ps *level_end_ps = &plan->level_end_ps[this->level];
    gt_time_ps end_ps, told_ps;

    if (plan->chosen[op] == GT_NONE || worker >= gt_plan_workers(plan))
        gt_bug("a scheduling policy places a task of '%s' without an implementation, or on no worker", this->name);
    end_ps = start_ps(plan, op, worker) + gt_plan_chosen(plan, op)->task_ps;
    if (this->successors > 0)
        end_ps += plan->costs.signal_ps;
    told_ps = end_ps + (this->successors > 0 ? plan->costs.flight_ps : 0);
    gt_array_grow(plan->tasks, plan->task_count, plan->task_room);
    plan->tasks[plan->task_count++] = (struct gt_placed_task){ op, worker };
    plan->end_ps[op] = told_ps > plan->end_ps[op] ? told_ps : plan->end_ps[op];
    *level_end_ps = told_ps > *level_end_ps ? told_ps : *level_end_ps;
    plan->latest_ps = end_ps > plan->latest_ps ? end_ps : plan->latest_ps;
    ask_for(program_at_hand(plan), gt_plan_chosen(plan, op));
    advance(plan, worker, end_ps);
}

void gt_plan_next_program(struct gt_plan *plan)
{
    if (program_at_hand(plan)->first_task < plan->task_count)
        add_program(plan, plan->latest_ps + plan->costs.launch_ps);
}

bool gt_plan_make_room(struct gt_plan *plan, uint32_t first_level, uint32_t levels)
{
    const struct gt_operator_graph *graph = plan->graph;
    struct gt_planned_program program = *program_at_hand(plan);
    uint32_t resident;

    for (uint32_t i = graph->first_of_level[first_level]; i < graph->first_of_level[first_level + levels]; i++)
        ask_for(&program, gt_plan_chosen(plan, graph->by_level[i]));
    resident = gt_plan_resident(plan, &program);
    if (resident < program.workers && program.first_task < plan->task_count)
        return false;
    program.workers = resident < program.workers ? resident : program.workers;
    *program_at_hand(plan) = program;
    return true;
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
    mark->program = *program_at_hand(plan);
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
    *program_at_hand(plan) = mark->program;
    plan->latest_ps = mark->latest_ps;
    copy_clocks(&plan->clocks, &mark->clocks, plan->workers);
}
