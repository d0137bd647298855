/* ready: one queue of tasks that are ready.  A worker's ticket is a place in it, which somebody fills. */
#include <stdlib.h>

#include "sim/tasks/atomic.h"
#include "sim/tasks/policies.h"

struct queue {
    gt_time_ps head_free_ps, tail_free_ps; /* of its two counters */
    gt_task_index tickets;                 /* handed out */
    gt_task_index first, last;             /* tasks that are there, linked by run->next_task; GT_NONE */
    gt_worker_index waiting, last_waiting; /* workers whose places are empty, linked by their `next`; GT_NONE */
};

int gt_task_ready_begin(struct gt_task_run *run, struct gt_error *error)
{
    struct queue *queue = run->state = gt_calloc(1, sizeof *queue);

    (void)error;
    queue->first = queue->waiting = GT_NONE;
    return 0;
}

void gt_task_ready_end(struct gt_task_run *run)
{
    free(run->state);
}

/* While a worker waits for its place to be filled, `taken_ps` is when it began to poll it. */
struct gt_task_take gt_task_ready_ask(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct queue *queue = run->state;
    gt_time_ps served_ps = gt_task_atomic(&queue->head_free_ps, now_ps, run->costs->queue_serial_ps);
    gt_time_ps ticket_ps = served_ps + run->costs->queue_ps;
    struct gt_task_take take = { .task = GT_TASK_OVER, .known_ps = ticket_ps };
    struct gt_task_worker *w = &run->workers[worker];

    if (queue->tickets == run->graph->task_count)
        return take;
    queue->tickets++;
    if (queue->first != GT_NONE) {
        take.task = queue->first;
        take.known_ps = gt_task_seen(ticket_ps, 0, run->costs->poll_ps) + run->costs->found_ps;
        queue->first = run->next_task[take.task];
        return take;
    }
    w->taken_ps = ticket_ps;
    w->next = GT_NONE;
    if (queue->waiting == GT_NONE)
        queue->waiting = worker;
    else
        run->workers[queue->last_waiting].next = worker;
    queue->last_waiting = worker;
    take.task = GT_TASK_LATER;
    return take;
}

gt_time_ps gt_task_ready_publish(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct queue *queue = run->state;

    (void)worker;
    return gt_task_atomic(&queue->tail_free_ps, now_ps, run->costs->queue_serial_ps) + run->costs->queue_ps +
           run->costs->fence_ps;
}

void gt_task_ready_push(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps)
{
    struct queue *queue = run->state;
    gt_worker_index first = queue->waiting;

    (void)worker;
    if (first != GT_NONE) {
        struct gt_task_take take = {
            .task = task,
            .known_ps = gt_task_seen(run->workers[first].taken_ps, now_ps, run->costs->poll_ps) + run->costs->found_ps
        };

        queue->waiting = run->workers[first].next;
        gt_task_run_give(run, first, &take);
        return;
    }
    run->next_task[task] = GT_NONE;
    if (queue->first == GT_NONE)
        queue->first = task;
    else
        run->next_task[queue->last] = task;
    queue->last = task;
}
