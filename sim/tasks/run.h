/* run.h - one task graph while the blocks of a kernel execute it: its workers, counters and tasks to come.
 *
 * A run knows no machine: who calls says when workers come, and is told through gt_task_listener (tasks.h) when
 * they go.  Time only passes by gt_tasks_step().  What policy.h says each step costs is done here.
 */
#ifndef GRIDTIDE_SIM_TASKS_RUN_H
#define GRIDTIDE_SIM_TASKS_RUN_H

#include "sim/base/heap.h"
#include "sim/devices/device.h"
#include "sim/tasks/policy.h"
#include "sim/tasks/tasks.h"
#include "sim/workload/task_graph.h"
#include "sim/workload/workload.h"

struct gt_roofline;

struct gt_task_counter_state {
    gt_time_ps free_ps; /* its address can serve the next atomic from then on */
    uint32_t value;
    uint32_t head; /* polled: the first worker that waits, by rising threshold; else: the first of its waits, in
                    * gt_task_counters.waits, that it has not met */
};

struct gt_task_counters {
    struct gt_task_counter_state *states;
    /* Where tasks are handed out when ready: a counter's waits, its thresholds rising, and what each task still lacks. */
    struct gt_task_met {
        uint32_t wait; /* in graph->waits */
        gt_task_index task;
    } * waits;
    uint32_t *ends; /* of each counter's */
    uint32_t *lacks;
};

/* For a graph, its counters at their initial values.  `handed_out`: `waits` and the rest too; gt_task_counters_free()
 * ends it. */
void gt_task_counters_make(struct gt_task_counters *counters, const struct gt_task_graph *graph, bool handed_out);
void gt_task_counters_free(struct gt_task_counters *counters);

/* One more for a counter, at `now_ps`; returns when it is there. */
gt_time_ps gt_task_counter_signal(struct gt_task_counter_state *counter, gt_time_ps now_ps, gt_time_ps serial_ps);
/* When it reaches `threshold`, which signals that have been sent are enough for: exactly, if that is still to come; else
 * some time that has passed. */
gt_time_ps gt_task_counter_reached_ps(const struct gt_task_counter_state *counter, uint32_t threshold,
                                      gt_time_ps serial_ps);

enum gt_task_event {
    GT_TASK_EVENT_ASK,     /* a worker asks for its next task */
    GT_TASK_EVENT_TAKEN,   /* it has read what its task is: it polls, or works */
    GT_TASK_EVENT_START,   /* it starts to work */
    GT_TASK_EVENT_END,     /* its task ends */
    GT_TASK_EVENT_SIGNAL,  /* its signals reach their counters; of a policy that polls: subject is the task */
    GT_TASK_EVENT_KNOWN,   /* it knows which tasks it has made ready, and begins to publish them */
    GT_TASK_EVENT_PUBLISH, /* the tasks that it has made ready are there */
    GT_TASK_EVENT_GONE,    /* its block ends */
    GT_TASK_EVENT_STEP,    /* the policy asked for it, for this worker */
    GT_TASK_EVENT_WAKE,    /* the policy asked for it; subject: the stamp of the request */
};

struct gt_task_events {
    struct gt_heap heap;
    uint64_t sequence;
    gt_time_ps now_ps;
};

/* At `time_ps`, which must not be past; `run`: its id; events of one time come in the order of these calls. */
static inline void gt_task_event_schedule(struct gt_task_events *events, gt_time_ps time_ps, enum gt_task_event what,
                                          uint64_t run, uint32_t subject)
{
    gt_heap_push(&events->heap, (struct gt_heap_event){ time_ps, events->sequence++, (uint32_t)what, subject, run });
}

/* A task at work. */
struct gt_roofline_task {
    uint64_t run; /* the caller's */
    gt_worker_index worker;
    gt_time_ps
        first_ps; /* by gt_roofline_step(): when the first of its bytes and operations were done; 0: it has one of them only */
};

/* For one GPU of this device; nobody works. */
struct gt_roofline *gt_roofline_new(const struct gt_device *device);
void gt_roofline_free(struct gt_roofline *roofline); /* NULL is allowed */

/* A task begins.  False: it has nothing to do, and has ended. */
bool gt_roofline_begin(struct gt_roofline *roofline, gt_time_ps now_ps, struct gt_roofline_task task, uint32_t sm,
                       uint64_t bytes, uint64_t operations);
/* From now on tasks have this part of the memory's bandwidth. */
void gt_roofline_set_memory_part(struct gt_roofline *roofline, gt_time_ps now_ps, double part);
/* The part of the memory's bandwidth that tasks would have if others had none, and on how many SMs they move bytes. */
double gt_roofline_memory_wanted(const struct gt_roofline *roofline, uint32_t *sms);

/* When a task's bytes or operations are done next; GT_TIME_NONE: nobody works. */
gt_time_ps gt_roofline_next_ps(const struct gt_roofline *roofline);
/* They are, now.  True: the task has ended with that. */
bool gt_roofline_step(struct gt_roofline *roofline, gt_time_ps now_ps, struct gt_roofline_task *task);

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
