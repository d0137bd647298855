/* scale_kernels.h - kernels recorded on one device, on another. */
#ifndef GRIDTIDE_SIM_WHATIF_SCALE_KERNELS_H
#define GRIDTIDE_SIM_WHATIF_SCALE_KERNELS_H

#include "sim/rewrite/scenario.h"

/* Where the scenario's device computes or remembers otherwise than the recorded one, kernels with a stated duration get
 * the one that they have there: by their programs where they have any; as products of matrices where their operators' inputs
 * say which; else by what bounds them (kernel_bound.h).  What was scaled by what is told as assumptions.  The recorded
 * device is then as the simulated one as far as kernels are concerned.  Returns 0; -1 with the reason why programs could not be run
 * at all, or measured products not be read. */
int gt_scale_kernels(struct gt_scenario *scenario, struct gt_error *error);

#endif
