/* block_progress.h - blocks that slow each other down: how fast each runs beside what else is resident.
 *
 * Of grids with demands (progress_limit.h).  The blocks of one grid on one SM are a group: they progress at one rate.
 * A grid that has had the GPU for itself since its first block runs at rate 1: that is what its demands were
 * taken from.  Once another grid's blocks, or a copy, have been there its rates come from the share
 * (sim/base/fair_share.h) that its groups have of the issue slots,
 * load/store units, pipes and ports of the SMs and of L2 and DRAM, for the rest of its life: where its blocks
 * stand may not be where they would have stood alone.  Rates change only when blocks or copies come and go.
 *
 * Who gets how much: SMs have equal shares of what the GPU has, as the crossbar serves them in turn; on an SM
 * a group's share goes by its warps, but of issue slots and pipes, which go by turns (progress_limit.c).
 *
 * Blocks of other grids (measured durations, stated costs) have rate 1 and ask for nothing.  Copies to and
 * from the host, and within the device, take their bytes of DRAM and are not slowed down.  Tasks that say bytes in
 * place of a time (sim/tasks/run.h) share DRAM with grids as one more, SM by SM, and take nothing of L2 or SMs.
 */
#ifndef GRIDTIDE_SIM_GPU_BLOCK_PROGRESS_H
#define GRIDTIDE_SIM_GPU_BLOCK_PROGRESS_H

#include "sim/machine/machine.h"

/* A grid's first blocks may come now; its last block has left. */
void gt_block_progress_grid_begins(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);
void gt_block_progress_grid_ends(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);

/* A batch of a grid with demands starts now.  Its end is told by gt_blocks_left(). */
void gt_block_progress_batch_begins(struct gt_machine *m, gt_batch_index batch);

/* A copy has begun or ended; tasks that say bytes move them on other SMs than before. */
void gt_block_progress_copies_changed(struct gt_machine *m, gt_gpu_index gpu);
void gt_block_progress_neighbours_changed(struct gt_machine *m, gt_gpu_index gpu);

/* So many more copies within the device run as kernels. */
void gt_block_progress_copy_within(struct gt_machine *m, gt_gpu_index gpu, int more);

/* Events: the first batch of a group ends; rates are worked out anew, once all that happens at a time has. */
int gt_resident_group_handler(void *machine, gt_group_index group, uint64_t stamp, struct gt_error *error);
int gt_block_progress_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error);

/* How many blocks of a grid with a program an SM works at; 0: as many as it has, all in step. */
double gt_blocks_at_once(const struct gt_machine *m, const struct gt_grid *grid);

#endif
