#include <stdlib.h>

#include "sim/workload/task_order.h"
#include "traces/tasks/internal.h"

/* What a worker has been given so far. */
struct load {
    uint64_t bytes, operations;
    uint32_t tasks;
};

static bool lighter(const struct load *a, const struct load *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->operations != b->operations ? a->operations < b->operations : a->tasks < b->tasks;
}

static gt_worker_index lightest(const struct load *loads, uint32_t workers)
{
    gt_worker_index best = 0;

    for (gt_worker_index i = 1; i < workers; i++)
        if (lighter(&loads[i], &loads[best]))
            best = i;
    return best;
}

static void copy_task(struct gt_task_graph *to, const struct gt_task_graph *from, gt_task_index index)
{
    const struct gt_task *old = &from->tasks[index];
    gt_task_index added = gt_task_graph_add_task(to, old->kind);
    struct gt_task *task = &to->tasks[added];

    task->time_ps = old->time_ps;
    task->bytes = old->bytes;
    task->operations = old->operations;
    task->name = old->name;
    task->line = old->line;
    for (uint32_t i = old->first_wait; i < old->first_wait + old->waits; i++)
        gt_task_graph_add_wait(to, from->waits[i].counter, from->waits[i].threshold);
    for (uint32_t i = old->first_signal; i < old->first_signal + old->signals; i++)
        gt_task_graph_add_signal(to, from->signals[i]);
    for (uint32_t i = old->first_access; i < old->first_access + old->accesses; i++)
        gt_task_graph_add_access(to, from->accesses[i].buffer, from->accesses[i].writes);
}

static struct gt_task_graph *copy_parts(const struct gt_task_graph *from)
{
    struct gt_task_graph *to = gt_task_graph_new(from->name);

    to->line = from->line;
    for (uint32_t i = 0; i < from->kind_count; i++)
        gt_task_graph_add_kind(to, from->kinds[i].name);
    for (uint32_t i = 0; i < from->counter_count; i++)
        gt_task_graph_add_counter(to, from->counters[i].name, from->counters[i].initial);
    for (uint32_t i = 0; i < from->buffer_count; i++)
        gt_task_graph_add_buffer(to, &from->buffers[i]);
    return to;
}

struct gt_task_graph *gt_task_assignment(struct gt_task_graph *graph, enum gt_task_assigning dealing,
                                         uint32_t workers)
{
    gt_task_index *order = gt_calloc(graph->task_count + 1ull, sizeof *order);
    struct load *loads = gt_calloc(workers, sizeof *loads);
    struct gt_task_graph *dealt = copy_parts(graph);
    gt_task_index circle, needs; /* of which there is none: the graph has been checked */
    uint32_t count = gt_task_order(graph, false, order, &circle, &needs);

    for (uint32_t i = 0; i < count; i++) {
        gt_worker_index worker = dealing == GT_DEAL_ROUND_ROBIN ? i % workers : lightest(loads, workers);

        copy_task(dealt, graph, order[i]);
        dealt->tasks[i].worker = worker;
        loads[worker].bytes += gt_task_bytes(graph, order[i]);
        loads[worker].operations += gt_task_operations(graph, order[i]);
        loads[worker].tasks++;
    }
    free(order);
    free(loads);
    gt_task_graph_free(graph);
    return dealt;
}
