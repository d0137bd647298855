/* block_ends.h - how far apart the blocks of a kernel end, as far as a recording gives it away.
 *
 * Of a recorded kernel only the last block's end is known, and blocks are taken for equal.  But where another stream's
 * kernel started while every SM was taken, blocks of the one before had ended by then.
 */
#ifndef GRIDTIDE_SIM_REPLAY_BLOCK_ENDS_H
#define GRIDTIDE_SIM_REPLAY_BLOCK_ENDS_H

#include "sim/workload/probe.h"

struct gt_block_ends {
    gt_op_index
        *holder;        /* by operation: the kernel whose blocks it waited for in a replay; GT_NONE; NULL: none did */
    double *early_part; /* by kernel: the part of its duration by which the first block of its last wave ends before
                          * its last block; NULL: no kernel's blocks were waited for */
    double *step_part;  /* by kernel: how much of what it is off by the next pass takes back; its sign: too little or
                          * too much */
};

/* When operations ran in a replay of the recorded run. */
struct gt_played {
    gt_time_ps *start_ps, *duration_ps;
};

/* A replay says what held the operation back. */
void gt_block_ends_note(struct gt_block_ends *ends, const struct gt_workload *workload,
                        const struct gt_op_record *record);

/* By how much those that waited so began too early or too late in that replay, in all. */
gt_time_ps gt_block_ends_wrong_ps(const struct gt_block_ends *ends, const struct gt_workload *workload,
                                  const struct gt_played *played);

/* Move `early_part` towards what gives recorded starts back.  False where none moved. */
bool gt_block_ends_correct(struct gt_block_ends *ends, const struct gt_workload *workload,
                           const struct gt_played *played);

void gt_block_ends_free(struct gt_block_ends *ends);

#endif
