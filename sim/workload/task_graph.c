#include "sim/workload/task_graph.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/workload/block_cost.h"

const char *const gt_task_cost_names[GT_TASK_COSTS] = {
    [GT_TASK_COST_NONE] = "none", [GT_TASK_COST_FIXED] = "fixed", [GT_TASK_COST_RANGE] = "range",
    [GT_TASK_COST_LIST] = "list", [GT_TASK_COST_HEAVY] = "heavy",
};

struct gt_task_graph *gt_task_graph_new(uint32_t name)
{
    struct gt_task_graph *graph = gt_calloc(1, sizeof *graph);

    graph->name = name;
    graph->between_ps = GT_TIME_NONE;
    return graph;
}

void gt_task_graph_free(struct gt_task_graph *graph)
{
    if (graph == NULL)
        return;
    if (graph->sharers > 0) {
        graph->sharers--;
        return;
    }
    for (uint32_t i = 0; i < graph->kind_count; i++)
        free(graph->kinds[i].list_ps);
    free(graph->kinds);
    free(graph->tasks);
    free(graph->counters);
    free(graph->waits);
    free(graph->signals);
    free(graph->made);
    free(graph->buffers);
    free(graph->accesses);
    free(graph);
}

gt_task_kind_index gt_task_graph_add_kind(struct gt_task_graph *graph, uint32_t name)
{
    gt_array_grow(graph->kinds, graph->kind_count, graph->kind_room);
    graph->kinds[graph->kind_count] = (struct gt_task_kind){ .name = name, .runs = GT_NONE, .arguments = GT_NONE };
    return graph->kind_count++;
}

gt_task_index gt_task_graph_add_task(struct gt_task_graph *graph, gt_task_kind_index kind)
{
    gt_array_grow(graph->tasks, graph->task_count, graph->task_room);
    graph->tasks[graph->task_count] = (struct gt_task){
        .time_ps = GT_TIME_NONE,
        .bytes = GT_TASK_AS_KIND,
        .operations = GT_TASK_AS_KIND,
        .name = GT_NONE,
        .kind = kind,
        .worker = GT_NONE,
        .first_wait = graph->wait_count,
        .first_signal = graph->signal_count,
        .first_made = graph->made_count,
        .first_access = graph->access_count,
    };
    return graph->task_count++;
}

gt_task_counter_index gt_task_graph_add_counter(struct gt_task_graph *graph, uint32_t name, uint32_t initial)
{
    gt_array_grow(graph->counters, graph->counter_count, graph->counter_room);
    graph->counters[graph->counter_count] = (struct gt_task_counter){ name, initial };
    return graph->counter_count++;
}

gt_task_buffer_index gt_task_graph_add_buffer(struct gt_task_graph *graph, const struct gt_task_buffer *buffer)
{
    gt_array_grow(graph->buffers, graph->buffer_count, graph->buffer_room);
    graph->buffers[graph->buffer_count] = *buffer;
    return graph->buffer_count++;
}

/* The task added last, which is about to have one more of what it has `count` of. */
static struct gt_task *last_task(struct gt_task_graph *graph)
{
    if (graph->task_count == 0)
        gt_bug("a task graph's waits, signals and accesses are added to its last task");
    return &graph->tasks[graph->task_count - 1];
}

static void count_one(uint16_t *count)
{
    if (*count == UINT16_MAX)
        gt_bug("a task has 65535 waits, signals, made tasks and accesses at most");
    ++*count;
}

void gt_task_graph_add_wait(struct gt_task_graph *graph, gt_task_counter_index counter, uint32_t threshold)
{
    count_one(&last_task(graph)->waits);
    gt_array_grow(graph->waits, graph->wait_count, graph->wait_room);
    graph->waits[graph->wait_count++] = (struct gt_task_wait){ counter, threshold };
}

void gt_task_graph_add_signal(struct gt_task_graph *graph, gt_task_counter_index counter)
{
    count_one(&last_task(graph)->signals);
    gt_array_grow(graph->signals, graph->signal_count, graph->signal_room);
    graph->signals[graph->signal_count++] = counter;
}

void gt_task_graph_add_made(struct gt_task_graph *graph, gt_task_index made)
{
    count_one(&last_task(graph)->made);
    gt_array_grow(graph->made, graph->made_count, graph->made_room);
    graph->made[graph->made_count++] = made;
}

void gt_task_graph_add_access(struct gt_task_graph *graph, gt_task_buffer_index buffer, bool writes)
{
    count_one(&last_task(graph)->accesses);
    gt_array_grow(graph->accesses, graph->access_count, graph->access_room);
    graph->accesses[graph->access_count++] = (struct gt_task_access){ buffer, writes };
}

static gt_time_ps heavy_ps(const struct gt_task_kind *kind, uint64_t bits)
{
    double u = ((double)(bits >> 11) + 1) / 0x1p53; /* (0, 1] */
    double time_ps = (double)kind->min_ps * pow(u, -1 / kind->tail);

    return time_ps < (double)kind->max_ps ? (gt_time_ps)time_ps : kind->max_ps;
}

gt_time_ps gt_task_cost_ps(const struct gt_task_graph *graph, gt_task_index task, uint64_t seed)
{
    const struct gt_task_kind *kind = &graph->kinds[graph->tasks[task].kind];
    uint64_t bits = gt_random_bits(seed, graph->number, task);

    if (graph->tasks[task].time_ps != GT_TIME_NONE)
        return graph->tasks[task].time_ps;
    switch (kind->cost) {
    case GT_TASK_COST_FIXED: return kind->min_ps;
    case GT_TASK_COST_RANGE:
        return kind->min_ps + (gt_time_ps)((unsigned __int128)(kind->max_ps - kind->min_ps + 1) * bits >> 64);
    case GT_TASK_COST_LIST: return kind->list_ps[task % kind->list_length];
    case GT_TASK_COST_HEAVY: return heavy_ps(kind, bits);
    default: return GT_TIME_NONE;
    }
}

uint64_t gt_task_bytes(const struct gt_task_graph *graph, gt_task_index task)
{
    const struct gt_task *t = &graph->tasks[task];

    return t->bytes != GT_TASK_AS_KIND ? t->bytes : graph->kinds[t->kind].bytes;
}

uint64_t gt_task_operations(const struct gt_task_graph *graph, gt_task_index task)
{
    const struct gt_task *t = &graph->tasks[task];

    return t->operations != GT_TASK_AS_KIND ? t->operations : graph->kinds[t->kind].operations;
}

void gt_workload_add_task_graph(struct gt_workload *w, struct gt_task_graph *graph)
{
    gt_array_grow(w->task_graphs, w->task_graph_count, w->task_graph_room);
    graph->number = w->task_graph_count;
    w->task_graphs[w->task_graph_count++] = graph;
}
