/* strip_times.h - a recorded program as something to play. No CUDA. */
#ifndef GRIDTIDE_VALIDATE_STRIP_TIMES_H
#define GRIDTIDE_VALIDATE_STRIP_TIMES_H

#include "sim/workload/workload.h"

/* Forget when everything happened, so that it is simulated as it will be played: the host's own work between
 * calls and its other calls become host work of the same length, calls cost what the device says, copies
 * and memsets take what their bytes take.  Kernels must have block costs already (gt_proxy_kernels_make).
 * Operations keep their numbers, calls do not. */
void gt_strip_times(struct gt_workload *workload);

#endif
