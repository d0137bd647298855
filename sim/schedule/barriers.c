#include "sim/schedule/barriers.h"

#include <stdlib.h>
#include <string.h>

enum { SEVERAL = UINT32_MAX - 1 }; /* workers */

struct making {
    const struct gt_plan *plan;
    struct gt_program_barriers *made;
    const struct gt_placed_task *tasks;
    uint32_t *by_worker;  /* the program's tasks, those of worker 0 first, each worker's in order */
    uint32_t *counter_of; /* fine: of each operator with tasks in the program; global: of each level; GT_NONE */
    uint32_t *signaller;  /* of each counter: the worker whose tasks signal it, or SEVERAL */
    uint32_t *waited;     /* of each counter: the last worker that waited for it */
    bool *used;           /* of each counter */
    uint32_t *wait_count; /* of each task */
};

static uint32_t *nones(uint32_t count)
{
    uint32_t *all = gt_calloc(count + 1ull, sizeof *all);

    memset(all, 0xff, (count + 1ull) * sizeof *all); /* GT_NONE */
    return all;
}

static uint32_t level_of(const struct making *making, uint32_t task)
{
    return making->plan->graph->operators[making->tasks[task].op].level;
}

static void sort_by_worker(struct making *making)
{
    uint32_t *next = gt_calloc(making->plan->workers + 1ull, sizeof *next);

    making->by_worker = gt_calloc(making->made->tasks, sizeof *making->by_worker);
    for (uint32_t i = 0; i < making->made->tasks; i++)
        next[making->tasks[i].worker + 1]++;
    for (uint32_t worker = 0; worker < making->plan->workers; worker++)
        next[worker + 1] += next[worker];
    for (uint32_t i = 0; i < making->made->tasks; i++)
        making->by_worker[next[making->tasks[i].worker]++] = i;
    free(next);
}

static bool same_successors(const struct gt_operator_graph *graph, gt_operator_index a, gt_operator_index b)
{
    const struct gt_operator *left = &graph->operators[a], *right = &graph->operators[b];

    return left->successors == right->successors &&
           memcmp(graph->successors + left->first_successor, graph->successors + right->first_successor,
                  left->successors * sizeof *graph->successors) == 0;
}

/* The counter of an operator with the same successors: both are predecessors of the first of these. */
static uint32_t shared_counter(const struct making *making, gt_operator_index op)
{
    const struct gt_operator_graph *graph = making->plan->graph;
    const struct gt_operator *successor = &graph->operators[graph->successors[graph->operators[op].first_successor]];

    for (uint32_t i = 0; i < successor->predecessors; i++) {
        gt_operator_index other = graph->predecessors[successor->first_predecessor + i];

        if (making->counter_of[other] != GT_NONE && same_successors(graph, op, other))
            return making->counter_of[other];
    }
    return GT_NONE;
}

/* Every task of an operator that has successors counts. */
static void signal_by_operator(struct making *making)
{
    making->counter_of = nones(making->plan->graph->operator_count);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        gt_operator_index op = making->tasks[i].op;
        uint32_t *counter = &making->counter_of[op];

        if (making->plan->graph->operators[op].successors == 0)
            continue;
        if (*counter == GT_NONE)
            *counter = shared_counter(making, op);
        if (*counter == GT_NONE)
            *counter = making->made->counters++;
        making->made->signals[i] = *counter;
    }
}

/* Each worker's last task of a wave counts. */
static void signal_by_level(struct making *making)
{
    making->counter_of = nones(making->plan->graph->levels);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        uint32_t task = making->by_worker[i], next = i + 1 < making->made->tasks ? making->by_worker[i + 1] : GT_NONE;
        uint32_t *counter = &making->counter_of[level_of(making, task)];

        if (*counter == GT_NONE)
            *counter = making->made->counters++;
        if (next == GT_NONE || making->tasks[next].worker != making->tasks[task].worker ||
            level_of(making, next) != level_of(making, task))
            making->made->signals[task] = *counter;
    }
}

/* How many signal each counter, and whether these are all of one worker. */
static void count_signals(struct making *making)
{
    struct gt_program_barriers *made = making->made;

    making->signaller = nones(made->counters);
    made->thresholds = gt_calloc(made->counters + 1ull, sizeof *made->thresholds);
    for (uint32_t i = 0; i < made->tasks; i++) {
        uint32_t counter = made->signals[i], worker = making->tasks[i].worker;

        if (counter == GT_NONE)
            continue;
        made->thresholds[counter]++;
        if (making->signaller[counter] == GT_NONE)
            making->signaller[counter] = worker;
        else if (making->signaller[counter] != worker)
            making->signaller[counter] = SEVERAL;
    }
}

/* The task's worker must know that `counter` is there: it waits unless it knows anyway.  `made->waits` NULL: only count. */
static void need(struct making *making, uint32_t task, uint32_t counter)
{
    struct gt_program_barriers *made = making->made;
    uint32_t worker = making->tasks[task].worker;

    if (counter == GT_NONE || making->signaller[counter] == worker || making->waited[counter] == worker)
        return;
    making->waited[counter] = worker;
    making->used[counter] = true;
    if (made->waits != NULL)
        made->waits[made->first_wait[task] + making->wait_count[task]] = counter;
    making->wait_count[task]++;
}

static void need_all(struct making *making)
{
    const struct gt_operator_graph *graph = making->plan->graph;

    memset(making->waited, 0xff, (making->made->counters + 1ull) * sizeof *making->waited);
    memset(making->wait_count, 0, making->made->tasks * sizeof *making->wait_count);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        uint32_t task = making->by_worker[i], level = level_of(making, task);
        const struct gt_operator *op = &graph->operators[making->tasks[task].op];

        if (making->plan->barriers == GT_BARRIERS_GLOBAL && level > 0)
            need(making, task, making->counter_of[level - 1]);
        for (uint32_t k = 0; making->plan->barriers == GT_BARRIERS_FINE && k < op->predecessors; k++)
            need(making, task, making->counter_of[graph->predecessors[op->first_predecessor + k]]);
    }
}

static void find_waits(struct making *making)
{
    struct gt_program_barriers *made = making->made;

    making->waited = nones(made->counters);
    making->used = gt_calloc(made->counters + 1ull, sizeof *making->used);
    making->wait_count = gt_calloc(made->tasks, sizeof *making->wait_count);
    need_all(making);
    made->first_wait = gt_calloc(made->tasks + 1ull, sizeof *made->first_wait);
    for (uint32_t i = 0; i < made->tasks; i++)
        made->first_wait[i + 1] = made->first_wait[i] + making->wait_count[i];
    made->waits = gt_calloc(made->first_wait[made->tasks] + 1ull, sizeof *made->waits);
    need_all(making);
}

/* Counters that nobody waits for go. */
static void keep_used(struct making *making)
{
    struct gt_program_barriers *made = making->made;
    uint32_t *number = nones(made->counters), kept = 0;

    for (uint32_t i = 0; i < made->counters; i++)
        if (making->used[i]) {
            made->thresholds[kept] = made->thresholds[i];
            number[i] = kept++;
        }
    for (uint32_t i = 0; i < made->tasks; i++)
        if (made->signals[i] != GT_NONE)
            made->signals[i] = number[made->signals[i]];
    for (uint32_t i = 0; i < made->first_wait[made->tasks]; i++)
        made->waits[i] = number[made->waits[i]];
    made->counters = kept;
    free(number);
}

struct gt_program_barriers *gt_program_barriers_new(const struct gt_plan *plan, uint32_t program)
{
    struct gt_program_barriers *made = gt_calloc(1, sizeof *made);
    struct making making = { .plan = plan, .made = made, .tasks = plan->tasks + plan->programs[program].first_task };
    uint32_t end = program + 1 < plan->program_count ? plan->programs[program + 1].first_task : plan->task_count;

    made->first_task = plan->programs[program].first_task;
    made->tasks = end - made->first_task;
    made->signals = nones(made->tasks);
    sort_by_worker(&making);
    if (plan->barriers == GT_BARRIERS_GLOBAL)
        signal_by_level(&making);
    else
        signal_by_operator(&making);
    count_signals(&making);
    find_waits(&making);
    keep_used(&making);
    free(making.by_worker);
    free(making.counter_of);
    free(making.signaller);
    free(making.waited);
    free(making.used);
    free(making.wait_count);
    return made;
}

void gt_program_barriers_free(struct gt_program_barriers *barriers)
{
    free(barriers->thresholds);
    free(barriers->signals);
    free(barriers->waits);
    free(barriers->first_wait);
    free(barriers);
}
