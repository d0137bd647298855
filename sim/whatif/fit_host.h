/* fit_host.h - the host's pace, by a step that the user timed without a profiler.
 *
 * What a host takes without the profiler that recorded it is known by the profiler's mean costs alone, and hosts run at one pace
 * today and at another tomorrow.  A step that nobody recorded says how long the host really takes, where the GPU waits for it.
 */
#ifndef GRIDTIDE_SIM_WHATIF_FIT_HOST_H
#define GRIDTIDE_SIM_WHATIF_FIT_HOST_H

#include "sim/whatif/whatif.h"

/* Multiply the host's work in the baseline, so that a step of it takes subject.step_us; the scenario knows by how much
 * (host_pace).  Where the GPU bounds such a step, the pace stays, unless that makes the step longer.  What was done is told as
 * an assumption.  Returns 0; -1 with why it cannot be simulated. */
int gt_fit_host(struct gt_whatif *whatif, struct gt_error *error);

#endif
