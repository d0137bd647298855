/* pass_ranges.h - a step's forward and backward pass, made several times: its ranges once more for each. */
#ifndef GRIDTIDE_SIM_TRAINING_PASS_RANGES_H
#define GRIDTIDE_SIM_TRAINING_PASS_RANGES_H

#include "sim/training/training.h"

/* A pass that is repeated: calls first .. behind - 1 of the workload that was, and where each copy but the last has them now. */
struct gt_pass_copies {
    gt_call_index first, behind;
    gt_call_index *places; /* of copy i and call c: places[i * (behind - first) + c - first] */
};

/* In a rebuilt workload, whose ranges are those of `from` and hold the last copies' calls: ranges within a pass come once more for
 * each of the `more` copies before, behind all others; those that begin with the passes and do not end in them hold all copies. */
void gt_pass_ranges_add(struct gt_workload *to, const struct gt_workload *from, const struct gt_training *training,
                        const struct gt_pass_copies *passes, uint32_t pass_count, uint32_t more);

#endif
