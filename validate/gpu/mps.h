/* mps.h - an MPS daemon of our own. */
#ifndef GRIDTIDE_VALIDATE_PLAYER_MPS_H
#define GRIDTIDE_VALIDATE_PLAYER_MPS_H

#include "sim/base/error.h"
#include "sim/workload/sharing.h"

/* Start it, with a pipe folder of its own, unless it runs already; it ends with this process.  Returns 0, or -1 with the reason. */
int gt_mps_start(struct gt_error *error);
void gt_mps_stop(void); /* before, for processes that end by _exit() */

/* Of a process that will use CUDA from now on: it is a client of that daemon, with its percentage, if it shares so; else of none. */
void gt_mps_join(const struct gt_sharing *sharing);

#endif
