/* policies.h - the policies that fill a file of their own; the others stand in policies.c with the table. */
#ifndef GRIDTIDE_SIM_TASKS_POLICIES_H
#define GRIDTIDE_SIM_TASKS_POLICIES_H

#include "sim/tasks/run.h"

/* policy_ready.c */
int gt_task_ready_begin(struct gt_task_run *run, struct gt_error *error);
void gt_task_ready_end(struct gt_task_run *run);
struct gt_task_take gt_task_ready_ask(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
gt_time_ps gt_task_ready_publish(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
void gt_task_ready_push(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps);

/* policy_steal.c */
int gt_task_steal_begin(struct gt_task_run *run, struct gt_error *error);
void gt_task_steal_end(struct gt_task_run *run);
struct gt_task_take gt_task_steal_ask(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
gt_time_ps gt_task_steal_publish(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);
void gt_task_steal_push(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps);
void gt_task_steal_wake(struct gt_task_run *run, gt_time_ps now_ps);
void gt_task_steal_step(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps);

#endif
