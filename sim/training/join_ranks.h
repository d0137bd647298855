/* join_ranks.h - of a job of several processes: each one's backward pass on the thread that asked for it.
 *
 * What gt_training_join_threads() does of one GPU's training step, of every rank's.
 */
#ifndef GRIDTIDE_SIM_TRAINING_JOIN_RANKS_H
#define GRIDTIDE_SIM_TRAINING_JOIN_RANKS_H

#include "sim/rewrite/scenario.h"

/* In each process that has one GPU and marks steps, the threads that make gradients ready and the one that marks steps are
 * one from now on; are there any?  Nothing changes where there is but one process. */
bool gt_join_ranks(struct gt_scenario *scenario);

#endif
