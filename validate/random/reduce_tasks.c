#include "validate/random/reduce_tasks.h"

#include <stdlib.h>
#include <string.h>

/* How many tasks signal each counter, of all (kept NULL) or of those that are kept; the caller frees it. */
static uint32_t *count_signals(const struct gt_task_graph *graph, const bool *kept)
{
    uint32_t *counts = gt_calloc(graph->counter_count, sizeof *counts);

    for (uint32_t i = 0; i < graph->task_count; i++)
        for (uint32_t j = 0; (kept == NULL || kept[i]) && j < graph->tasks[i].signals; j++)
            counts[graph->signals[graph->tasks[i].first_signal + j]]++;
    return counts;
}

struct reducing {
    const struct gt_task_graph *from;
    struct gt_task_graph *to;
    uint32_t *signals_before, *signals_after; /* by counter */
    gt_task_index *numbers;                   /* in the new graph, by task; GT_NONE: it goes */
};

static void add_task(struct reducing *r, const struct gt_task *task)
{
    const struct gt_task_graph *from = r->from;
    struct gt_task *added = &r->to->tasks[gt_task_graph_add_task(r->to, task->kind)];

    added->time_ps = task->time_ps;
    added->bytes = task->bytes;
    added->operations = task->operations;
    added->name = task->name;
    added->worker = task->worker;
    for (uint32_t i = task->first_wait; i < task->first_wait + task->waits; i++) {
        gt_task_counter_index counter = from->waits[i].counter;

        if (r->signals_after[counter] > 0)
            gt_task_graph_add_wait(r->to, counter,
                                   from->waits[i].threshold - r->signals_before[counter] + r->signals_after[counter]);
    }
    for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++)
        gt_task_graph_add_signal(r->to, from->signals[i]);
    for (uint32_t i = task->first_made; i < task->first_made + task->made; i++)
        if (r->numbers[from->made[i]] != GT_NONE)
            gt_task_graph_add_made(r->to, r->numbers[from->made[i]]);
}

void gt_reduce_tasks(struct gt_task_graph *graph, const bool *kept)
{
    struct gt_task_graph *from = gt_task_graph_copy(graph, NULL, NULL);
    struct reducing r = { from, graph, count_signals(from, NULL), count_signals(from, kept),
                          gt_calloc(from->task_count, sizeof *r.numbers) };
    uint32_t count = 0;

    for (uint32_t i = 0; i < from->task_count; i++)
        r.numbers[i] = kept[i] ? count++ : GT_NONE;
    if (count > 0) {
        graph->task_count = graph->wait_count = graph->signal_count = graph->made_count = graph->access_count = 0;
        for (uint32_t i = 0; i < from->task_count; i++)
            if (kept[i])
                add_task(&r, &from->tasks[i]);
    }
    free(r.signals_before);
    free(r.signals_after);
    free(r.numbers);
    gt_task_graph_free(from);
}
