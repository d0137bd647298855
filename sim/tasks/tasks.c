#include "sim/tasks/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/tasks/run.h"

struct gt_tasks *gt_tasks_new(const struct gt_device *device, const struct gt_task_listener *listener)
{
    struct gt_tasks *tasks = gt_calloc(1, sizeof *tasks);

    tasks->device = device;
    tasks->listener = *listener;
    return tasks;
}

void gt_tasks_free(struct gt_tasks *tasks)
{
    if (tasks == NULL)
        return;
    for (uint32_t i = 0; i < tasks->run_count; i++)
        if (tasks->runs[i] != NULL)
            gt_task_run_end(tasks->runs[i]);
    free(tasks->runs);
    gt_roofline_free(tasks->roofline);
    gt_heap_free(&tasks->events.heap);
    free(tasks);
}

/* A number for a run; one that was used before, if any is free. */
static uint32_t number_for(struct gt_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->run_count; i++)
        if (tasks->runs[i] == NULL)
            return i;
    gt_array_grow(tasks->runs, tasks->run_count, tasks->run_room);
    return tasks->run_count++;
}

/* Does every task say what it takes? */
static int check_costs(const struct gt_task_graph *graph, struct gt_error *error)
{
    for (gt_task_index i = 0; i < graph->task_count; i++) {
        const struct gt_task *task = &graph->tasks[i];
        const struct gt_task_kind *kind = &graph->kinds[task->kind];

        if (task->time_ps == GT_TIME_NONE && kind->cost == GT_TASK_COST_NONE && task->bytes == GT_TASK_AS_KIND &&
            task->operations == GT_TASK_AS_KIND && kind->bytes == 0 && kind->operations == 0)
            return gt_error_set(error, "task %u says no time, no bytes and no operations, and neither does its kind",
                                i);
    }
    return 0;
}

/* What the policy has before anybody asks: its state, and tasks that are ready. */
static int begin_policy(struct gt_task_run *run, struct gt_error *error)
{
    if (check_costs(run->graph, error) != 0)
        return -1;
    if (run->policy->polls && run->graph->made_count > 0)
        return gt_error_set(error, "its tasks make others, which policy %s knows nothing of: ready and steal do",
                            run->policy->named.name);
    gt_task_counters_make(&run->counters, run->graph, !run->policy->polls);
    if (!run->policy->polls)
        run->next_task = gt_realloc(NULL, run->graph->task_count, sizeof *run->next_task);
    if (!run->policy->polls && run->tasks->listener.task != NULL) {
        run->causes = gt_realloc(NULL, run->graph->task_count, sizeof *run->causes);
        memset(run->causes, 0xff, run->graph->task_count * sizeof *run->causes);
    }
    if (run->policy->begin(run, error) != 0)
        return -1;
    for (gt_task_index i = 0; i < run->graph->task_count && !run->policy->polls; i++)
        if (run->counters.lacks[i] == 0)
            run->policy->push(run, GT_NONE, i, 0);
    return 0;
}

struct gt_task_run *gt_task_run_begin(struct gt_tasks *tasks, const struct gt_task_graph *graph,
                                      const struct gt_task_policy *policy, gt_worker_index workers, uint64_t seed,
                                      gt_op_index op, struct gt_error *error)
{
    struct gt_task_run *run;

    run = gt_calloc(1, sizeof *run);
    *run = (struct gt_task_run){
        .tasks = tasks,
        .graph = graph,
        .costs = &tasks->device->tasks,
        .policy = policy,
        .seed = seed,
        .id = tasks->begun++ << 32 | number_for(tasks),
        .op = op,
        .workers = gt_calloc(workers, sizeof *run->workers),
        .worker_count = workers,
        .left = graph->task_count,
        .ended = gt_calloc(graph->task_count / 64 + 1ull, sizeof *run->ended),
    };
    tasks->runs[(uint32_t)run->id] = run;
    if (begin_policy(run, error) == 0)
        return run;
    gt_task_run_end(run);
    return NULL;
}

void gt_task_run_end(struct gt_task_run *run)
{
    run->tasks->runs[(uint32_t)run->id] = NULL;
    if (run->state != NULL)
        run->policy->end(run);
    gt_task_counters_free(&run->counters);
    free(run->workers);
    free(run->ended);
    free(run->next_task);
    free(run->causes);
    free(run);
}

void gt_task_run_set_threads(struct gt_task_run *run, uint32_t threads)
{
    run->threads = threads;
}

uint32_t gt_task_run_place(const struct gt_task_run *run, gt_worker_index worker)
{
    return run->workers[worker].place;
}

void *gt_task_run_user(const struct gt_task_run *run)
{
    return run->user;
}

void gt_task_run_set_user(struct gt_task_run *run, void *user)
{
    run->user = user;
}

gt_task_index gt_task_run_left(const struct gt_task_run *run)
{
    return run->left;
}

void gt_tasks_set_memory_part(struct gt_tasks *tasks, gt_time_ps now_ps, double part)
{
    if (tasks->roofline == NULL)
        tasks->roofline = gt_roofline_new(tasks->device);
    gt_roofline_set_memory_part(tasks->roofline, now_ps, part);
}

double gt_tasks_memory_wanted(const struct gt_tasks *tasks, uint32_t *sms)
{
    *sms = 0;
    return tasks->roofline == NULL ? 0 : gt_roofline_memory_wanted(tasks->roofline, sms);
}

static gt_time_ps next_event_ps(const struct gt_tasks *tasks)
{
    return tasks->events.heap.count == 0 ? GT_TIME_NONE : tasks->events.heap.events[0].time_ps;
}

gt_time_ps gt_tasks_next_ps(const struct gt_tasks *tasks)
{
    gt_time_ps event_ps = next_event_ps(tasks);
    gt_time_ps work_ps = tasks->roofline == NULL ? GT_TIME_NONE : gt_roofline_next_ps(tasks->roofline);

    return event_ps < work_ps ? event_ps : work_ps;
}

/* Bytes or operations of a task are done. */
static void step_work(struct gt_tasks *tasks)
{
    struct gt_roofline_task task;

    tasks->events.now_ps = gt_roofline_next_ps(tasks->roofline);
    if (gt_roofline_step(tasks->roofline, tasks->events.now_ps, &task))
        gt_task_run_work_done(tasks->runs[(uint32_t)task.run], task.worker, task.first_ps);
}

void gt_tasks_step(struct gt_tasks *tasks)
{
    struct gt_heap_event event;
    struct gt_task_run *run;

    if (next_event_ps(tasks) > gt_tasks_next_ps(tasks)) {
        step_work(tasks);
        return;
    }
    event = gt_heap_pop(&tasks->events.heap);
    run = tasks->runs[(uint32_t)event.stamp];
    tasks->events.now_ps = event.time_ps;
    if (run != NULL && run->id == event.stamp)
        gt_task_run_event(run, &event);
}
