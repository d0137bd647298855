/* The table of policies, and those by which workers take tasks ready or not. */
#include "sim/tasks/policies.h"

#include <stdlib.h>

#include "sim/tasks/atomic.h"

/* Of shared, static and mixed. */
struct taking {
    gt_time_ps free_ps;   /* of the queue's counter */
    gt_task_index next;   /* place in the queue */
    gt_task_index *queue; /* the tasks in it; NULL: all, in the order of the graph */
    gt_task_index queued; /* how many */
    gt_task_index *heads; /* by worker: the next task of its list; NULL: there are no lists */
};

static void free_taking(struct gt_task_run *run)
{
    struct taking *taking = run->state;

    free(taking->queue);
    free(taking->heads);
    free(taking);
}

static int begin_shared(struct gt_task_run *run, struct gt_error *error)
{
    struct taking *taking = run->state = gt_calloc(1, sizeof *taking);

    (void)error;
    taking->queued = run->graph->task_count;
    return 0;
}

static struct gt_task_take ask_shared(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct taking *taking = run->state;
    gt_time_ps served_ps = gt_task_atomic(&taking->free_ps, now_ps, run->costs->queue_serial_ps);
    struct gt_task_take take = { .task = GT_TASK_OVER, .known_ps = served_ps + run->costs->queue_ps };

    (void)worker;
    if (taking->next < taking->queued) {
        take.task = taking->queue != NULL ? taking->queue[taking->next] : taking->next;
        taking->next++;
    }
    return take;
}

/* Every worker's list, in the order of the graph. */
static int make_lists(struct gt_task_run *run, struct gt_error *error)
{
    struct taking *taking = run->state = gt_calloc(1, sizeof *taking);
    const struct gt_task_graph *graph = run->graph;

    taking->heads = gt_realloc(NULL, run->worker_count, sizeof *taking->heads);
    run->next_task = gt_realloc(NULL, graph->task_count, sizeof *run->next_task);
    for (gt_worker_index i = 0; i < run->worker_count; i++)
        taking->heads[i] = GT_NONE;
    for (gt_task_index i = graph->task_count; i-- > 0;) {
        gt_worker_index worker = graph->tasks[i].worker;

        if (worker == GT_NONE)
            continue;
        if (worker >= run->worker_count)
            return gt_error_set(error, "task %u is in the list of worker %u, and the grid has %u blocks", i, worker,
                                run->worker_count);
        run->next_task[i] = taking->heads[worker];
        taking->heads[worker] = i;
    }
    return 0;
}

static int begin_static(struct gt_task_run *run, struct gt_error *error)
{
    for (gt_task_index i = 0; i < run->graph->task_count; i++)
        if (run->graph->tasks[i].worker == GT_NONE)
            return gt_error_set(error,
                                "task %u is in no worker's list, and policy static has nothing else; give it a "
                                "\"worker\", or let the launch have policy mixed",
                                i);
    return make_lists(run, error);
}

/* A list is near, in the SM's own cache, but for its beginning, and unless looks at counters empty that, which must not
 * see old values. */
static gt_time_ps list_load_ps(const struct gt_task_run *run, gt_worker_index worker)
{
    bool near = run->graph->wait_count == 0 && run->workers[worker].task != GT_NONE;

    if (near && run->graph->between_ps != GT_TIME_NONE)
        return 0; /* the overhead has all of it */
    return near ? run->costs->load_ps / 2 : run->costs->load_ps;
}

static struct gt_task_take ask_static(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct taking *taking = run->state;
    gt_task_index task = taking->heads[worker];

    if (task == GT_NONE)
        return (struct gt_task_take){ .task = GT_TASK_OVER, .known_ps = now_ps };
    taking->heads[worker] = run->next_task[task];
    return (struct gt_task_take){ .task = task, .known_ps = now_ps + list_load_ps(run, worker) };
}

static int begin_mixed(struct gt_task_run *run, struct gt_error *error)
{
    struct taking *taking;

    if (make_lists(run, error) != 0)
        return -1;
    taking = run->state;
    taking->queue = gt_realloc(NULL, run->graph->task_count, sizeof *taking->queue);
    for (gt_task_index i = 0; i < run->graph->task_count; i++)
        if (run->graph->tasks[i].worker == GT_NONE)
            taking->queue[taking->queued++] = i;
    return 0;
}

/* Of the queue it knows a place, and reads which task that is. */
static struct gt_task_take ask_mixed(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    const struct taking *taking = run->state;
    struct gt_task_take take;

    if (taking->heads[worker] != GT_NONE)
        return ask_static(run, worker, now_ps);
    take = ask_shared(run, worker, now_ps);
    if (take.task != GT_TASK_OVER)
        take.known_ps += list_load_ps(run, worker);
    return take;
}

/* clang-format off */
const struct gt_task_policy gt_task_policies[] = {
    { .named = { .name = "shared", .help = "one counter: tasks are taken in the order of the graph" },
      .polls = true, .begin = begin_shared, .end = free_taking, .ask = ask_shared },
    { .named = { .name = "ready", .help = "one queue of tasks that are ready, in the order in which they became so" },
      .begin = gt_task_ready_begin, .end = gt_task_ready_end, .ask = gt_task_ready_ask,
      .publish = gt_task_ready_publish, .push = gt_task_ready_push },
    { .named = { .name = "steal", .help = "a queue a worker of tasks that are ready; who has none takes others'" },
      .begin = gt_task_steal_begin, .end = gt_task_steal_end, .ask = gt_task_steal_ask,
      .publish = gt_task_steal_publish, .push = gt_task_steal_push, .wake = gt_task_steal_wake,
      .step = gt_task_steal_step },
    { .named = { .name = "static", .help = "a list a worker, in the order of the graph" },
      .polls = true, .lists = true, .begin = begin_static, .end = free_taking, .ask = ask_static },
    { .named = { .name = "mixed", .help = "a list a worker, then one counter for tasks that are in no list" },
      .polls = true, .lists = true, .begin = begin_mixed, .end = free_taking, .ask = ask_mixed },
};
/* clang-format on */
const size_t gt_task_policy_count = sizeof gt_task_policies / sizeof gt_task_policies[0];

const struct gt_task_policy *gt_task_policy_find(const char *name, struct gt_error *error)
{
    return gt_named_find(gt_task_policies, gt_task_policy_count, sizeof gt_task_policies[0], "policy",
                         name[0] == '\0' ? "shared" : name, error);
}
