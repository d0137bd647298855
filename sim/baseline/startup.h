/* startup.h - a step that was recorded cold, as it would be once the program has run for a while. */
#ifndef GRIDTIDE_SIM_BASELINE_STARTUP_H
#define GRIDTIDE_SIM_BASELINE_STARTUP_H

#include "sim/devices/device.h"
#include "sim/frameworks/framework.h"
#include "sim/workload/workload.h"

/* In calls first .. behind - 1 of a workload in stated form, estimate what is start-up: memory is allocated, libraries are loaded,
 * kernels are loaded when they are first launched.  Where that makes up much of the host's time, allocations take no time and the host's
 * time before and in each other call is limited to a multiple of what it is for most, and, where operators were recorded, to what a warm host takes for them.  Adds what went to *removed_us.  Returns
 * false where the step was recorded warm; then only the time before its first launch is limited, in which a profiler sets itself up. */
bool gt_startup_remove(struct gt_workload *workload, const struct gt_device *device,
                       const struct gt_framework *framework, gt_call_index first, gt_call_index behind,
                       double *removed_us);

#endif
