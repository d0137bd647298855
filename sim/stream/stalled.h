/* stalled.h - what was concluded from measured times must not hold the simulation up for ever.
 *
 * Waits that a trace does not name are guessed from times (sim/replay); times may be wrong: clocks that drift, records that
 * were dropped, operations that seem to start before their call.  A guess can then close a circle with what is stated, or
 * with another guess.  Which one does shows when nothing can happen any more, whatever closes the circle: streams, events,
 * threads, connections, room on the SMs.  It is given up then, and counted; what is stated stays, and so does a deadlock
 * of stated things alone.
 */
#ifndef GRIDTIDE_SIM_STREAM_STALLED_H
#define GRIDTIDE_SIM_STREAM_STALLED_H

#include "sim/machine/machine.h"

/* Nothing can happen any more.  Give up an inferred dependency that something still waits for, of several the one that
 * is furthest from being met.  False: there is none, so that it is the end, or a deadlock. */
bool gt_stalled_release(struct gt_machine *machine);

#endif
