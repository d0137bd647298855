/* right_size.h - green contexts of as few SMs as critical tenants need. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_RIGHT_SIZE_H
#define GRIDTIDE_SIM_CMD_SERVE_RIGHT_SIZE_H

#include "sim/cmd/serve/serve_load.h"

/* Is the load's sharing to be found so? */
bool gt_serve_is_right_sized(const struct gt_serve_load *serve);

/* Each critical tenant gets the fewest SMs, in the device's steps, on which it alone keeps its p99 within its deadline, or without one
 * within 1.1 times its p99 on all SMs; the others share what is left.  serve->sized is the sharing found, and is said on standard
 * error unless `quiet`.  Returns 0, or -1 with the reason: not enough SMs. */
int gt_serve_right_size(struct gt_serve_load *serve, uint64_t seed, bool noise, bool quiet, struct gt_error *error);

#endif
