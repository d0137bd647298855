/* fit.h - options of a run that a recording shows: hardware queues and stream priorities. */
#ifndef GRIDTIDE_SIM_BASELINE_FIT_H
#define GRIDTIDE_SIM_BASELINE_FIT_H

#include "sim/simulate.h"

/* Replay `workload` with other numbers of connections than the device's, with which the replay is `off` (a part of what
 * was measured, `measured_us`).  0 where that replay is near enough, or none is with another number; else the number with
 * which it is nearest. */
uint32_t gt_fit_connections(const struct gt_workload *workload, const struct gt_device *device,
                            const struct gt_options *options, double measured_us, double off);

/* Did the importer say that the profile has no priorities? */
bool gt_priorities_unknown(const struct gt_workload *workload);

/* Replay `workload`, of which priorities are unknown, with each of its streams in turn at the highest priority; as it is,
 * the replay is `off` (a part of what was measured, `measured_us`).  GT_NONE where that is near enough, or no other replay
 * is, or much nearer; else the stream with which it is nearest. */
gt_stream_index gt_fit_priority(const struct gt_workload *workload, const struct gt_device *device,
                                const struct gt_options *options, double measured_us, double off);

#endif
