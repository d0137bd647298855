/* call_extra.h - what some calls cost their thread more than others of their kind. */
#ifndef GRIDTIDE_SIM_STREAM_CALL_EXTRA_H
#define GRIDTIDE_SIM_STREAM_CALL_EXTRA_H

#include "sim/machine/machine.h"

/* `thread` makes this call now: what it costs beyond the row of its kind because it is the thread's first of the
 * kind, the first into its stream, or follows another kind; and remember that it was made.  Seen on H200s, of
 * launches of 5.6 us: a thread's first 3.6 us more, into a new stream 1.6 us, after another kind of call 0.6 us
 * (7,800 launches of random traces; validate/README.md). */
gt_time_ps gt_call_extra_ps(struct gt_machine *m, gt_thread_index thread, gt_call_index call);

#endif
