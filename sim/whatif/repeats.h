/* repeats.h - a row of calls that a thread makes again and again. */
#ifndef GRIDTIDE_SIM_WHATIF_REPEATS_H
#define GRIDTIDE_SIM_WHATIF_REPEATS_H

#include "sim/workload/workload.h"

struct gt_repeats {
    gt_thread_index thread;
    uint32_t count;            /* of repetitions, at least two */
    gt_call_index *first_call; /* of each, and behind the last one; the caller frees it */
};

/* Of the thread with the most calls: the shortest row that, repeated, is nearly all of its calls.  Calls are the same
 * that do the same: kind, stream, kernels' names and shapes, bytes copied.  A row begins behind a wait for the GPU, where
 * there is one in it.  Returns false where nothing repeats. */
bool gt_repeats_find(struct gt_repeats *repeats, const struct gt_workload *workload);

#endif
