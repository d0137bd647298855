/* pytorch_ranges.h - what PyTorch calls its ranges, as far as something hangs on it. */
#ifndef GRIDTIDE_SIM_WORKLOAD_PYTORCH_RANGES_H
#define GRIDTIDE_SIM_WORKLOAD_PYTORCH_RANGES_H

#include "sim/workload/workload.h"

/* Is the range of those that make a gradient ready? */
bool gt_range_makes_gradient(const struct gt_workload *workload, const struct gt_range *range);
/* Is it a node of a backward pass? */
bool gt_range_is_backward_node(const struct gt_workload *workload, const struct gt_range *range);
/* Is it a step of an optimiser? */
bool gt_range_is_optimiser_step(const struct gt_workload *workload, const struct gt_range *range);
/* Were steps compiled by torch.compile(), whose backward pass is one node? */
bool gt_ranges_are_compiled(const struct gt_workload *workload);

#endif
