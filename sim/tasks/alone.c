/* A task graph by itself, for who needs no more than its time. */
#include "sim/tasks/run.h"

struct alone {
    gt_worker_index next, left; /* workers to come; that have not ended */
};

static void next_worker(void *user, struct gt_task_run *run, gt_worker_index worker)
{
    struct alone *alone = user;

    alone->left--;
    if (alone->next < run->worker_count)
        gt_task_run_add_worker(run, alone->next++, run->workers[worker].sm, run->tasks->events.now_ps, 0);
}

static int play(struct gt_tasks *tasks, struct gt_task_run *run, struct alone *alone,
                const struct gt_workload *workload, struct gt_error *error)
{
    char text[512];

    for (gt_worker_index i = 0; i < alone->next; i++)
        gt_task_run_add_worker(run, i, i % tasks->device->sms, 0, 0);
    while (gt_tasks_next_ps(tasks) <= GT_TIME_LIMIT_PS)
        gt_tasks_step(tasks);
    if (alone->left == 0)
        return 0;
    if (gt_tasks_next_ps(tasks) != GT_TIME_NONE)
        return gt_error_set(error, "its tasks take more than 53 days");
    gt_task_run_describe(run, workload, text, sizeof text);
    return gt_error_set(error, "its workers wait for ever: %s", text);
}

int gt_tasks_alone(const struct gt_device *device, const struct gt_workload *workload, const struct gt_kernel *kernel,
                   gt_worker_index at_once, uint64_t seed, gt_time_ps *duration_ps, struct gt_error *error)
{
    const struct gt_task_policy *policy = gt_task_policy_find(gt_name_text(workload, kernel->task_policy), error);
    gt_worker_index workers = (gt_worker_index)gt_kernel_blocks(kernel);
    struct alone alone = { .next = at_once < workers ? at_once : workers, .left = workers };
    const struct gt_task_listener listener = { .user = &alone, .worker = next_worker };
    struct gt_tasks *tasks = gt_tasks_new(device, &listener);
    struct gt_task_run *run =
        policy == NULL ? NULL : gt_task_run_begin(tasks, kernel->tasks, policy, workers, seed, 0, error);
    int status = -1;

    if (run != NULL) {
        gt_task_run_set_threads(run, (uint32_t)gt_kernel_threads(kernel));
        status = play(tasks, run, &alone, workload, error);
    }
    *duration_ps = tasks->events.now_ps;
    gt_tasks_free(tasks);
    return status;
}
