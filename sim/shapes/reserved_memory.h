/* reserved_memory.h - how much of a GPU's memory a program reserves, and whether that is there. */
#ifndef GRIDTIDE_SIM_SHAPES_RESERVED_MEMORY_H
#define GRIDTIDE_SIM_SHAPES_RESERVED_MEMORY_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

struct gt_reserved_memory {
    double
        bytes; /* the most at a time, on the GPU with the most: where it runs out of memory, what it would be with enough; NAN: not known */
    double available_bytes;
    bool out_of_memory; /* less is available */
};

/* The workload's allocations and frees in their order, by PyTorch's caching allocator (caching_allocator.h), over and over until it
 * reserves no more: its steps are some of a loop.  Each GPU has the device's memory for it, less what its
 * context takes. */
void gt_reserved_memory_find(struct gt_reserved_memory *reserved, const struct gt_workload *workload,
                             const struct gt_device *device);

#endif
