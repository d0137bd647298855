/* Who waits for whom where nothing more can happen. */
#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/tasks/run.h"

enum { WORKERS_NAMED = 3, NAME_BYTES = 80 };

/* "task 'a'", or "task 7" where it has no name; `what` is "task" or "counter". */
static const char *called(const struct gt_workload *w, const char *what, uint32_t name, uint32_t number, char *text)
{
    if (name == GT_NONE)
        snprintf(text, NAME_BYTES, "%s %u", what, number);
    else
        snprintf(text, NAME_BYTES, "%s '%.60s'", what, gt_name_text(w, name));
    return text;
}

static const char *task_called(const struct gt_task_run *run, const struct gt_workload *w, gt_task_index task,
                               char *text)
{
    return called(w, "task", run->graph->tasks[task].name, task, text);
}

static bool has_ended(const struct gt_task_run *run, gt_task_index task)
{
    return run->ended[task / 64] >> task % 64 & 1;
}

/* A task that signals the counter and has not ended; GT_NONE: none. */
static gt_task_index find_signaller(const struct gt_task_run *run, gt_task_counter_index counter)
{
    for (gt_task_index task = 0; task < run->graph->task_count; task++) {
        const struct gt_task *t = &run->graph->tasks[task];

        for (uint32_t i = t->first_signal; i < t->first_signal + t->signals; i++)
            if (run->graph->signals[i] == counter && !has_ended(run, task))
                return task;
    }
    return GT_NONE;
}

static gt_worker_index find_holder(const struct gt_task_run *run, gt_task_index task)
{
    for (gt_worker_index i = 0; i < run->worker_count; i++)
        if (run->workers[i].task == task && run->workers[i].state != GT_WORKER_ABSENT)
            return i;
    return GT_NONE;
}

/* What stands in the way of the task whose signal is missing. */
static void append_signaller(const struct gt_task_run *run, const struct gt_workload *w,
                             gt_task_counter_index counter, char *text, size_t bytes)
{
    gt_task_index task = find_signaller(run, counter);
    gt_worker_index worker;
    char name[NAME_BYTES];

    if (task == GT_NONE) {
        gt_text_append(text, bytes, ", which nobody is left to signal");
        return;
    }
    gt_text_append(text, bytes, ", which %s signals", task_called(run, w, task, name));
    worker = find_holder(run, task);
    if (worker != GT_NONE) {
        gt_text_append(text, bytes, " that worker %u has", worker);
        return;
    }
    worker = run->graph->tasks[task].worker;
    if (worker == GT_NONE || !run->policy->lists)
        gt_text_append(text, bytes, " that nobody has taken");
    else if (run->workers[worker].state == GT_WORKER_ABSENT)
        gt_text_append(text, bytes, " of worker %u, whose block is not resident", worker);
    else
        gt_text_append(text, bytes, " that is further down the list of worker %u", worker);
}

static void append_wait(const struct gt_task_run *run, const struct gt_workload *w, uint32_t wait, char *text,
                        size_t bytes)
{
    const struct gt_task_wait *of = &run->graph->waits[wait];
    char name[NAME_BYTES];

    gt_text_append(text, bytes, "%s, at %u of %u",
                   called(w, "counter", run->graph->counters[of->counter].name, of->counter, name),
                   run->counters.states[of->counter].value, of->threshold);
    append_signaller(run, w, of->counter, text, bytes);
}

/* Workers that poll. */
static gt_worker_index append_polling(const struct gt_task_run *run, const struct gt_workload *w, char *text,
                                      size_t bytes)
{
    gt_worker_index polling = 0;
    char name[NAME_BYTES];

    for (gt_worker_index i = 0; i < run->worker_count; i++) {
        if (run->workers[i].state != GT_WORKER_POLLS || polling++ >= WORKERS_NAMED)
            continue;
        gt_text_append(text, bytes, "%sworker %u waits with %s for ", polling > 1 ? "; " : "", i,
                       task_called(run, w, run->workers[i].task, name));
        append_wait(run, w, run->workers[i].wait, text, bytes);
    }
    if (polling > WORKERS_NAMED)
        gt_text_append(text, bytes, "; and %u workers more", polling - WORKERS_NAMED);
    return polling;
}

/* The first task that never became ready. */
static void append_unready(const struct gt_task_run *run, const struct gt_workload *w, char *text, size_t bytes)
{
    char name[NAME_BYTES];

    for (gt_task_index task = 0; task < run->graph->task_count; task++) {
        const struct gt_task *t = &run->graph->tasks[task];

        if (has_ended(run, task) || run->counters.lacks[task] == 0)
            continue;
        gt_text_append(text, bytes, "all workers wait for tasks to become ready; %s ",
                       task_called(run, w, task, name));
        for (uint32_t i = t->first_wait; i < t->first_wait + t->waits; i++) {
            const struct gt_task_wait *wait = &run->graph->waits[i];

            if (run->counters.states[wait->counter].value < wait->threshold) {
                gt_text_append(text, bytes, "waits for ");
                append_wait(run, w, i, text, bytes);
                return;
            }
        }
        gt_text_append(text, bytes, "is never made");
        return;
    }
}

void gt_task_run_describe(const struct gt_task_run *run, const struct gt_workload *workload, char *text, size_t bytes)
{
    gt_worker_index absent = 0;

    text[0] = '\0';
    if (append_polling(run, workload, text, bytes) == 0 && !run->policy->polls)
        append_unready(run, workload, text, bytes);
    for (gt_worker_index i = 0; i < run->worker_count; i++)
        absent += run->workers[i].state == GT_WORKER_ABSENT;
    if (absent > 0)
        gt_text_append(text, bytes, "; %u of its %u blocks are resident", run->resident, run->worker_count);
}
