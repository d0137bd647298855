#include "sim/workload/data_loader.h"

#include <string.h>

#include "sim/base/affix.h"

bool gt_is_data_loader(const char *name)
{
    size_t length = strlen(name);

    return gt_begins(name, length, "enumerate(DataLoader)#") || gt_begins(name, length, "enumerate(DataPipe)#") ||
           gt_ends(name, length, "dataloader_next") || gt_ends(name, length, ".val_next") ||
           (strstr(name, "utils/data/dataloader.py(") != NULL && gt_ends(name, length, ": __next__"));
}
