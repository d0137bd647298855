/* ranges.h - ranges of a workload: which call is in which, and those that PyTorch and its data loaders name. */
#ifndef GRIDTIDE_SIM_WORKLOAD_RANGES_H
#define GRIDTIDE_SIM_WORKLOAD_RANGES_H

#include <stdbool.h>

#include "sim/workload/range_calls.h"
#include "sim/workload/workload.h"

/* Put the ranges added in order, find the calls that each holds and its parent: once, when all calls and ranges are
 * there.  `calls` is as for gt_ranges_find_calls(). */
void gt_ranges_finish(struct gt_workload *workload, const uint32_t *calls);

/* The innermost range of its own thread that each call is in, GT_NONE where there is none; of those that nest
 * (not GT_RANGE_UNNESTED).  Malloced. */
gt_range_index *gt_ranges_innermost(const struct gt_workload *workload);

/* Is a range of this name one in which a training loop gets its next batch?
 *   enumerate(DataLoader)#...     torch/utils/data/dataloader.py, _BaseDataLoaderIter: _SingleProcessDataLoaderIter.__next__
 *                                 (num_workers=0) and _MultiProcessingDataLoaderIter.__next__
 *   enumerate(DataPipe)#...       torch/utils/data/datapipes/_hook_iterator.py
 *   ...dataloader_next, val_next  Lightning: [pl][profile][_TrainingEpochLoop].train_dataloader_next
 *   .../data/dataloader.py(...): __next__   the same as a Python function, of profiles with stacks */
bool gt_is_data_loader(const char *name);

/* Is the range of those that make a gradient ready? */
bool gt_range_makes_gradient(const struct gt_workload *workload, const struct gt_range *range);
/* Is it a node of a backward pass? */
bool gt_range_is_backward_node(const struct gt_workload *workload, const struct gt_range *range);
/* Is it a step of an optimiser? */
bool gt_range_is_optimiser_step(const struct gt_workload *workload, const struct gt_range *range);
/* By range: is it such a step, or within one?  For the caller to free(). */
bool *gt_ranges_of_optimiser(const struct gt_workload *workload);
/* Were steps compiled by torch.compile(), whose backward pass is one node? */
bool gt_ranges_are_compiled(const struct gt_workload *workload);

#endif
