/* memory.h - what a program's allocations are when its operators get other sizes. */
#ifndef GRIDTIDE_SIM_SHAPES_MEMORY_H
#define GRIDTIDE_SIM_SHAPES_MEMORY_H

#include "sim/shapes/held_memory.h"
#include "sim/shapes/sizes.h"

/* How the new sizes were found, in bytes as recorded. */
struct gt_memory_sizing {
    double fitted;              /* allocations as large as something that is made of their operator's inputs */
    double grown;               /* those that grow as the inputs do */
    double kept;                /* those that stay */
    double held_bytes;          /* what was allocated before the recording */
    struct gt_held_memory held; /* of that */
};

/* Give the allocations of `workload`, which `sizes` is of, their bytes after the change; those within an optimiser's step stay. */
void gt_allocations_resize(struct gt_workload *workload, const struct gt_sizes *sizes,
                           struct gt_memory_sizing *sizing);

#endif
