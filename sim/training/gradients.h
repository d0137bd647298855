/* gradients.h - when which gradient of a training step is ready, and how large it is. */
#ifndef GRIDTIDE_SIM_TRAINING_GRADIENTS_H
#define GRIDTIDE_SIM_TRAINING_GRADIENTS_H

#include "sim/training/training.h"

/* All gradients of the steps, in order, with their sizes and passes: where the profile has none, evenly over what looks like the
 * backward pass, if `given_bytes` (of a pass, all together; 0: not given) says how large they are.  The training's steps and main
 * thread are known by then; threads that make gradients are joined to it.  `repeated`: as gt_passes_find() takes it. */
void gt_gradients_find(struct gt_training *training, const struct gt_workload *workload, uint64_t given_bytes,
                       uint32_t repeated);

/* In a rebuilt workload: ranges that make gradients ready are behind these calls, by gradient (GT_NONE: not copied); those that
 * no range has get one. */
void gt_gradients_place(struct gt_workload *to, const struct gt_training *training, const gt_call_index *places);

#endif
