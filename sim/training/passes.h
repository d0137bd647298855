/* passes.h - a step that goes forward and backward several times before the optimiser's step, gradients added up. */
#ifndef GRIDTIDE_SIM_TRAINING_PASSES_H
#define GRIDTIDE_SIM_TRAINING_PASSES_H

#include "sim/training/training.h"

/* Tell passes apart: between the gradients of two of them the forward pass goes on, which calls what no node of a backward pass
 * does, and all of them make the same gradients.  Sets each step's `passes`; 1 where that is not so, or operators were not
 * recorded.  Also `through`: where a part of a recorded step begins with all gradients of another part's pass, those are of that one's
 * model (a generator is trained through its discriminator).  `repeated`: the step's passes stand there so many times, which a
 * change made (0: none did). */
void gt_passes_find(struct gt_training *training, const struct gt_workload *workload, uint32_t repeated);

/* Say so where a recorded step is taken to be one pass because nothing tells. */
void gt_passes_tell_untold(struct gt_scenario *scenario, const struct gt_training *training);

/* From now on each pass of a step that is a part of a recorded one is a step of its own: such passes are hardly parts of a batch.  Those
 * that a change repeated are kept, but for the last. */
void gt_passes_split(struct gt_training *training);

#endif
