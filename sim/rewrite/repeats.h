/* repeats.h - a row of calls that a thread makes again and again. */
#ifndef GRIDTIDE_SIM_REWRITE_REPEATS_H
#define GRIDTIDE_SIM_REWRITE_REPEATS_H

#include "sim/workload/workload.h"

struct gt_repeats {
    gt_thread_index thread;
    uint32_t count;            /* of repetitions, at least two */
    uint32_t rows;             /* of the same calls in each: 1, or more where gt_repeats_join() joined them */
    gt_call_index *first_call; /* of each, and behind the last one; the caller frees it */
};

/* The thread with the most calls: the first of those that have as many. */
gt_thread_index gt_repeats_busiest_thread(const struct gt_workload *workload);

/* Of the thread with the most calls: the shortest row that, repeated, is nearly all of its calls.  Calls are the same
 * that do the same: kind, stream, kernels' names and shapes, bytes copied.  A row begins behind a wait for the GPU, where
 * there is one in it.  Where the process's first thread repeats a row as often, it is that one's, which others work for (as a
 * framework's backward pass has a thread).  Where rows are layers within a step that cannot be told apart by what they do, they are joined to
 * steps by the host's time between them.  Returns false where nothing repeats. */
bool gt_repeats_find(struct gt_repeats *repeats, const struct gt_workload *workload);

/* repeats_join.c: rows behind which the host regularly did more of its own work than behind all others end a step: each
 * N rows become one repetition.  Nothing happens where chance might make as regular a pattern. */
void gt_repeats_join(struct gt_repeats *repeats, const struct gt_workload *workload);

#endif
