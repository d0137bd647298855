#include "sim/workload/task_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/task_order.h"

int gt_task_error(const struct gt_workload *workload, const struct gt_task_graph *graph, gt_task_index index,
                  struct gt_error *error)
{
    const struct gt_task *task = &graph->tasks[index];

    if (task->name != GT_NONE)
        gt_error_prefix(error, "task graph %.100s: task %u (%.100s): ", gt_name_text(workload, graph->name), index,
                        gt_name_text(workload, task->name));
    else
        gt_error_prefix(error, "task graph %.100s: task %u: ", gt_name_text(workload, graph->name), index);
    return task->line != 0 ? gt_error_prefix(error, "line %u: ", task->line) : -1;
}

void gt_task_part_text(const struct gt_workload *workload, uint32_t name, uint32_t number, char *text)
{
    if (name != GT_NONE)
        snprintf(text, GT_PART_TEXT_BYTES, "%.90s", gt_name_text(workload, name));
    else
        snprintf(text, GT_PART_TEXT_BYTES, "%u", number);
}

static bool stretch_fits(uint32_t first, uint32_t count, uint32_t all)
{
    return first <= all && count <= all - first;
}

static bool name_fits(const struct gt_workload *workload, uint32_t name)
{
    return name == GT_NONE || name < gt_name_count(workload);
}

static int check_kind(const struct gt_workload *workload, const struct gt_task_kind *kind, struct gt_error *error)
{
    if (kind->name >= gt_name_count(workload) || !name_fits(workload, kind->runs) ||
        !name_fits(workload, kind->arguments) || kind->cost >= GT_TASK_COSTS)
        return gt_error_set(error, "its name, what it runs or how it costs time is not a known one");
    if (kind->min_ps > kind->max_ps || kind->max_ps > GT_TIME_LIMIT_PS)
        return gt_error_set(error, "its time is too long, or a range that starts above its end");
    if (kind->cost == GT_TASK_COST_LIST && kind->list_length == 0)
        return gt_error_set(error, "its list of times is empty");
    for (uint32_t i = 0; kind->cost == GT_TASK_COST_LIST && i < kind->list_length; i++)
        if (kind->list_ps[i] > GT_TIME_LIMIT_PS)
            return gt_error_set(error, "a time of its list is too long");
    if (kind->cost == GT_TASK_COST_HEAVY && !(kind->tail > 0))
        return gt_error_set(error, "its heavy tail needs an exponent above 0");
    return 0;
}

static int check_task(const struct gt_workload *workload, const struct gt_task_graph *graph,
                      const struct gt_task *task, struct gt_error *error)
{
    if (task->kind >= graph->kind_count || !name_fits(workload, task->name) ||
        !stretch_fits(task->first_wait, task->waits, graph->wait_count) ||
        !stretch_fits(task->first_signal, task->signals, graph->signal_count) ||
        !stretch_fits(task->first_made, task->made, graph->made_count) ||
        !stretch_fits(task->first_access, task->accesses, graph->access_count))
        return gt_error_set(error, "its kind, its name or what it waits for, signals, makes, reads or writes is not "
                                   "there");
    if (task->time_ps != GT_TIME_NONE && task->time_ps > GT_TIME_LIMIT_PS)
        return gt_error_set(error, "it takes too long; 53 days are the limit");
    return 0;
}

static int check_parts(const struct gt_workload *workload, const struct gt_task_graph *graph, struct gt_error *error)
{
    for (uint32_t i = 0; i < graph->kind_count; i++)
        if (check_kind(workload, &graph->kinds[i], error) != 0)
            return gt_error_prefix(error, "kind %.200s: ", gt_name_text(workload, graph->kinds[i].name));
    for (uint32_t i = 0; i < graph->counter_count; i++)
        if (!name_fits(workload, graph->counters[i].name))
            return gt_error_set(error, "a counter's name is not among the names");
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        if (!name_fits(workload, graph->buffers[i].name))
            return gt_error_set(error, "a buffer's name is not among the names");
    for (uint32_t i = 0; i < graph->wait_count; i++)
        if (graph->waits[i].counter >= graph->counter_count)
            return gt_error_set(error, "a task waits for a counter that is not there");
    for (uint32_t i = 0; i < graph->signal_count; i++)
        if (graph->signals[i] >= graph->counter_count)
            return gt_error_set(error, "a task signals a counter that is not there");
    for (uint32_t i = 0; i < graph->made_count; i++)
        if (graph->made[i] >= graph->task_count)
            return gt_error_set(error, "a task makes one that is not there");
    for (uint32_t i = 0; i < graph->access_count; i++)
        if (graph->accesses[i].buffer >= graph->buffer_count)
            return gt_error_set(error, "a task reads or writes a buffer that is not there");
    return 0;
}

/* The signals that a counter gets, and whether they are of several tasks. */
struct producers {
    uint32_t signals;
    gt_task_index last; /* of those seen so far */
    bool several;
};

static struct producers *count_producers(const struct gt_task_graph *graph)
{
    struct producers *producers = gt_calloc(graph->counter_count + 1ull, sizeof *producers);

    for (uint32_t t = 0; t < graph->task_count; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t s = task->first_signal; s < task->first_signal + task->signals; s++) {
            struct producers *of = &producers[graph->signals[s]];

            of->several |= of->signals > 0 && of->last != t;
            of->signals++;
            of->last = t;
        }
    }
    return producers;
}

static int check_wait(const struct gt_workload *workload, const struct gt_task_graph *graph,
                      const struct gt_task_wait *wait, const struct producers *producers, struct gt_error *error)
{
    const struct gt_task_counter *counter = &graph->counters[wait->counter];
    uint64_t most = (uint64_t)counter->initial + producers->signals;
    char name[GT_PART_TEXT_BYTES];

    gt_task_part_text(workload, counter->name, wait->counter, name);
    if (producers->signals == 0)
        return gt_error_set(error, "it waits for counter %s, which no task signals", name);
    if (wait->threshold <= counter->initial)
        return gt_error_set(error, "it waits until counter %s is %u, and it begins with %u: it waits for nobody",
                            name, wait->threshold, counter->initial);
    if (wait->threshold > most)
        return gt_error_set(error, "it waits until counter %s is %u, and its signals bring it to %llu: for ever",
                            name, wait->threshold, (unsigned long long)most);
    if (producers->several && wait->threshold != most)
        return gt_error_set(error,
                            "it waits until counter %s is %u, and several tasks signal it, up to %llu: whichever end "
                            "first; wait for all of them, or give each a counter",
                            name, wait->threshold, (unsigned long long)most);
    return 0;
}

static int check_waits(const struct gt_workload *workload, const struct gt_task_graph *graph, struct gt_error *error)
{
    struct producers *producers = count_producers(graph);
    int status = 0;

    for (uint32_t t = 0; t < graph->task_count && status == 0; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t w = task->first_wait; w < task->first_wait + task->waits && status == 0; w++)
            if (check_wait(workload, graph, &graph->waits[w], &producers[graph->waits[w].counter], error) != 0)
                status = gt_task_error(workload, graph, t, error);
    }
    free(producers);
    return status;
}

static int check_made(const struct gt_workload *workload, const struct gt_task_graph *graph, struct gt_error *error)
{
    uint8_t *made;
    int status = 0;

    if (graph->made_count == 0)
        return 0;
    made = gt_calloc(graph->task_count, sizeof *made);
    for (uint32_t t = 0; t < graph->task_count && status == 0; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t m = task->first_made; m < task->first_made + task->made && status == 0; m++) {
            if (made[graph->made[m]]++ == 0)
                continue;
            gt_error_set(error, "it is made twice; a task is done once");
            status = gt_task_error(workload, graph, graph->made[m], error);
        }
    }
    free(made);
    return status;
}

/* "task 7 (x)" for a message. */
static void task_text(const struct gt_workload *workload, const struct gt_task_graph *graph, gt_task_index task,
                      char *text, size_t bytes)
{
    uint32_t name = graph->tasks[task].name;

    if (name == GT_NONE)
        snprintf(text, bytes, "task %u", task);
    else
        snprintf(text, bytes, "task %u (%.90s)", task, gt_name_text(workload, name));
}

/* `order` is filled. */
static int check_circles(const struct gt_workload *workload, const struct gt_task_graph *graph, bool lists,
                         gt_task_index *order, struct gt_error *error)
{
    gt_task_index circle = GT_NONE, needs = GT_NONE;
    char other[2 * GT_PART_TEXT_BYTES];

    if (gt_task_order(graph, lists, order, &circle, &needs) == graph->task_count)
        return 0;
    if (circle == GT_NONE)
        gt_bug("a task graph without an order and without a circle");
    if (circle == needs) {
        gt_error_set(error, "it waits for itself");
        return gt_task_error(workload, graph, circle, error);
    }
    task_text(workload, graph, needs, other, sizeof other);
    if (lists)
        gt_error_set(error,
                     "it comes after %s, which needs it in turn: by waits, or by the workers' lists, which are "
                     "done in the order of tasks",
                     other);
    else
        gt_error_set(error, "it needs %s, which needs it in turn", other);
    return gt_task_error(workload, graph, circle, error);
}

int gt_task_graph_check(const struct gt_workload *workload, const struct gt_task_graph *graph, struct gt_error *error)
{
    gt_task_index *order;
    int status;

    if (graph->name >= gt_name_count(workload))
        return gt_error_set(error, "a task graph's name is not among the names");
    if (check_parts(workload, graph, error) != 0) {
        gt_error_prefix(error, "task graph %.100s: ", gt_name_text(workload, graph->name));
        return graph->line != 0 ? gt_error_prefix(error, "line %u: ", graph->line) : -1;
    }
    for (uint32_t i = 0; i < graph->task_count; i++)
        if (check_task(workload, graph, &graph->tasks[i], error) != 0)
            return gt_task_error(workload, graph, i, error);
    if (check_waits(workload, graph, error) != 0 || check_made(workload, graph, error) != 0)
        return -1;
    order = gt_calloc(graph->task_count + 1ull, sizeof *order);
    status = check_circles(workload, graph, false, order, error);
    if (status == 0)
        status = gt_task_reads_check(workload, graph, order, error);
    free(order);
    return status;
}

/* Every task in the list of a worker that there is. */
static int check_lists(const struct gt_workload *workload, const struct gt_kernel *kernel, bool all,
                       struct gt_error *error)
{
    const struct gt_task_graph *graph = kernel->tasks;
    uint64_t workers = gt_kernel_blocks(kernel);

    for (uint32_t i = 0; i < graph->task_count; i++) {
        gt_worker_index worker = graph->tasks[i].worker;

        if (worker == GT_NONE ? !all : worker < workers)
            continue;
        if (worker == GT_NONE)
            gt_error_set(error, "it is in no worker's list, and policy static knows nothing else; give it a "
                                "\"worker\", or say policy mixed");
        else
            gt_error_set(error, "it is in the list of worker %u, and kernel %.100s has %llu blocks, from 0 on",
                         worker, gt_name_text(workload, kernel->name), (unsigned long long)workers);
        return gt_task_error(workload, graph, i, error);
    }
    return 0;
}

int gt_task_policy_check(const struct gt_workload *workload, const struct gt_kernel *kernel, struct gt_error *error)
{
    const char *policy = gt_name_text(workload, kernel->task_policy);
    bool all = strcmp(policy, "static") == 0, lists = all || strcmp(policy, "mixed") == 0;
    const struct gt_task_graph *graph = kernel->tasks;
    gt_task_index *order;
    int status;

    if (graph->made_count > 0 && (lists || strcmp(policy, "shared") == 0)) {
        gt_error_set(error,
                     "another task makes it, and policy %.50s hands out only what is there from the start; use "
                     "ready or steal",
                     policy);
        return gt_task_error(workload, graph, graph->made[0], error);
    }
    if (!lists)
        return 0;
    if (check_lists(workload, kernel, all, error) != 0)
        return -1;
    order = gt_calloc(graph->task_count + 1ull, sizeof *order);
    status = check_circles(workload, graph, true, order, error);
    free(order);
    return status;
}
