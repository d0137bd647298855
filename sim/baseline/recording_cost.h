/* recording_cost.h - what `gridtide record` cost, as it measured it itself, in the terms of profilers' costs. */
#ifndef GRIDTIDE_SIM_BASELINE_RECORDING_COST_H
#define GRIDTIDE_SIM_BASELINE_RECORDING_COST_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* Where it was measured: put it into `cost`, which holds what the device file says, and `call_ps` by kind of call. */
bool gt_recording_measured(const struct gt_recording_cost *recording, struct gt_profiler_cost *cost,
                           gt_time_ps call_ps[GT_CALL_KINDS]);

/* The host's time that recording took, us, by that: at all calls, and where single ones were held up. */
double gt_recording_host_us(const struct gt_workload *workload);

#endif
