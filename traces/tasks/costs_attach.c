/* costs_attach.c - tasks that say no time take one of the table or of the recording. */
#include "traces/tasks/costs_parts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/task_graph.h"
#include "traces/tasks/recorded_costs.h"

static bool is_called(const struct gt_cost_row *cost, const char *name, size_t length)
{
    return strlen(cost->kind) == length && memcmp(cost->kind, name, length) == 0;
}

/* The rows called so: costs[*first] to costs[result - 1]. */
static uint32_t find_called(const struct gt_task_costs *costs, const char *name, size_t length, uint32_t *first)
{
    uint32_t end;

    *first = 0;
    while (*first < costs->count && !is_called(&costs->costs[*first], name, length))
        ++*first;
    end = *first;
    while (end < costs->count && is_called(&costs->costs[end], name, length))
        end++;
    return end;
}

/* Those of a kind, or else of its first word, behind which an imported kind has its sizes. */
static uint32_t find_rows(const struct gt_task_costs *costs, const char *kind, uint32_t *first)
{
    uint32_t end = find_called(costs, kind, strlen(kind), first);

    return end > *first ? end : find_called(costs, kind, strcspn(kind, " "), first);
}

static gt_time_ps scale(gt_time_ps time_ps, uint64_t size, uint64_t by)
{
    unsigned __int128 scaled = (unsigned __int128)time_ps * size / by;

    return scaled < GT_TIME_LIMIT_PS ? (gt_time_ps)scaled : GT_TIME_LIMIT_PS;
}

static gt_time_ps time_of(const struct gt_cost_row *rows, uint32_t count, uint64_t size)
{
    const struct gt_cost_row *low, *high;
    uint32_t i = 0;

    while (i < count && rows[i].size <= size)
        i++;
    if (i == 0 || rows[i - 1].size == size)
        return rows[i == 0 ? 0 : i - 1].time_ps;
    low = &rows[i - 1];
    if (i == count)
        return low->size == 0 ? low->time_ps : scale(low->time_ps, size, low->size);
    high = &rows[i];
    if (high->time_ps >= low->time_ps)
        return low->time_ps + scale(high->time_ps - low->time_ps, size - low->size, high->size - low->size);
    return low->time_ps - scale(low->time_ps - high->time_ps, size - low->size, high->size - low->size);
}

/* Rows whose kind a graph has. */
static void mark_used(struct gt_task_costs *costs, const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < costs->count; i++)
        costs->costs[i].used = false;
    for (uint32_t g = 0; g < workload->task_graph_count; g++) {
        const struct gt_task_graph *graph = workload->task_graphs[g];

        for (gt_task_kind_index k = 0; k < graph->kind_count; k++) {
            uint32_t first, end = find_rows(costs, gt_name_text(workload, graph->kinds[k].name), &first);

            for (uint32_t i = first; i < end; i++)
                costs->costs[i].used = true;
        }
    }
}

/* What the profiler shows of the workers' scheduler is no task. */
static void keep_used(struct gt_task_costs *costs)
{
    bool *kept = gt_calloc(costs->recorded.kind_count + 1ull, sizeof *kept);

    for (uint32_t i = 0; i < costs->count; i++)
        kept[costs->costs[i].recorded] = costs->costs[i].used;
    gt_task_slices_keep(&costs->recorded, kept);
    free(kept);
}

/* Pricing: the rows of each kind of a graph, and which of its tasks are the first of a worker. */
struct pricing {
    struct gt_recorded_costs *recorded; /* NULL: the rows have times */
    uint32_t *first, *end;              /* by kind, in costs->costs */
    bool *begun;                        /* by worker */
    uint32_t workers, unlisted;         /* of the recording; tasks in no list, so far: each worker begins with one */
};

static bool is_first(struct pricing *pricing, const struct gt_task *task)
{
    bool first = task->worker == GT_NONE ? pricing->unlisted++ < pricing->workers : !pricing->begun[task->worker];

    if (task->worker != GT_NONE)
        pricing->begun[task->worker] = true;
    return first;
}

static gt_time_ps price_of(const struct gt_task_costs *costs, struct pricing *pricing,
                           const struct gt_task_graph *graph, gt_task_index t)
{
    const struct gt_task *task = &graph->tasks[t];
    const struct gt_cost_row *rows = &costs->costs[pricing->first[task->kind]];
    uint32_t count = pricing->end[task->kind] - pricing->first[task->kind];

    if (count == 0)
        return GT_TIME_NONE;
    if (pricing->recorded != NULL)
        return gt_recorded_costs_draw(pricing->recorded, rows->recorded, is_first(pricing, task));
    return time_of(rows, count, rows->operations ? gt_task_operations(graph, t) : gt_task_bytes(graph, t));
}

static void price_graph(struct gt_task_costs *costs, struct pricing *pricing, struct gt_task_graph *graph,
                        struct gt_task_cost_report *report)
{
    for (gt_task_index t = 0; t < graph->task_count; t++) {
        struct gt_task *task = &graph->tasks[t];
        bool has = task->time_ps != GT_TIME_NONE || graph->kinds[task->kind].cost != GT_TASK_COST_NONE;

        if (!has)
            task->time_ps = price_of(costs, pricing, graph, t);
        report->had += has;
        report->priced += !has && task->time_ps != GT_TIME_NONE;
        report->without += !has && task->time_ps == GT_TIME_NONE;
    }
}

/* The first slice of each worker of the graph's, by worker; slices->count where it has none. */
static uint32_t *first_slices(const struct gt_task_slices *slices, uint32_t workers)
{
    uint32_t *first = gt_calloc(workers + 1ull, sizeof *first), at = 0;

    for (uint32_t w = 0; w < workers; w++) {
        while (at < slices->count && slices->slices[at].worker < w)
            at++;
        first[w] = at;
    }
    return first;
}

/* Are the lists of the graph's workers those of the recording, kind by kind?  Then each task takes its own time. */
static bool price_same(struct gt_task_costs *costs, const struct pricing *pricing, struct gt_task_graph *graph,
                       uint32_t workers)
{
    const struct gt_task_slices *slices = &costs->recorded;
    uint32_t *next = first_slices(slices, workers);
    bool same = graph->task_count == slices->count;

    for (gt_task_index t = 0; same && t < graph->task_count; t++) {
        struct gt_task *task = &graph->tasks[t];
        uint32_t slice = task->worker != GT_NONE ? next[task->worker]++ : slices->count;

        same = task->time_ps == GT_TIME_NONE && graph->kinds[task->kind].cost == GT_TASK_COST_NONE &&
               pricing->end[task->kind] > pricing->first[task->kind] && slice < slices->count &&
               slices->slices[slice].worker == task->worker &&
               slices->slices[slice].kind == costs->costs[pricing->first[task->kind]].recorded;
    }
    free(next);
    if (!same)
        return false;
    next = first_slices(slices, workers);
    for (gt_task_index t = 0; t < graph->task_count; t++)
        graph->tasks[t].time_ps = gt_recorded_costs_time(pricing->recorded, next[graph->tasks[t].worker]++);
    free(next);
    return true;
}

static bool only_lists(const struct gt_task_graph *graph)
{
    bool listed = graph->wait_count == 0 && graph->made_count == 0;

    for (gt_task_index t = 0; listed && t < graph->task_count; t++)
        listed = graph->tasks[t].worker != GT_NONE;
    return listed;
}

static void attach_to(struct gt_task_costs *costs, const struct gt_workload *workload, struct gt_task_graph *graph,
                      struct gt_recorded_costs *recorded, struct gt_task_cost_report *report)
{
    uint64_t before = report->priced;
    struct pricing pricing = { .recorded = recorded, .workers = costs->recorded.workers };
    uint32_t workers = 0;

    pricing.first = gt_calloc(graph->kind_count + 1ull, sizeof *pricing.first);
    pricing.end = gt_calloc(graph->kind_count + 1ull, sizeof *pricing.end);
    for (gt_task_kind_index k = 0; k < graph->kind_count; k++)
        pricing.end[k] = find_rows(costs, gt_name_text(workload, graph->kinds[k].name), &pricing.first[k]);
    for (gt_task_index t = 0; t < graph->task_count; t++)
        if (graph->tasks[t].worker != GT_NONE && graph->tasks[t].worker >= workers)
            workers = graph->tasks[t].worker + 1;
    pricing.begun = gt_calloc(workers + 1ull, sizeof *pricing.begun);
    if (recorded != NULL && price_same(costs, &pricing, graph, workers)) {
        report->priced += graph->task_count;
        report->same += graph->task_count;
    } else {
        price_graph(costs, &pricing, graph, report);
    }
    if (recorded != NULL && report->priced > before && only_lists(graph)) {
        graph->between_ps = gt_recorded_costs_between(recorded);
        report->between_ps = graph->between_ps;
    }
    free(pricing.first);
    free(pricing.end);
    free(pricing.begun);
}

void gt_task_costs_attach(struct gt_task_costs *costs, struct gt_workload *workload,
                          struct gt_task_cost_report *report)
{
    struct gt_recorded_costs *recorded = NULL;

    *report = (struct gt_task_cost_report){ .unused = NULL, .between_ps = GT_TIME_NONE };
    mark_used(costs, workload);
    if (costs->is_recorded) {
        keep_used(costs);
        recorded = gt_recorded_costs_new(&costs->recorded);
    }
    for (uint32_t i = 0; i < workload->task_graph_count; i++)
        attach_to(costs, workload, workload->task_graphs[i], recorded, report);
    for (uint32_t i = 0; i < costs->count && report->unused == NULL; i++)
        if (!costs->costs[i].used)
            report->unused = costs->costs[i].kind;
    if (recorded != NULL)
        gt_recorded_costs_free(recorded);
}
