/* grid_sync.h - blocks whose ends depend on other blocks: barriers over a grid, and waiting for the kernel before.
 *
 * A barrier over the grid opens when the last of all its blocks has come to it, a while later (latency.barrier_us, and the
 * longer the more blocks there are and the more of them come at once).  So no block of such a grid ends before all are resident: where they do not get
 * so far, none of them ever does.  A block's time is in equal parts between the barriers, or
 * in those of its kernel's phases.
 *
 * A kernel that is launched programmatically has blocks before the one ahead of it is over (sim/stream/programmatic.h).
 * Each runs its prologue, then waits (griddepcontrol.wait) until that one's end, and a while longer
 * (latency.programmatic_wait_us), for the rest.  A block lets the next kernel come at its own part of its time
 * (gt_kernel.early_pct): if that is in the prologue, before it waits.
 *
 * Blocks whose ends are not known yet are held: nothing is due for them.  What they share with other kernels is not
 * looked at: their times are as stated.
 */
#ifndef GRIDTIDE_SIM_GPU_GRID_SYNC_H
#define GRIDTIDE_SIM_GPU_GRID_SYNC_H

#include "sim/machine/machine.h"

/* The grid, whose blocks are handed out from now on, meets or waits: its blocks go by gt_grid_sync_started(). */
void gt_grid_sync_begin(struct gt_machine *m, gt_grid_index grid);
/* Blocks of such a grid have started. True: they are held.  Else `end_ps` is when they end. */
bool gt_grid_sync_started(struct gt_machine *m, gt_batch_index batch, gt_time_ps *end_ps);
/* Blocks of any other grid have started that will end then, where some kernel comes programmatically. */
void gt_grid_sync_will_end(struct gt_machine *m, gt_grid_index grid, gt_time_ps start_ps, gt_time_ps end_ps);
/* All blocks of a grid have been handed out; all have left. */
void gt_grid_sync_handed_out(struct gt_machine *m, gt_grid_index grid);
void gt_grid_sync_left(struct gt_machine *m, gt_grid_index grid);
/* A kernel is over: the one behind it may wait for that. */
void gt_grid_sync_kernel_over(struct gt_machine *m, gt_command_index command);

/* Would all blocks of the grid have room now, by the GPU's free_block_sets for its shape? */
bool gt_grid_sync_has_room(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);

/* Nothing more can happen: append to `text` each grid of which some blocks wait at a barrier for others that have no SM,
 * and whose blocks hold the SMs.  Returns how many such grids there are. */
uint32_t gt_grid_sync_deadlocks(const struct gt_machine *m, char *text, size_t bytes);

#endif
