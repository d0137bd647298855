/* task_check.h - is a task graph safe: can it be done, whatever the order in which workers are faster or slower, and
 * does nobody read what has not been written? */
#ifndef GRIDTIDE_SIM_WORKLOAD_TASK_CHECK_H
#define GRIDTIDE_SIM_WORKLOAD_TASK_CHECK_H

#include "sim/workload/task_graph.h"

/* Indexes and times are within their limits, and
 * - a wait's threshold, less what the counter begins with, is from 1 to the number of signals that the counter gets;
 * - a counter that several tasks signal is a join: each wait for it needs all signals, for a count does not tell whose
 *   signals they were;
 * - tasks do not need each other in a circle;
 * - a task is made by one other at most;
 * - a buffer that a task reads is given, or one of the tasks that it needs, however indirectly, writes it.
 * These are the rules of AutoMegaKernel's validator (schedule/ir.py, IR 0.2.0), but that one writer is enough.
 * Returns 0, or -1 with what is wrong, the task named.  Linear but for buffers whose writers are not among the tasks
 * that a reader waits for directly: those cost a pass over the stretch between writers and readers for each 256
 * counters that their writers signal. */
int gt_task_graph_check(const struct gt_workload *workload, const struct gt_task_graph *graph,
                        struct gt_error *error);

/* Beyond that, what a kernel's policy asks: under "static" each task is in the list of one of the kernel's blocks;
 * there and under "mixed" the lists are in an order in which the tasks can be done; tasks that others make exist for
 * policies with queues only. */
int gt_task_policy_check(const struct gt_workload *workload, const struct gt_kernel *kernel, struct gt_error *error);

/* Of gt_task_graph_check(): the buffers' part; `order` is all tasks in an order in which they can be done. */
int gt_task_reads_check(const struct gt_workload *workload, const struct gt_task_graph *graph,
                        const gt_task_index *order, struct gt_error *error);

/* Say of which task an error speaks: its number and its name; returns -1. */
int gt_task_error(const struct gt_workload *workload, const struct gt_task_graph *graph, gt_task_index task,
                  struct gt_error *error);
/* What messages call a counter or a buffer: its name, or its number. */
enum { GT_PART_TEXT_BYTES = 100 };
void gt_task_part_text(const struct gt_workload *workload, uint32_t name, uint32_t number, char *text);

#endif
