/* thread_plans.h - what a library prepares anew in every thread that is new.
 *
 * PyTorch keeps cuDNN's plans by thread: a thread finds one for each convolution that it has not seen, and DataParallel's forward
 * passes have new threads in every step.  Operators of one name that start the same kernels are taken as one convolution.
 */
#ifndef GRIDTIDE_SIM_TRAINING_THREAD_PLANS_H
#define GRIDTIDE_SIM_TRAINING_THREAD_PLANS_H

#include "sim/workload/workload.h"

/* What a new thread does before a call. */
struct gt_thread_plan {
    gt_time_ps beside_ps; /* while other threads do the same, */
    gt_time_ps alone_ps;  /* one thread after the other */
};

/* By call: what a thread that is new at call `first` does before it, of calls up to `behind`.  Malloced, behind - first of
 * them and one more. */
struct gt_thread_plan *gt_thread_plans_find(const struct gt_workload *workload, gt_call_index first,
                                            gt_call_index behind);

#endif
