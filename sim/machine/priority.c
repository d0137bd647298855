#include "sim/machine/priority.h"

uint32_t gt_priority_level(const struct gt_device *device, int32_t priority)
{
    int32_t high = device->priority_high < -(GT_LEVELS - 1) ? -(GT_LEVELS - 1) : device->priority_high;

    if (priority > 0)
        priority = 0;
    return priority < high ? 0 : (uint32_t)(priority - high);
}

uint32_t gt_op_level(const struct gt_machine *m, const struct gt_op *op)
{
    return op->has_priority ? gt_priority_level(m->device, op->priority) : m->streams[op->stream].level;
}
