/* data_loader.h - which ranges load data, by the names that frameworks give them. */
#ifndef GRIDTIDE_SIM_WORKLOAD_DATA_LOADER_H
#define GRIDTIDE_SIM_WORKLOAD_DATA_LOADER_H

#include <stdbool.h>

/* Is a range of this name one in which a training loop gets its next batch?
 *   enumerate(DataLoader)#...     torch/utils/data/dataloader.py, _BaseDataLoaderIter: _SingleProcessDataLoaderIter.__next__
 *                                 (num_workers=0) and _MultiProcessingDataLoaderIter.__next__
 *   enumerate(DataPipe)#...       torch/utils/data/datapipes/_hook_iterator.py
 *   ...dataloader_next, val_next  Lightning: [pl][profile][_TrainingEpochLoop].train_dataloader_next
 *   .../data/dataloader.py(...): __next__   the same as a Python function, of profiles with stacks */
bool gt_is_data_loader(const char *name);

#endif
