/* run.h - one task graph while the blocks of a kernel execute it: its workers, counters and tasks to come.
 *
 * A run knows no machine: who calls says when workers come, and is told through gt_task_listener (tasks.h) when
 * they go.  Time only passes by gt_tasks_step().  What policy.h says each step costs is done here.
 */
#ifndef GRIDTIDE_SIM_TASKS_RUN_H
#define GRIDTIDE_SIM_TASKS_RUN_H

#include "sim/tasks/counters.h"
#include "sim/tasks/events.h"
#include "sim/tasks/policy.h"
#include "sim/tasks/roofline.h"
#include "sim/tasks/tasks.h"

enum gt_task_worker_state {
    GT_WORKER_ABSENT, /* its block is not resident */
    GT_WORKER_AWAITS, /* a task: the policy will give it one */
    GT_WORKER_POLLS,  /* counters of the task that it has */
    GT_WORKER_BUSY,   /* something of its own is due */
    GT_WORKER_GONE
};

struct gt_task_worker {
    gt_time_ps asked_ps, taken_ps, start_ps;
    gt_task_index task;   /* GT_NONE: none */
    gt_task_index cause;  /* whose signal let it start */
    gt_worker_index next; /* in a counter's row, or the policy's */
    uint32_t wait;        /* of its task: the first that is not known to be met, in graph->waits */
    gt_task_index fresh;  /* the first of the tasks that it publishes; linked by run->next_task */
    uint32_t sm, place;   /* where its block is; the caller's number for it */
    uint8_t state;        /* gt_task_worker_state */
    bool stolen;
};

struct gt_tasks {
    const struct gt_device *device;
    struct gt_task_listener listener;
    struct gt_task_events events;
    struct gt_roofline *roofline; /* NULL: all tasks so far have had times */
    struct gt_task_run **runs;    /* by number; NULL: free */
    uint32_t run_count, run_room;
    uint64_t begun; /* so many so far */
};

struct gt_task_run {
    struct gt_tasks *tasks; /* of the GPU */
    const struct gt_task_graph *graph;
    const struct gt_task_costs *costs;
    const struct gt_task_policy *policy;
    void *state; /* the policy's */
    void *user;  /* the caller's */
    uint64_t seed;
    uint32_t threads; /* of a worker; 0: not said */
    uint64_t id;      /* of all its GPU's, past ones too; the low half is its number in tasks->runs */
    gt_op_index op;
    struct gt_task_worker *workers;
    gt_worker_index worker_count, resident; /* of the grid; on the device now */
    gt_task_index left;                     /* tasks that have not ended */
    uint64_t *ended;                        /* bit t of all words: task t has */
    struct gt_task_counters counters;
    gt_task_index *next_task; /* rows of tasks, the policy's and those being published; NULL: there are none */
    gt_task_index *causes;    /* by task: whose signal made it ready; NULL: nobody wants to know, or workers poll */
    uint32_t wake_stamp;      /* of the latest request */
};

/* For policies. */

/* A worker that was told GT_TASK_LATER gets a task, or is told that there is none. */
void gt_task_run_give(struct gt_task_run *run, gt_worker_index worker, const struct gt_task_take *take);
/* Have `step` called at that time, for a worker that was told GT_TASK_LATER. */
void gt_task_run_step(struct gt_task_run *run, gt_worker_index worker, gt_time_ps time_ps);
/* Have `wake` called at that time; only the latest such call counts. */
void gt_task_run_wake(struct gt_task_run *run, gt_time_ps time_ps);

/* For tasks.c: something is due. */
void gt_task_run_event(struct gt_task_run *run, const struct gt_heap_event *event);
/* What a worker's task began in memory and arithmetic is done, now, as far as these go; the first of both then (0: there was
 * one only). */
void gt_task_run_work_done(struct gt_task_run *run, gt_worker_index worker, gt_time_ps first_ps);

#endif
