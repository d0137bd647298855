/* host_costs.h - what the host's calls cost in this process, learned from traces that were played in it. No CUDA.
 *
 * Hosts that have the same GPU differ by a third in what a launch takes, and one host from process to process, so
 * what a device file says of the host is not good enough to hold the GPU's part against.
 */
#ifndef GRIDTIDE_VALIDATE_HOST_COSTS_H
#define GRIDTIDE_VALIDATE_HOST_COSTS_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

struct gt_host_costs;

struct gt_host_costs *gt_host_costs_new(void);
void gt_host_costs_free(struct gt_host_costs *costs); /* NULL allowed */

/* Take in the calls of a played trace: `measured` has the times of its calls and operations (host_measure.h),
 * `workload` has none. */
void gt_host_costs_add(struct gt_host_costs *costs, const struct gt_workload *workload,
                       const struct gt_workload *measured);

/* Put what was learned into the keys of `device`: of each kind of call what it costs, and what a thread's first one,
 * the first into a stream and one behind another kind cost more (least absolute deviations), the return of waits, how
 * soon a host function is picked up, how far all these differ from run to run and call to call; the host's own copying, in and out; a graph launch's parts by one factor.
 * Keys that too few calls tell about (fewer than GT_HOST_COSTS_LEAST) stay.  Returns the number of calls behind it. */
enum { GT_HOST_COSTS_LEAST = 8 };
uint64_t gt_host_costs_apply(const struct gt_host_costs *costs, struct gt_device *device);

/* Of copies between GPUs and of locks nothing was measured: they cost as much more than the device says as copies and
 * launches do by now, which were `before`'s. */
void gt_host_scale_others(struct gt_device *device, const struct gt_device *before);

#endif
