/* roofline.h - tasks that say bytes and operations instead of a time: memory and arithmetic, shared by all that work.
 *
 * A task moves its bytes and does its operations side by side, and has ended when both are done.  Of memory every SM
 * that moves bytes has an equal part, but no more than its port takes; an SM's part, and its arithmetic, is shared
 * equally by its tasks.  No latency: a task of no bytes and no operations takes no time.  What a worker's own pace adds is
 * not here but in run.c.
 *
 * All SMs that want a resource get as much of it, so each keeps count of its own by a clock that goes as fast as that:
 * a task that comes or goes changes the clock's pace, and otherwise its own SM only.
 */
#ifndef GRIDTIDE_SIM_TASKS_ROOFLINE_H
#define GRIDTIDE_SIM_TASKS_ROOFLINE_H

#include "sim/devices/device.h"
#include "sim/workload/task_graph.h"

struct gt_roofline;

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

#endif
