/* threads.h - which threads of a process are as good as one: of whom one waits while another works for it. */
#ifndef GRIDTIDE_SIM_TRAINING_THREADS_H
#define GRIDTIDE_SIM_TRAINING_THREADS_H

#include "sim/workload/workload.h"

/* The thread that asked for a backward pass, as far as `thread` is one that makes gradients ready, or nothing tells which do: the
 * process's first, which Linux gives the process's number, or else the one that asked for work before it.  Else `thread`. */
gt_thread_index gt_threads_asking(const struct gt_workload *workload, gt_thread_index thread);

/* Where no operators were recorded: a thread that takes long turns with `main`, never both at once and with less time between than
 * its turns take, works for it.  Sets joined[] of those; `workload` is in stated form. */
void gt_threads_join_alternating(const struct gt_workload *workload, gt_thread_index main, bool *joined);

#endif
