/* ends_apart.h - how far apart equal blocks end. */
#ifndef GRIDTIDE_SIM_GPU_ENDS_APART_H
#define GRIDTIDE_SIM_GPU_ENDS_APART_H

#include "sim/machine/machine.h"

/* The first block of the grid's last wave, alone on the device. */
uint64_t gt_grid_last_wave(const struct gt_machine *m, const struct gt_grid *grid);

/* Do blocks of the batch, which is about to begin, end each at a time of its own, not one behind the other? */
bool gt_blocks_end_singly(const struct gt_machine *m, const struct gt_grid *grid, const struct gt_batch *batch);

/* How far the blocks of the batch progress, of the grid's block_ps, until the first of them leaves; sets when the others do.
 * `done_ps`: how far the grid's blocks on the SM have progressed, one after the other, until now. */
double gt_block_until_first_ps(const struct gt_machine *m, const struct gt_grid *grid, struct gt_batch *batch,
                               double done_ps);

#endif
