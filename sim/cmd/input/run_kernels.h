/* run_kernels.h - the warp tier as `gridtide run` calls it. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_RUN_KERNELS_H
#define GRIDTIDE_SIM_CMD_INPUT_RUN_KERNELS_H

#include "sim/cmd/print/progress.h"
#include "sim/warp/kernel_model.h"

/* The workload's kernels that have programs on `device` (`profiled`, `full`: see gt_model_kernels); *wall_us is how long
 * that took.  NULL with the reason; else freed by gt_kernel_model_free(). */
struct gt_kernel_model *gt_run_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                       const struct gt_device *profiled, bool full, struct gt_progress *progress,
                                       double *wall_us, struct gt_error *error);

/* What could not be run, on standard error. */
void gt_run_kernels_warn(const struct gt_workload *workload, const struct gt_kernel_model *modelled);

#endif
