#include "traces/explain/task_bound.h"

#include <inttypes.h>
#include <stdio.h>

/* From so much of the launch's time on the longest way through the tasks bounds it; of the workers' time, their work. */
static const double path_bounds = 0.8, work_bounds = 0.85;

/* All launches of one kernel. */
struct sums {
    gt_time_ps span_ps;
    double had_ps, parts_ps[5]; /* of the workers; of it idle: by reason */
    double work_ps, path_ps;
    const struct gt_stats_task_kernel *longest; /* of the launches */
};

/* Reasons for which workers are idle. */
static const struct reason {
    const char *text, *bound, *help, *change;
} reasons[] = {
    { "waiting for counters", "waits for counters",
      "workers hold tasks whose counters are not complete yet: assign other tasks first (order, policy ready or "
      "steal), or shorten the tasks that they wait for",
      NULL },
    { "no task ready", "too few ready tasks",
      "fewer tasks are ready than there are free workers: use smaller tasks or fewer workers", NULL },
    { "contention on the queue", "contention on the queue",
      "getting a task costs as much as its work: use larger tasks, or lists (policy "
      "static)",
      "tasks.queue_serial_ns=0" },
    { "overhead per task", "overhead per task",
      "tasks are short compared with their overhead (signals, taking the next task): use larger "
      "tasks",
      "tasks.overhead_us=0" },
    { "before the first and after the last task", "uneven load",
      "the work is distributed unevenly: assign tasks by their time, or let workers take them "
      "from a queue",
      NULL },
};
enum { REASONS = sizeof reasons / sizeof reasons[0], CONTENTION = 2 };

static const char path_help[] =
    "the critical path of the tasks takes as long as the kernel: shorten the tasks on it, or the waits between "
    "them; more workers do not help";
static const char work_help[] =
    "its workers are busy: use more of them (blocks per SM, SMs), or reduce the work per task";

gt_kernel_index gt_task_bound_kernel(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *launch)
{
    return launch->op < run->op_count && run->ops[launch->op].there ? run->ops[launch->op].kernel : GT_NONE;
}

/* In place of contention, where each worker has a queue. */
static const struct reason stealing = {
    "looking for tasks to steal", "unsuccessful work stealing",
    "workers without a task search the queues of others: use fewer workers, or more tasks at a "
    "time",
    NULL
};

static const struct reason *reason_of(const struct sums *sums, int number)
{
    return number == CONTENTION && sums->longest->steals ? &stealing : &reasons[number];
}

static struct sums sum_up(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *tasks, size_t count,
                          gt_kernel_index kernel)
{
    struct sums sums = { .longest = NULL };

    for (size_t i = 0; i < count; i++) {
        const struct gt_stats_task_kernel *one = &tasks[i];
        const gt_time_ps parts_ps[REASONS] = { one->counter_ps, one->empty_ps, one->contention_ps,
                                               one->between_ps + one->overhead_ps, one->around_ps };

        if (gt_task_bound_kernel(run, one) != kernel)
            continue;
        sums.span_ps += one->span_ps;
        sums.had_ps += (double)one->span_ps * (double)one->workers;
        sums.work_ps += (double)one->work_ps;
        sums.path_ps += (double)one->path_ps;
        for (int reason = 0; reason < REASONS; reason++)
            sums.parts_ps[reason] += (double)parts_ps[reason];
        if (sums.longest == NULL || one->span_ps > sums.longest->span_ps)
            sums.longest = one;
    }
    return sums;
}

static int worst_reason(const struct sums *sums)
{
    int worst = 0;

    for (int i = 1; i < REASONS; i++)
        worst = sums->parts_ps[i] > sums->parts_ps[worst] ? i : worst;
    return worst;
}

/* Which bound it is, and its name. */
static const char *choose(const struct sums *sums, struct gt_task_bound *bound)
{
    const struct reason *worst = reason_of(sums, worst_reason(sums));

    bound->about_ps = sums->span_ps;
    bound->change = NULL;
    if (sums->path_ps >= path_bounds * (double)sums->span_ps) {
        bound->help = path_help;
        return "the critical path of its tasks";
    }
    if (sums->work_ps >= work_bounds * sums->had_ps) {
        bound->help = work_help;
        return "the work of its workers";
    }
    bound->help = worst->help;
    bound->change = worst->change;
    if (sums->had_ps > 0)
        bound->about_ps =
            (gt_time_ps)((double)sums->span_ps * (sums->parts_ps[worst_reason(sums)] / sums->had_ps) + 0.5);
    return worst->bound;
}

void gt_task_bound_find(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *tasks, size_t count,
                        gt_kernel_index kernel, struct gt_task_bound *bound)
{
    struct sums sums = sum_up(run, tasks, count, kernel);
    const char *by = choose(&sums, bound);
    const struct gt_stats_task_kernel *longest = sums.longest;
    double per_cent = sums.had_ps > 0 ? 100 / sums.had_ps : 0;
    double mean_ps = (double)longest->work_ps / (double)longest->workers;
    int used = snprintf(
        bound->text, sizeof bound->text,
        "%.60s is bound by %s: %" PRIu64
        " workers are busy %.0f%% of %.1f us; the critical path takes %.1f us, %.1f us of it %.40s; idle:",
        run->kernels[kernel].name, by, longest->workers, sums.work_ps * per_cent, (double)longest->span_ps / 1e6,
        (double)longest->path_ps / 1e6, (double)longest->kind_ps / 1e6, longest->kind);

    for (int i = 0; i < REASONS; i++)
        if (sums.parts_ps[i] * per_cent >= 0.5)
            used += snprintf(bound->text + used, sizeof bound->text - (size_t)used, " %.0f%% %s,",
                             sums.parts_ps[i] * per_cent, reason_of(&sums, i)->text);
    snprintf(bound->text + used, sizeof bound->text - (size_t)used,
             " worker %" PRIu64 " ends last, with %.1f times the average work", longest->last_worker,
             mean_ps > 0 ? (double)longest->last_work_ps / mean_ps : 0);
}
