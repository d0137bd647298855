/* policy.h - how a worker gets its next task: policies by name, which a launch gives (gt_kernel.task_policy).
 *
 * What each costs, by the keys `tasks.*` of a device file; this is what the executor on a GPU does (kernels/executor/executor.h),
 * and what `gridtide calibrate` measures.  A worker is a resident block; its life:
 *
 *   1. start_us after its block's start it asks for a task, as its policy says (below).
 *   2. It knows the task's number (`taken`); overhead_us later it has read what the task is.  What else the executor
 *      does once a task, its barriers, is in there too.
 *   3. shared, static, mixed: it polls the task's counters, 32 side by side: a look takes poll_us and sees what was
 *      there at its middle; the look that sees all of them high enough is the last, and found_us later it goes on.
 *      Before the first look it reads which counters these are, load_us.  A task without waits needs none of this.
 *      ready, steal: a task that is handed out is ready, nobody polls.
 *   4. It works (`start` to `end`).
 *   5. A task that signals: signal_us later its writes are fenced and an atomic for each counter is on its way, side by
 *      side.  Atomics on one address follow each other by queue_serial_ns.
 *   6. shared, static, mixed: it asks for its next task at once: these atomics return nothing, and have counted up
 *      flight_us later.  ready, steal: it waits for their values, half of queue_us, and looks up whom they let go,
 *      poll_us.  Of each counter that lets any go, and of the tasks that it makes, it reads which they are, poll_us, and
 *      counts down what they lack, queue_us and fence_us, 32 side by side.  Each such lot with tasks that lack nothing
 *      more is published, which takes queue_us and fence_us; the first 32 are there before the next.  Then it asks.
 *
 * Asking: an atomic that returns a value takes queue_us alone, and waits for those on its address before it.
 *   shared  number = counter++: an atomic.
 *   ready   ticket = head++: an atomic.  The ticket's place is then polled (poll_us, found_us) until somebody's push has
 *           filled it.  Publishing is tail += tasks: an atomic; then the places are filled, in the order of the graph.
 *   steal   a look at the worker's own deque, poll_us and found_us, an atomic that takes the newest, queue_us and
 *           fence_us, and load_us to read it; the atomic is at the deque half of queue_us after it was sent.  Is it
 *           empty, it looks at others', 32 side by side, round the grid from a random one on, look_us a look, and as
 *           long before the first.  A look sees what is there half of poll_us before its end.  A turn ends with one
 *           more look, whether all tasks have been taken, else the next turn begins.  Of the deques that a look saw filled
 *           it tries to take the oldest of the first, which it has steal_us after that look began.  An atomic finds its
 *           deque changed since it was seen where somebody else came before it: are there still tasks, the worker tries
 *           again, queue_us and half of poll_us later; else the next deque that its look saw, try_us later; behind
 *           the last one it looks on, half of try_us later.  So many thieves that saw the same few tasks are away for
 *           long.  Publishing is an atomic on the own deque.  At the start task number i of those that are ready is on
 *           the deque of worker i % workers, resident or not.  Left out (thieves.h): looks of which nothing comes but
 *           that the thief itself loses time; and where there are no thieves a worker's own atomic is at once.
 *   static  the next of its list: load_us; half of that in graphs without waits, for the list stays in the SM's cache,
 *           which looks at counters empty.
 *           A graph whose tasks wait for nothing and of which it was recorded says what passes between two tasks of a list
 *           (between_ps): that takes the place of this load and of overhead_us.
 *   mixed   static, and behind the list's end shared among the tasks that are in nobody's list, whose numbers are read
 *           from a list.
 * Knowing that there is nothing more for it, its block ends, end_us later.
 *
 * To add one: its functions and a row of the table, both in policies.c.
 */
#ifndef GRIDTIDE_SIM_TASKS_POLICY_H
#define GRIDTIDE_SIM_TASKS_POLICY_H

#include "sim/base/named_table.h"
#include "sim/workload/task_graph.h"

struct gt_task_run; /* sim/tasks/run.h: what a policy may look at, and call */

/* Of gt_task_take.task */
#define GT_TASK_LATER (UINT32_MAX - 1) /* the worker waits: gt_task_run_give() will be called for it */
#define GT_TASK_OVER  UINT32_MAX       /* there is nothing more for it: its block ends */

/* What a worker is given. */
struct gt_task_take {
    gt_task_index task;
    gt_time_ps known_ps; /* when it knows; with GT_TASK_OVER, when its block ends */
    bool stolen;         /* from another worker */
};

struct gt_task_policy {
    struct gt_named named;
    bool polls; /* tasks are taken ready or not, and their workers poll; false: `publish` and `push` are called */
    bool lists; /* a task with a worker is that worker's */
    /* What it keeps of a run, in run->state; before anything else.  -1 with the reason: the graph does not suit. */
    int (*begin)(struct gt_task_run *run, struct gt_error *error);
    void (*end)(struct gt_task_run *run);
    /* A worker asks, now.  Calls come in the order of time. */
    struct gt_task_take (*ask)(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
    /* A worker begins to publish tasks, now: when is it done?  `push` of each comes then; before the start for tasks that are ready then, with `worker` GT_NONE. */
    gt_time_ps (*publish)(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
    void (*push)(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps);
    /* The time that it asked for by gt_task_run_wake() has come. */
    void (*wake)(struct gt_task_run *run, gt_time_ps now_ps);
    /* A worker is where gt_task_run_step() said. */
    void (*step)(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
};

/* The rows of the table, and the one that `name` names; "" is "shared".  NULL with the names there are in `error`. */
extern const struct gt_task_policy gt_task_policies[];
extern const size_t gt_task_policy_count;
const struct gt_task_policy *gt_task_policy_find(const char *name, struct gt_error *error);

#endif
