/* block_turns.h - blocks of one grid on one SM that are not in step: the oldest go first.
 *
 * A scheduler prefers the warps that came first, so that where an SM's issue slots, or a pipe, hold a kernel back, its
 * oldest blocks run at full pace and the youngest wait: of 4 blocks of 512 threads of integer chains the first ended
 * after 0.25 of the launch, of 8 of 256 threads of sines after 0.32, where all together wait for memory after 0.9 and
 * more (H200, November 2026).  So places get free, and late kernels in, long before the launch ends.  The warp tier
 * has such a scheduler and says how many blocks an SM works at at a time (gt_warp_result.at_once): all get their
 * group's time in equal parts of one such block, in the order of their age, until it is used up.
 */
#ifndef GRIDTIDE_SIM_RATES_BLOCK_TURNS_H
#define GRIDTIDE_SIM_RATES_BLOCK_TURNS_H

#include "sim/machine/machine.h"

/* How many blocks of a grid with a program an SM works at; 0: as many as it has, all in step. */
double gt_blocks_at_once(const struct gt_machine *m, const struct gt_grid *grid);

/* The rate of a group of a grid that has the GPU for itself: the whole grid lasts what it lasts. */
double gt_block_turns_alone(const struct gt_machine *m, const struct gt_resident_group *group);

/* Its blocks would each have progressed by `passed_ps` in step: who has done how much of it. */
void gt_block_turns_settle(struct gt_machine *m, const struct gt_resident_group *group, double passed_ps);

/* The next of its batches to end; *progress_ps: by how much all would progress in step until then. */
gt_batch_index gt_block_turns_next(const struct gt_machine *m, const struct gt_resident_group *group,
                                   double *progress_ps);

#endif
