#include "sim/workload/task_order.h"

#include <stdlib.h>

/* The tasks that wait for each counter, and what is left to happen. */
struct sorter {
    const struct gt_task_graph *graph;
    uint32_t *first_waiter; /* of each counter, in `waiters`; one more at the end */
    gt_task_index *waiters; /* once a wait */
    uint32_t waiter_count;
    uint32_t *signals_left;      /* of each counter */
    uint32_t *needs_left;        /* of each task: waits, its maker, the one before it in its list */
    gt_task_index *next_in_list; /* GT_NONE: the last; NULL: lists do not count */
    gt_task_index *order;
    uint32_t ready; /* tasks in `order` */
};

/* By tasks: what an array has beyond theirs means nothing. */
static void count(struct sorter *sorter)
{
    const struct gt_task_graph *graph = sorter->graph;

    for (uint32_t i = 0; i < graph->task_count; i++) {
        const struct gt_task *task = &graph->tasks[i];

        for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
            sorter->first_waiter[graph->waits[w].counter + 1]++;
        for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++)
            sorter->signals_left[graph->signals[s]]++;
        for (uint32_t m = task->first_made; m < task->first_made + task->made; m++)
            sorter->needs_left[graph->made[m]]++;
        sorter->needs_left[i] += task->waits;
    }
    for (uint32_t i = 0; i < graph->counter_count; i++)
        sorter->first_waiter[i + 1] += sorter->first_waiter[i];
    sorter->waiter_count = sorter->first_waiter[graph->counter_count];
    sorter->waiters = gt_calloc(sorter->waiter_count + 1ull, sizeof *sorter->waiters);
    for (uint32_t i = graph->task_count;
         i-- > 0;) { /* from the end of each counter's, which moves down to its first */
        const struct gt_task *task = &graph->tasks[i];

        for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
            sorter->waiters[--sorter->first_waiter[graph->waits[w].counter + 1]] = i;
    }
}

/* Behind count() the first waiter of counter c stands at [c + 1]. */
static uint32_t first_waiter(const struct sorter *sorter, uint32_t counter)
{
    return sorter->first_waiter[counter + 1];
}

static uint32_t end_of_waiters(const struct sorter *sorter, uint32_t counter)
{
    return counter + 1 == sorter->graph->counter_count ? sorter->waiter_count : first_waiter(sorter, counter + 1);
}

static gt_worker_index most_worker(const struct gt_task_graph *graph)
{
    gt_worker_index most = 0;

    for (uint32_t i = 0; i < graph->task_count; i++)
        if (graph->tasks[i].worker != GT_NONE && graph->tasks[i].worker > most)
            most = graph->tasks[i].worker;
    return most;
}

static void link_lists(struct sorter *sorter)
{
    const struct gt_task_graph *graph = sorter->graph;
    gt_worker_index workers = most_worker(graph) + 1;
    gt_task_index *head = gt_calloc(workers, sizeof *head);

    sorter->next_in_list = gt_calloc(graph->task_count, sizeof *sorter->next_in_list);
    for (uint32_t i = 0; i < workers; i++)
        head[i] = GT_NONE;
    for (uint32_t i = graph->task_count; i-- > 0;) {
        gt_worker_index worker = graph->tasks[i].worker;

        sorter->next_in_list[i] = worker == GT_NONE ? GT_NONE : head[worker];
        if (worker == GT_NONE)
            continue;
        if (head[worker] != GT_NONE)
            sorter->needs_left[head[worker]]++;
        head[worker] = i;
    }
    free(head);
}

static void meet(struct sorter *sorter, gt_task_index task)
{
    if (--sorter->needs_left[task] == 0)
        sorter->order[sorter->ready++] = task;
}

static void finish_task(struct sorter *sorter, gt_task_index index)
{
    const struct gt_task_graph *graph = sorter->graph;
    const struct gt_task *task = &graph->tasks[index];

    for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++) {
        uint32_t counter = graph->signals[s];

        if (--sorter->signals_left[counter] > 0)
            continue;
        for (uint32_t w = first_waiter(sorter, counter); w < end_of_waiters(sorter, counter); w++)
            meet(sorter, sorter->waiters[w]);
    }
    for (uint32_t m = task->first_made; m < task->first_made + task->made; m++)
        meet(sorter, graph->made[m]);
    if (sorter->next_in_list != NULL && sorter->next_in_list[index] != GT_NONE)
        meet(sorter, sorter->next_in_list[index]);
}

/* For each task that is left, one that is left and that it needs; GT_NONE of the others. */
static gt_task_index *find_needs(const struct sorter *sorter)
{
    const struct gt_task_graph *graph = sorter->graph;
    gt_task_index *needs = gt_calloc(graph->task_count, sizeof *needs);

    for (uint32_t i = 0; i < graph->task_count; i++)
        needs[i] = GT_NONE;
    for (uint32_t i = 0; i < graph->task_count; i++) {
        const struct gt_task *task = &graph->tasks[i];

        if (sorter->needs_left[i] == 0)
            continue;
        for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++) {
            uint32_t counter = graph->signals[s];

            if (sorter->signals_left[counter] == GT_NONE)
                continue; /* its waiters know already */
            sorter->signals_left[counter] = GT_NONE;
            for (uint32_t w = first_waiter(sorter, counter); w < end_of_waiters(sorter, counter); w++)
                needs[sorter->waiters[w]] = i;
        }
        for (uint32_t m = task->first_made; m < task->first_made + task->made; m++)
            needs[graph->made[m]] = i;
        if (sorter->next_in_list != NULL && sorter->next_in_list[i] != GT_NONE)
            needs[sorter->next_in_list[i]] = i;
    }
    return needs;
}

/* From need to need one comes to a circle and goes round it. */
static void find_circle(const struct sorter *sorter, gt_task_index *circle, gt_task_index *needs)
{
    const struct gt_task_graph *graph = sorter->graph;
    gt_task_index *of = find_needs(sorter), at = 0;

    while (at < graph->task_count && of[at] == GT_NONE)
        at++;
    *circle = *needs = GT_NONE;
    if (at == graph->task_count) {
        free(of);
        return; /* counters that nobody signals: no circle */
    }
    for (uint32_t steps = 0; steps < graph->task_count && of[at] != GT_NONE; steps++)
        at = of[at];
    *circle = at;
    *needs = of[at];
    free(of);
}

static void free_sorter(struct sorter *sorter)
{
    free(sorter->first_waiter);
    free(sorter->waiters);
    free(sorter->signals_left);
    free(sorter->needs_left);
    free(sorter->next_in_list);
}

uint32_t gt_task_order(const struct gt_task_graph *graph, bool lists, gt_task_index *order, gt_task_index *circle,
                       gt_task_index *needs)
{
    struct sorter sorter = { .graph = graph, .order = order };

    sorter.first_waiter = gt_calloc(graph->counter_count + 2ull, sizeof *sorter.first_waiter);
    sorter.signals_left = gt_calloc(graph->counter_count + 1ull, sizeof *sorter.signals_left);
    sorter.needs_left = gt_calloc(graph->task_count + 1ull, sizeof *sorter.needs_left);
    count(&sorter);
    if (lists)
        link_lists(&sorter);
    for (uint32_t i = 0; i < graph->task_count; i++)
        if (sorter.needs_left[i] == 0)
            order[sorter.ready++] = i;
    for (uint32_t i = 0; i < sorter.ready; i++)
        finish_task(&sorter, order[i]);
    if (sorter.ready < graph->task_count)
        find_circle(&sorter, circle, needs);
    free_sorter(&sorter);
    return sorter.ready;
}
