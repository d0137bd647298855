#include "sim/tasks/run.h"

#include <stdlib.h>

#include "sim/tasks/atomic.h"

/* qsort() hands no context to a comparison: what it needs stands with what is sorted. */
struct sorted_wait {
    uint32_t threshold;
    struct gt_task_met met;
};

static int by_threshold(const void *left, const void *right)
{
    const struct sorted_wait *a = left, *b = right;

    if (a->threshold != b->threshold)
        return a->threshold < b->threshold ? -1 : 1;
    return (a->met.wait > b->met.wait) - (a->met.wait < b->met.wait);
}

/* The waits of one counter, which stand in the order of tasks. */
static void sort_waits(const struct gt_task_graph *graph, struct gt_task_met *waits, uint32_t count)
{
    struct sorted_wait *sorted;
    uint32_t i = 1;

    while (i < count && graph->waits[waits[i - 1].wait].threshold <= graph->waits[waits[i].wait].threshold)
        i++;
    if (i >= count)
        return;
    sorted = gt_realloc(NULL, count, sizeof *sorted);
    for (i = 0; i < count; i++)
        sorted[i] = (struct sorted_wait){ graph->waits[waits[i].wait].threshold, waits[i] };
    qsort(sorted, count, sizeof *sorted, by_threshold);
    for (i = 0; i < count; i++)
        waits[i] = sorted[i].met;
    free(sorted);
}

/* Every counter's waits, one counter's after the other's. */
static void deal_waits(struct gt_task_counters *counters, const struct gt_task_graph *graph)
{
    uint32_t first = 0;

    counters->waits = gt_realloc(NULL, graph->wait_count, sizeof *counters->waits);
    counters->ends = gt_calloc(graph->counter_count, sizeof *counters->ends);
    for (uint32_t i = 0; i < graph->wait_count; i++)
        counters->ends[graph->waits[i].counter]++;
    for (uint32_t i = 0; i < graph->counter_count; i++) {
        counters->states[i].head = first;
        first += counters->ends[i];
        counters->ends[i] = counters->states[i].head;
    }
    for (gt_task_index task = 0; task < graph->task_count; task++) {
        const struct gt_task *t = &graph->tasks[task];

        for (uint32_t i = t->first_wait; i < t->first_wait + t->waits; i++)
            counters->waits[counters->ends[graph->waits[i].counter]++] = (struct gt_task_met){ i, task };
    }
}

static void find_lacks(struct gt_task_counters *counters, const struct gt_task_graph *graph)
{
    counters->lacks = gt_calloc(graph->task_count, sizeof *counters->lacks);
    for (gt_task_index task = 0; task < graph->task_count; task++)
        counters->lacks[task] = graph->tasks[task].waits;
    for (uint32_t i = 0; i < graph->made_count; i++)
        counters->lacks[graph->made[i]]++;
    for (uint32_t i = 0; i < graph->counter_count; i++) {
        struct gt_task_counter_state *state = &counters->states[i];

        sort_waits(graph, counters->waits + state->head, counters->ends[i] - state->head);
        while (state->head < counters->ends[i] &&
               graph->waits[counters->waits[state->head].wait].threshold <= state->value)
            counters->lacks[counters->waits[state->head++].task]--;
    }
}

void gt_task_counters_make(struct gt_task_counters *counters, const struct gt_task_graph *graph, bool handed_out)
{
    *counters = (struct gt_task_counters){ 0 };
    counters->states = gt_calloc(graph->counter_count, sizeof *counters->states);
    for (uint32_t i = 0; i < graph->counter_count; i++)
        counters->states[i] = (struct gt_task_counter_state){ .value = graph->counters[i].initial, .head = GT_NONE };
    if (!handed_out)
        return;
    deal_waits(counters, graph);
    find_lacks(counters, graph);
}

void gt_task_counters_free(struct gt_task_counters *counters)
{
    free(counters->states);
    free(counters->waits);
    free(counters->ends);
    free(counters->lacks);
}

gt_time_ps gt_task_counter_signal(struct gt_task_counter_state *counter, gt_time_ps now_ps, gt_time_ps serial_ps)
{
    counter->value++;
    return gt_task_atomic(&counter->free_ps, now_ps, serial_ps);
}

gt_time_ps gt_task_counter_reached_ps(const struct gt_task_counter_state *counter, uint32_t threshold,
                                      gt_time_ps serial_ps)
{
    gt_time_ps behind_ps = (counter->value - threshold + UINT64_C(1)) * serial_ps;

    return counter->free_ps > behind_ps ? counter->free_ps - behind_ps : 0;
}
