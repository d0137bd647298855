/* priority.h - CUDA's priorities as levels of the distributor's lists: 0 is the most urgent. */
#ifndef GRIDTIDE_SIM_MACHINE_PRIORITY_H
#define GRIDTIDE_SIM_MACHINE_PRIORITY_H

#include "sim/machine/machine.h"

/* The level of a priority, or of the nearest that the device has. */
uint32_t gt_priority_level(const struct gt_device *device, int32_t priority);
/* Of an operation: a kernel's own, else its stream's. */
uint32_t gt_op_level(const struct gt_machine *m, const struct gt_op *op);

#endif
