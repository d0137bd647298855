/* equivalent_kernels.h - launches of kernels that do the same work, told by what stands around them.
 *
 * How long a kernel that was recorded beside others lasts alone is found by playing the recorded run
 * (isolated_durations.h).  Sharing is chaotic: one by one, launches of the same work come out with different durations.
 * Work is taken to be the same where launches of one kernel and shape stand between the same kernels in streams of one GPU: it
 * lasts alone what it lasted where nothing else ran beside it, and where it never ran alone one duration is looked for.
 */
#ifndef GRIDTIDE_SIM_REPLAY_EQUIVALENT_KERNELS_H
#define GRIDTIDE_SIM_REPLAY_EQUIVALENT_KERNELS_H

#include "sim/workload/workload.h"

/* Launches of the same work, and how long it lasts alone. */
struct gt_work {
    uint32_t first, count; /* in `launches`: those that others ran beside */
    bool told;             /* by launches that ran alone */
    gt_time_ps most_ps;    /* alone, if told; else what the fastest of them lasted: it is no more */
};

struct gt_equivalent_kernels {
    struct gt_work *works; /* only those of which a launch had others beside it */
    uint32_t work_count;
    gt_op_index *launches;
};

/* All measured kernels of `workload`. */
void gt_equivalent_kernels_find(struct gt_equivalent_kernels *equivalent, const struct gt_workload *workload);
void gt_equivalent_kernels_free(struct gt_equivalent_kernels *equivalent);

#endif
