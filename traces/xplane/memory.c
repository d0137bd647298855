/* memory.c - what XLA's allocator of a GPU gives out and gets back: events without duration. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "traces/xplane/internal.h"

/* "GPU_0_bfc"; those of the host ("xla_gpu_host_bfc") are of no GPU. */
static bool find_gpu(const char *allocator, uint32_t *gpu)
{
    static const char prefix[] = "GPU_";
    unsigned long number;
    char *end;

    if (allocator == NULL || !gt_begins(allocator, strlen(allocator), prefix))
        return false;
    number = strtoul(allocator + sizeof prefix - 1, &end, 10);
    *gpu = (uint32_t)number;
    return end > allocator + sizeof prefix - 1 && number <= 65535;
}

bool xplane_take_memory(struct xplane *xplane, const struct xplane_event *event)
{
    bool frees = strcmp(event->name, "MemoryDeallocation") == 0;
    int64_t bytes = event->values[XPLANE_ALLOCATION_BYTES].number;
    uint32_t gpu;

    if ((!frees && strcmp(event->name, "MemoryAllocation") != 0) || !event->values[XPLANE_ALLOCATION_BYTES].there)
        return false;
    if (bytes > 0 && find_gpu(event->values[XPLANE_ALLOCATOR].text, &gpu))
        gt_import_add_allocation(&xplane->import,
                                 &(struct gt_import_allocation){
                                     .time_ns = event->start_ns,
                                     .bytes = frees ? -bytes : bytes,
                                     .allocated_bytes = event->values[XPLANE_ALLOCATED_BYTES].number,
                                     .address = (uint64_t)event->values[XPLANE_ADDRESS].number,
                                     .gpu = gpu,
                                     .thread = gt_import_range_thread(&xplane->import, 0, 0, (uint64_t)event->line),
                                 });
    return true;
}
