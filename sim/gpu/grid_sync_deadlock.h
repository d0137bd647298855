/* grid_sync_deadlock.h - says who waits for whom where a barrier over a grid never opens. */
#ifndef GRIDTIDE_SIM_GPU_GRID_SYNC_DEADLOCK_H
#define GRIDTIDE_SIM_GPU_GRID_SYNC_DEADLOCK_H

#include "sim/machine/machine.h"

/* Nothing more can happen: append to `text` each grid of which some blocks wait at a barrier for others that have no SM,
 * and whose blocks hold the SMs.  Returns how many such grids there are. */
uint32_t gt_grid_sync_deadlocks(const struct gt_machine *m, char *text, size_t bytes);

#endif
