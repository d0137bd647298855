/* calls.h - CPU time of calls that copy from one GPU to another. */
#ifndef GRIDTIDE_SIM_LINKS_CALLS_H
#define GRIDTIDE_SIM_LINKS_CALLS_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* What a call costs that copies `op` between GPUs, beside what it costs that it is taken from the other one.  By way of
 * the host's memory the driver asks for it piece by piece, of which the GPU begins with the first meanwhile: `*rest_ps`
 * of the cost comes after that. */
gt_time_ps gt_link_call_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op,
                           gt_time_ps *rest_ps);

/* What it costs more because it is taken from the other GPU. */
gt_time_ps gt_link_pull_call_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op);

#endif
