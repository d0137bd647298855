/* held_memory.h - what of the memory that was allocated before the recording follows the sizes: inputs, caches of keys and values. */
#ifndef GRIDTIDE_SIM_SHAPES_HELD_MEMORY_H
#define GRIDTIDE_SIM_SHAPES_HELD_MEMORY_H

#include "sim/shapes/sizes.h"

struct gt_held_memory {    /* bytes */
    double data, new_data; /* that follows the change: as recorded, after it */
    double parameters;     /* of the model, each as often as it is taken on the way forward */
    double unknown;        /* neither, nor a gradient or what an optimiser keeps */
};

/* Of the GPU on which the workload's first allocation was.  `asked`: bytes asked for by each allocation (memory.c); `optimiser`: ranges of
 * an optimiser's step.
 *
 * A profile does not say which tensor an operator takes, only how large it is.  What follows the change and is as large as no
 * allocation that is alive was there before.  How many such tensors there are is not told, either: the model's parameters, of
 * which each is taken once on the way forward, leave so much for them. */
void gt_held_memory_find(struct gt_held_memory *held, const struct gt_workload *workload,
                         const struct gt_sizes *sizes, const double *asked, const bool *optimiser);

#endif
