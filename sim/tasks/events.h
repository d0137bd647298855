/* events.h - what is to come in the task graphs of one GPU. */
#ifndef GRIDTIDE_SIM_TASKS_EVENTS_H
#define GRIDTIDE_SIM_TASKS_EVENTS_H

#include "sim/base/heap.h"
#include "sim/workload/workload.h"

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

#endif
