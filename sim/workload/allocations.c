#include "sim/workload/allocations.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

void gt_workload_add_allocation(struct gt_workload *w, const struct gt_allocation *allocation)
{
    gt_array_grow(w->allocations, w->allocation_count, w->allocation_room);
    w->allocations[w->allocation_count++] = *allocation;
}

double gt_peak_allocated_bytes(const struct gt_workload *w)
{
    uint64_t level[GT_MOST_GPUS], peak = 0;

    for (gt_gpu_index i = 0; i < w->gpu_count; i++)
        level[i] = w->gpus[i].allocated_bytes;
    for (uint32_t i = 0; i < w->allocation_count; i++) {
        uint64_t *here = &level[w->allocations[i].gpu];

        peak = *here > peak ? *here : peak;
        *here += (uint64_t)w->allocations[i].bytes;
        peak = *here > peak ? *here : peak;
    }
    return w->allocation_count > 0 ? (double)peak : NAN;
}

void gt_allocations_renumber(struct gt_workload *w, const gt_range_index *place)
{
    for (uint32_t i = 0; i < w->allocation_count; i++)
        if (w->allocations[i].range != GT_NONE)
            w->allocations[i].range = place[w->allocations[i].range];
}

static int check_level(uint64_t *level, const struct gt_allocation *allocation, uint32_t index,
                       struct gt_error *error)
{
    const uint64_t limit = GT_ALLOCATED_LIMIT_BYTES;
    uint64_t bytes = allocation->bytes < 0 ? 0 - (uint64_t)allocation->bytes : (uint64_t)allocation->bytes;

    if (allocation->bytes < 0 ? bytes > *level : bytes > limit - *level)
        return gt_error_set(error, "allocation %u: a GPU would have given out %s", index,
                            allocation->bytes < 0 ? "less than no memory: more is freed than was allocated"
                                                  : "more than 2^62 bytes");
    *level += (uint64_t)allocation->bytes;
    return 0;
}

static int check_free(const struct gt_workload *w, uint32_t index, bool *freed, struct gt_error *error)
{
    const struct gt_allocation *allocation = &w->allocations[index];
    const struct gt_allocation *of = allocation->frees < index ? &w->allocations[allocation->frees] : NULL;

    if (allocation->frees == GT_NONE)
        return 0;
    if (of == NULL || allocation->bytes >= 0 || of->bytes <= 0 || of->gpu != allocation->gpu ||
        of->bytes != -allocation->bytes)
        return gt_error_set(error, "allocation %u frees %u, which is no earlier allocation of that size and GPU",
                            index, allocation->frees);
    if (freed[allocation->frees])
        return gt_error_set(error, "allocation %u frees %u, which is freed already", index, allocation->frees);
    freed[allocation->frees] = true;
    return 0;
}

int gt_allocations_check(const struct gt_workload *w, struct gt_error *error)
{
    bool *freed = gt_calloc(w->allocation_count + 1ull, sizeof *freed);
    uint64_t level[GT_MOST_GPUS];
    int result = 0;

    for (gt_gpu_index i = 0; i < w->gpu_count && result == 0; i++) {
        level[i] = w->gpus[i].allocated_bytes;
        if (level[i] > GT_ALLOCATED_LIMIT_BYTES)
            result = gt_error_set(error, "a GPU has given out more than 2^62 bytes");
    }
    for (uint32_t i = 0; i < w->allocation_count && result == 0; i++) {
        const struct gt_allocation *allocation = &w->allocations[i];

        if (allocation->gpu >= w->gpu_count || (allocation->range != GT_NONE && allocation->range >= w->range_count))
            result = gt_error_set(error, "allocation %u is of a GPU or a range that is not there", i);
        else if (check_free(w, i, freed, error) != 0)
            result = -1;
        else
            result = check_level(&level[allocation->gpu], allocation, i, error);
    }
    free(freed);
    return result;
}
