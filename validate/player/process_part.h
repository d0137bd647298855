/* process_part.h - what one process of a workload does, as a workload of its own. */
#ifndef GRIDTIDE_VALIDATE_PLAYER_PART_H
#define GRIDTIDE_VALIDATE_PLAYER_PART_H

#include "sim/workload/workload.h"

struct gt_process_part {
    struct gt_workload
        *workload;          /* threads, streams, events and kernels have the numbers that they have in the whole */
    gt_call_index *call_of; /* by call: which of the whole it is */
    gt_op_index *op_of;     /* by operation */
};

/* The calls of that process's threads; GT_PROCESS_NONE: of all threads.  gt_process_part_free() ends it. */
void gt_process_part_make(struct gt_process_part *part, const struct gt_workload *whole, uint64_t process);
void gt_process_part_free(struct gt_process_part *part);

#endif
