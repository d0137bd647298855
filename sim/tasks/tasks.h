/* tasks.h - the task graphs that run on one GPU, as one clock: what is due next, and doing it.
 *
 * gt_tasks_new() for a GPU, gt_task_run_begin() for a launch; gt_task_run_add_worker() whenever a block of it has become
 * resident.  Then, whenever gt_tasks_next_ps() has come, gt_tasks_step().  A graph none of whose workers has
 * anything due waits for blocks that are still to come, or for ever: gt_task_run_describe() says for what.
 */
#ifndef GRIDTIDE_SIM_TASKS_TASKS_H
#define GRIDTIDE_SIM_TASKS_TASKS_H

#include "sim/devices/device.h"
#include "sim/workload/probe.h"
#include "sim/workload/task_graph.h"

struct gt_tasks;
struct gt_task_policy; /* sim/tasks/policy.h */
struct gt_task_run;

/* Who is told what happens, during gt_tasks_step(), at the time of the step. */
struct gt_task_listener {
    void *user;
    /* A task has ended; NULL: of no interest. The record is good during the call. */
    void (*task)(void *user, const struct gt_task_record *record);
    /* A worker has ended: the place of its block is free.  The run may be ended once its last worker has. */
    void (*worker)(void *user, struct gt_task_run *run, gt_worker_index worker);
};

/* Nothing runs yet.  The device must outlive it. */
struct gt_tasks *gt_tasks_new(const struct gt_device *device, const struct gt_task_listener *listener);
void gt_tasks_free(struct gt_tasks *tasks); /* with its runs; NULL is allowed */

/* A launch `op` of a kernel whose `workers` blocks execute `graph`; none is resident yet.  `seed`: of what tasks
 * take (gt_task_cost_ps()) and of thieves.  NULL with the reason: the policy does not suit the graph. */
struct gt_task_run *gt_task_run_begin(struct gt_tasks *tasks, const struct gt_task_graph *graph,
                                      const struct gt_task_policy *policy, gt_worker_index workers, uint64_t seed,
                                      gt_op_index op, struct gt_error *error);
void gt_task_run_end(struct gt_task_run *run);
/* Threads of a worker, before the first one comes: by themselves they move and do no more than they can. */
void gt_task_run_set_threads(struct gt_task_run *run, uint32_t threads);

/* The worker's block starts on an SM at `start_ps`, which may lie ahead.  `place` is the caller's. */
void gt_task_run_add_worker(struct gt_task_run *run, gt_worker_index worker, uint32_t sm, gt_time_ps start_ps,
                            uint32_t place);
uint32_t gt_task_run_place(const struct gt_task_run *run, gt_worker_index worker);
void *gt_task_run_user(const struct gt_task_run *run); /* what gt_task_run_set_user() set; else NULL */
void gt_task_run_set_user(struct gt_task_run *run, void *user);
gt_task_index gt_task_run_left(const struct gt_task_run *run); /* tasks that have not ended */

/* What its workers wait for that nothing due will bring, as clauses for a message, into `text`; names are the workload's. */
void gt_task_run_describe(const struct gt_task_run *run, const struct gt_workload *workload, char *text,
                          size_t bytes);

/* From now on tasks that move bytes have this part of the memory's bandwidth: others have the rest. */
void gt_tasks_set_memory_part(struct gt_tasks *tasks, gt_time_ps now_ps, double part);

/* The part that they would have if others had none, and on how many SMs they move bytes. */
double gt_tasks_memory_wanted(const struct gt_tasks *tasks, uint32_t *sms);

/* When something is due; GT_TIME_NONE: nothing is. Then do it. */
gt_time_ps gt_tasks_next_ps(const struct gt_tasks *tasks);
void gt_tasks_step(struct gt_tasks *tasks);

/* Run a graph by itself on an idle device, `at_once` of the blocks of `kernel` at a time, assigned round the SMs; one that
 * ends makes room for the next.  *duration_ps is when the last one has ended.  -1 with the reason: as gt_task_run_begin(),
 * or it never ends. */
int gt_tasks_alone(const struct gt_device *device, const struct gt_workload *workload, const struct gt_kernel *kernel,
                   gt_worker_index at_once, uint64_t seed, gt_time_ps *duration_ps, struct gt_error *error);

#endif
