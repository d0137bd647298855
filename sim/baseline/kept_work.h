/* kept_work.h - the host's time that no change of its launches removes. */
#ifndef GRIDTIDE_SIM_BASELINE_KEPT_WORK_H
#define GRIDTIDE_SIM_BASELINE_KEPT_WORK_H

#include "sim/workload/workload.h"

/* In `stated`, the stated form of `recorded`, set gt_call.kept_ps: how much of a thread's own work before each call lay in the
 * user's ranges, or a framework's for the user (PyTorch's data loader), within which nothing is submitted to a GPU. */
void gt_state_kept_work(struct gt_workload *stated, const struct gt_workload *recorded);

#endif
