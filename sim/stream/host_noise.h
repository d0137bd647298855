/* host_noise.h - how far a call's time lies from what is usual, in one draw of the host's noise.
 *
 * Three things make a host's calls differ, each with keys of the device file.  A run's host is slower or faster as a
 * whole (its clock, whose machine it is): one factor for all calls of the run, log-normal.  Each call differs by itself
 * (caches, branches, locks): a factor of its own, log-normal too.  And now and then the CPU does something else for
 * a while (an interrupt, another thread): so often for each millisecond of a call, for a time that is exponentially
 * distributed.  All are 1 and nothing in the median, which is what the other keys say.
 */
#ifndef GRIDTIDE_SIM_STREAM_HOST_NOISE_H
#define GRIDTIDE_SIM_STREAM_HOST_NOISE_H

#include "sim/machine/machine.h"

/* Of a draw's run: what all its calls take, of what is usual.  1 where the options ask for no draw.  The draws of one
 * range have the middles of as many equally likely parts of the distribution, in turn, so that few of them span it. */
double gt_noise_run_factor(const struct gt_device *device, const struct gt_options *options);

/* Of one call, that `usual_ps` takes: how long in this draw.  It depends on nothing but the draw and the call. */
gt_time_ps gt_noise_call_ps(const struct gt_machine *m, gt_call_index call, gt_time_ps usual_ps);

/* How soon the driver's thread picks up a host function, which takes `usual_ps`: it is the host's, too. */
gt_time_ps gt_noise_pick_up_ps(const struct gt_machine *m, gt_op_index op, gt_time_ps usual_ps);

#endif
