/* fit_connections.h - how many connections a recorded run had (CUDA_DEVICE_MAX_CONNECTIONS), which no profile says. */
#ifndef GRIDTIDE_SIM_BASELINE_FIT_CONNECTIONS_H
#define GRIDTIDE_SIM_BASELINE_FIT_CONNECTIONS_H

#include "sim/simulate.h"

/* Replay `workload` with other numbers of connections than the device's, with which the replay is `off` (a part of what
 * was measured, `measured_us`).  0 where that replay is near enough, or none is with another number; else the number with
 * which it is nearest. */
uint32_t gt_fit_connections(const struct gt_workload *workload, const struct gt_device *device,
                            const struct gt_options *options, double measured_us, double off);

#endif
