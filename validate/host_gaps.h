/* host_gaps.h - the host's own work between its calls, as a trace recorded it. No CUDA. */
#ifndef GRIDTIDE_VALIDATE_HOST_GAPS_H
#define GRIDTIDE_VALIDATE_HOST_GAPS_H

#include "sim/workload/workload.h"

/* When the first call of a recorded trace starts: what every thread's first gap begins at.  GT_TIME_NONE: no
 * call has a time. */
gt_time_ps gt_host_first_ps(const struct gt_workload *workload);

/* The thread's own work before `call`, its next one; *at_ps is where its calls had come to, the latest end so
 * far, and is moved on.  0 where the trace does not say. */
gt_time_ps gt_host_gap_ps(const struct gt_call *call, gt_time_ps *at_ps);

#endif
