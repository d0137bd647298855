/* updates.h - which passes of a training step belong to which step of an optimiser. */
#ifndef GRIDTIDE_SIM_TRAINING_UPDATES_H
#define GRIDTIDE_SIM_TRAINING_UPDATES_H

#include "sim/training/training.h"

/* Where an optimiser's steps stand between the gradients of one recorded step (two models that are trained in turn), each part is
 * a step of its own from now on, `of` the recorded one; gradients that no step of an optimiser follows before there are others are
 * kept for a later one (parts of a batch, each recorded as a step).  Nothing changes where optimisers were not recorded. */
void gt_updates_find(struct gt_training *training, const struct gt_workload *workload);

#endif
