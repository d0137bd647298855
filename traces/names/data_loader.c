#include "traces/names/data_loader.h"

#include <stddef.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t length = strlen(text), tail = strlen(with);

    return length >= tail && strcmp(text + length - tail, with) == 0;
}

bool gt_is_data_loader(const char *name)
{
    return begins(name, "enumerate(DataLoader)#") || begins(name, "enumerate(DataPipe)#") ||
           ends(name, "dataloader_next") || ends(name, ".val_next") ||
           (strstr(name, "utils/data/dataloader.py(") != NULL && ends(name, ": __next__"));
}
