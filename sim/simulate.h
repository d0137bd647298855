/* simulate.h - play a workload against a device. */
#ifndef GRIDTIDE_SIM_SIMULATE_H
#define GRIDTIDE_SIM_SIMULATE_H

#include "sim/devices/device.h"
#include "sim/machine/options.h"
#include "sim/replay/isolated_durations.h"
#include "sim/replay/replay.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/probe.h"
#include "sim/workload/workload.h"

/* Simulate `workload` on `device` (every GPU of the workload is one such device).
 * Records go to `probe`.  Deterministic: the same arguments give the same records.
 * Returns 0; or -1 with the reason: a kernel that fits no SM, a deadlock (naming the
 * streams and events), a callback that refused. */
int gt_simulate(const struct gt_workload *workload, const struct gt_device *device, const struct gt_options *options,
                const struct gt_probe *probe, struct gt_summary *summary, struct gt_error *error);

/* What gt_simulate() learns from the measured times of `workload`, which is on the device that they are of, before it
 * plays it: gt_replay_free() and gt_isolated_free() end them. */
void gt_simulate_learn(const struct gt_workload *workload, const struct gt_device *recorded,
                       const struct gt_options *options, struct gt_replay *learned, struct gt_isolated *isolated);
/* Learn durations alone, where equivalent launches last equally long (sim/replay/equivalent.h). */
void gt_simulate_learn_equivalent(const struct gt_workload *workload, const struct gt_device *recorded,
                                  const struct gt_options *options, struct gt_isolated *isolated);

#endif
