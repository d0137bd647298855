/* directions.c - where a copy goes, by the memories at its two ends. */
#include "traces/import/builder.h"

static bool on_host(enum gt_memory memory)
{
    return memory == GT_MEMORY_PAGEABLE || memory == GT_MEMORY_PINNED;
}

enum gt_direction gt_import_direction(enum gt_memory from, enum gt_memory to)
{
    if (on_host(from))
        return on_host(to) ? GT_H2H : GT_H2D;
    return on_host(to) ? GT_D2H : GT_D2D;
}
