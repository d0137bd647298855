/* A task graph like another one, to be changed. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/task_graph.h"

static void *copy_array(const void *array, uint32_t count, size_t size)
{
    void *copy = gt_realloc(NULL, count, size);

    if (count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

#define COPY_ARRAY(to, array, count, room)                                       \
    do {                                                                         \
        (to)->array = copy_array((to)->array, (to)->count, sizeof *(to)->array); \
        (to)->room = (to)->count;                                                \
    } while (0)

static void rename_all(struct gt_task_graph *graph, uint32_t (*name)(void *user, uint32_t name), void *user)
{
    graph->name = name(user, graph->name);
    for (uint32_t i = 0; i < graph->kind_count; i++) {
        graph->kinds[i].name = name(user, graph->kinds[i].name);
        graph->kinds[i].runs = name(user, graph->kinds[i].runs);
        graph->kinds[i].arguments = name(user, graph->kinds[i].arguments);
    }
    for (uint32_t i = 0; i < graph->task_count; i++)
        graph->tasks[i].name = name(user, graph->tasks[i].name);
    for (uint32_t i = 0; i < graph->counter_count; i++)
        graph->counters[i].name = name(user, graph->counters[i].name);
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        graph->buffers[i].name = name(user, graph->buffers[i].name);
}

struct gt_task_graph *gt_task_graph_copy(const struct gt_task_graph *graph,
                                         uint32_t (*name)(void *user, uint32_t name), void *user)
{
    struct gt_task_graph *copy = gt_calloc(1, sizeof *copy);

    *copy = *graph;
    copy->sharers = 0;
    COPY_ARRAY(copy, kinds, kind_count, kind_room);
    for (uint32_t i = 0; i < copy->kind_count; i++)
        if (copy->kinds[i].list_ps != NULL)
            copy->kinds[i].list_ps =
                copy_array(copy->kinds[i].list_ps, copy->kinds[i].list_length, sizeof(gt_time_ps));
    COPY_ARRAY(copy, tasks, task_count, task_room);
    COPY_ARRAY(copy, counters, counter_count, counter_room);
    COPY_ARRAY(copy, waits, wait_count, wait_room);
    COPY_ARRAY(copy, signals, signal_count, signal_room);
    COPY_ARRAY(copy, made, made_count, made_room);
    COPY_ARRAY(copy, buffers, buffer_count, buffer_room);
    COPY_ARRAY(copy, accesses, access_count, access_room);
    if (name != NULL)
        rename_all(copy, name, user);
    return copy;
}

static uint64_t scaled(uint64_t value, double factor)
{
    double product = (double)value * factor;

    return product < (double)GT_TIME_LIMIT_PS ? (uint64_t)(product + 0.5) : GT_TIME_LIMIT_PS;
}

void gt_task_graph_scale(struct gt_task_graph *graph, double factor)
{
    for (uint32_t i = 0; i < graph->kind_count; i++) {
        struct gt_task_kind *kind = &graph->kinds[i];

        kind->min_ps = scaled(kind->min_ps, factor);
        kind->max_ps = scaled(kind->max_ps, factor);
        for (uint32_t n = 0; n < kind->list_length; n++)
            kind->list_ps[n] = scaled(kind->list_ps[n], factor);
        kind->bytes = scaled(kind->bytes, factor);
        kind->operations = scaled(kind->operations, factor);
    }
    for (uint32_t i = 0; i < graph->task_count; i++) {
        struct gt_task *task = &graph->tasks[i];

        if (task->time_ps != GT_TIME_NONE)
            task->time_ps = scaled(task->time_ps, factor);
        if (task->bytes != GT_TASK_AS_KIND)
            task->bytes = scaled(task->bytes, factor);
        if (task->operations != GT_TASK_AS_KIND)
            task->operations = scaled(task->operations, factor);
    }
}
