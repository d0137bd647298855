/* allocations.c - what the profiler saw of the program's allocator: from addresses and times to allocations, frees and ranges. */
#include "sim/workload/allocations.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/ranges.h"
#include "traces/import/internal.h"

/* More at once than any GPU has is no allocation (256 TiB). */
static const int64_t most_bytes = INT64_C(1) << 48;

void gt_import_add_allocation(struct gt_import *import, const struct gt_import_allocation *allocation)
{
    if (allocation->bytes == 0)
        return;
    if (allocation->bytes > most_bytes || allocation->bytes < -most_bytes || allocation->allocated_bytes < 0 ||
        allocation->allocated_bytes > most_bytes) {
        gt_import_warn(import->workload, "allocations-unreadable", 1);
        return;
    }
    gt_array_grow(import->allocations, import->allocation_count, import->allocation_room);
    import->allocations[import->allocation_count] = *allocation;
    import->allocations[import->allocation_count].number = import->allocation_count;
    import->allocation_count++;
}

static int compare_times(const void *left, const void *right)
{
    const struct gt_import_allocation *a = left, *b = right;

    GT_ORDER(a->time_ns, b->time_ns);
    GT_ORDER(a->number, b->number);
    return 0;
}

struct place {
    uint64_t gpu, address;
};
/* What is allocated there now. */
struct live {
    struct place place;
    uint32_t allocation;
    UT_hash_handle hh;
};

struct writing {
    struct gt_import_finish *finish;
    struct gt_workload *w;
    struct live *live;
    gt_range_index next, *open; /* the first range that has not begun; by thread: the last that has */
    uint64_t level[GT_MOST_GPUS];
    bool known[GT_MOST_GPUS];
};

/* A GPU by the profile's number, of those that do work; GT_NONE: it does none. */
static gt_gpu_index gpu_of(const struct gt_workload *w, uint32_t id)
{
    for (gt_gpu_index i = 0; i < w->gpu_count; i++)
        if (w->gpus[i].id == id)
            return i;
    return GT_NONE;
}

/* The innermost range of its thread then, of which times rise from call to call.  Before the first call of the recording, where its
 * times begin, ranges are as they are then. */
static gt_range_index range_at(struct writing *writing, const struct gt_import_allocation *from)
{
    const struct gt_workload *w = writing->w;
    uint32_t thread = writing->finish->range_threads != NULL ? writing->finish->range_threads[from->thread] : GT_NONE;
    gt_time_ps time_ps;
    gt_range_index at;

    if (thread == GT_NONE)
        return GT_NONE;
    time_ps = from->time_ns > writing->finish->origin_ns
                  ? ((uint64_t)from->time_ns - (uint64_t)writing->finish->origin_ns) * 1000
                  : 0;
    for (; writing->next < w->range_count && w->ranges[writing->next].start_ps <= time_ps; writing->next++)
        if (!(w->ranges[writing->next].flags & GT_RANGE_UNNESTED))
            writing->open[w->ranges[writing->next].thread] = writing->next;
    at = writing->open[thread];
    while (at != GT_NONE && gt_range_measured_end(&w->ranges[at]) < time_ps)
        at = w->ranges[at].parent;
    return at;
}

/* The allocation that a free of so many bytes there ends; GT_NONE: none that was recorded. */
static uint32_t end_live(struct writing *writing, const struct place *place, int64_t bytes)
{
    uint32_t allocation = GT_NONE;
    struct live *live;

    HASH_FIND(hh, writing->live, place, sizeof *place, live);
    if (live == NULL)
        return GT_NONE;
    if (writing->w->allocations[live->allocation].bytes == -bytes)
        allocation = live->allocation;
    HASH_DEL(writing->live, live);
    free(live);
    return allocation;
}

static void begin_live(struct writing *writing, const struct place *place, uint32_t allocation)
{
    struct live *live;

    HASH_FIND(hh, writing->live, place, sizeof *place, live);
    if (live == NULL) {
        live = gt_calloc(1, sizeof *live);
        live->place = *place;
        HASH_ADD(hh, writing->live, place, sizeof live->place, live);
    }
    live->allocation = allocation;
}

static void write_one(struct writing *writing, const struct gt_import_allocation *from)
{
    struct gt_workload *w = writing->w;
    struct gt_allocation to = { .bytes = from->bytes, .frees = GT_NONE, .gpu = gpu_of(w, from->gpu) };
    const struct place place = { .gpu = from->gpu, .address = from->address };
    int64_t before = from->allocated_bytes - from->bytes;

    to.range = range_at(writing, from);
    if (to.gpu == GT_NONE)
        return;
    if (!writing->known[to.gpu])
        writing->level[to.gpu] = w->gpus[to.gpu].allocated_bytes = before > 0 ? (uint64_t)before : 0;
    writing->known[to.gpu] = true;
    if ((from->bytes < 0 && writing->level[to.gpu] < (uint64_t)-from->bytes) ||
        (from->bytes > 0 && writing->level[to.gpu] > GT_ALLOCATED_LIMIT_BYTES - (uint64_t)from->bytes)) {
        gt_import_warn(w, "allocations-unreadable", 1);
        return;
    }
    if (from->bytes < 0)
        to.frees = end_live(writing, &place, from->bytes);
    else
        begin_live(writing, &place, w->allocation_count);
    writing->level[to.gpu] += (uint64_t)from->bytes;
    gt_workload_add_allocation(w, &to);
}

void gt_import_write_allocations(struct gt_import_finish *finish)
{
    struct gt_import *import = finish->import;
    struct gt_workload *w = import->workload;
    struct writing *writing;
    struct live *live, *next;

    if (import->allocation_count == 0)
        return;
    qsort(import->allocations, import->allocation_count, sizeof *import->allocations, compare_times);
    writing = gt_calloc(1, sizeof *writing);
    writing->finish = finish;
    writing->w = w;
    writing->open = gt_realloc(NULL, w->thread_count + 1ull, sizeof *writing->open);
    memset(writing->open, 0xff, w->thread_count * sizeof *writing->open);
    for (uint32_t i = 0; i < import->allocation_count; i++)
        write_one(writing, &import->allocations[i]);
    HASH_ITER(hh, writing->live, live, next)
    {
        HASH_DEL(writing->live, live);
        free(live);
    }
    free(writing->open);
    free(writing);
    free(import->allocations);
    import->allocations = NULL;
    import->allocation_count = import->allocation_room = 0;
}
