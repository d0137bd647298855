/* reserved_memory.c - allocations replayed by PyTorch's caching allocator until what it reserves is steady.
 *
 * A recording is some steps of a loop.  What it frees from before (results and gradients of the step before) is what it leaves
 * allocated at its end: a free from before ends an allocation of that size of the repetition before, and nothing in the first.
 * What was allocated before and stays is one block, without gaps (parameters, data), but for what the first step allocates
 * (first_step.h).
 */
#include "sim/shapes/reserved_memory.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/shapes/caching_allocator.h"
#include "sim/shapes/first_step.h"
#include "sim/workload/allocations.h"

/* More than any loop needs to be steady. */
enum { MOST_REPETITIONS = 6 };

/* Arrays are by allocation. */
struct replay {
    const struct gt_workload *w;
    gt_gpu_index gpu;
    struct gt_caching_allocator *allocator;
    struct gt_cached_block **blocks; /* of a free from before: what it will free; NULL: nothing */
    uint32_t *from;      /* of a free from before: the allocation of the last repetition that it ends; GT_NONE */
    bool *carried;       /* is it alive until the next repetition frees it? */
    uint64_t kept_bytes; /* from before, and never freed */
    struct gt_kept_memory *late; /* of them: that the first step allocates */
    uint32_t late_count;
};

/* An allocation that is alive at the end, or a free from before. */
struct open {
    int64_t bytes;
    uint32_t index;
};

static int compare_open(const void *left, const void *right)
{
    const struct open *a = left, *b = right;

    GT_ORDER(a->bytes, b->bytes);
    GT_ORDER(a->index, b->index);
    return 0;
}

/* Pair frees from before with allocations that are alive at the end, of the same size and in the order of time. */
static void pair(struct replay *r, struct open *frees, uint32_t free_count, struct open *alive, uint32_t alive_count)
{
    uint32_t at = 0;

    qsort(frees, free_count, sizeof *frees, compare_open);
    qsort(alive, alive_count, sizeof *alive, compare_open);
    for (uint32_t i = 0; i < free_count; i++) {
        while (at < alive_count && alive[at].bytes < frees[i].bytes)
            at++;
        if (at == alive_count || alive[at].bytes != frees[i].bytes)
            continue;
        r->from[frees[i].index] = alive[at].index;
        r->carried[alive[at++].index] = true;
    }
}

static void pair_steps(struct replay *r)
{
    uint32_t count = r->w->allocation_count, free_count = 0, alive_count = 0;
    struct open *frees = gt_calloc(count, sizeof *frees), *alive = gt_calloc(count, sizeof *alive);
    bool *freed = gt_calloc(count, sizeof *freed);
    uint64_t freed_bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        if (r->w->allocations[i].frees != GT_NONE)
            freed[r->w->allocations[i].frees] = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_allocation *one = &r->w->allocations[i];

        r->from[i] = GT_NONE;
        if (one->gpu != r->gpu)
            continue;
        if (one->bytes > 0 && !freed[i])
            alive[alive_count++] = (struct open){ one->bytes, i };
        if (one->bytes < 0 && one->frees == GT_NONE) {
            frees[free_count++] = (struct open){ -one->bytes, i };
            freed_bytes += (uint64_t)-one->bytes;
        }
    }
    pair(r, frees, free_count, alive, alive_count);
    r->kept_bytes = r->w->gpus[r->gpu].allocated_bytes;
    r->kept_bytes -= freed_bytes < r->kept_bytes ? freed_bytes : r->kept_bytes;
    free(freed);
    free(alive);
    free(frees);
}

static bool take(struct replay *r, uint32_t index, uint64_t bytes)
{
    r->blocks[index] = gt_block_take(r->allocator, bytes);
    return r->blocks[index] != NULL;
}

static void give_back(struct replay *r, uint32_t index)
{
    if (r->blocks[index] != NULL)
        gt_block_give_back(r->allocator, r->blocks[index]);
    r->blocks[index] = NULL;
}

/* Of what the first step allocates and keeps, all that comes before that allocation; false: out of memory. */
static bool take_late(struct replay *r, uint32_t *next, uint32_t before)
{
    for (; *next < r->late_count && r->late[*next].before <= before; ++*next)
        if (gt_block_take(r->allocator, r->late[*next].bytes) == NULL)
            return false;
    return true;
}

/* What frees from before end: allocations of the repetition before, or memory that is there again each time; false: out of memory. */
static bool begin_repetition(struct replay *r)
{
    for (uint32_t i = 0; i < r->w->allocation_count; i++) {
        const struct gt_allocation *one = &r->w->allocations[i];

        if (one->gpu != r->gpu || one->bytes >= 0 || one->frees != GT_NONE)
            continue;
        if (r->from[i] != GT_NONE) {
            r->blocks[i] = r->blocks[r->from[i]];
            r->blocks[r->from[i]] = NULL;
        } else if (!take(r, i, (uint64_t)-one->bytes)) {
            return false;
        }
    }
    return true;
}

/* One time; false: out of memory. */
static bool repeat(struct replay *r, bool is_first)
{
    uint32_t count = r->w->allocation_count, next = is_first ? 0 : r->late_count;

    if (!begin_repetition(r))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_allocation *one = &r->w->allocations[i];

        if (!take_late(r, &next, i))
            return false;
        if (one->gpu != r->gpu)
            continue;
        if (one->bytes < 0)
            give_back(r, one->frees != GT_NONE ? one->frees : i);
        else if (one->bytes > 0 && !take(r, i, (uint64_t)one->bytes))
            return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (r->w->allocations[i].bytes > 0 && !r->carried[i])
            give_back(r, i);
    return take_late(r, &next, count);
}

/* Until a repetition reserves no more than the one before; false: out of memory. */
static bool repeat_until_steady(struct replay *r)
{
    uint64_t most = 0, early = r->kept_bytes;

    for (uint32_t i = 0; i < r->late_count; i++)
        early -= r->late[i].bytes;
    if (early > 0 && gt_block_take(r->allocator, early) == NULL)
        return false;
    for (int i = 0; i < MOST_REPETITIONS; i++) {
        if (!repeat(r, i == 0))
            return false;
        if (i > 1 && gt_most_reserved_bytes(r->allocator) == most)
            break;
        most = gt_most_reserved_bytes(r->allocator);
    }
    return true;
}

/* False: out of memory.  *bytes: what was reserved. */
static bool replay(const struct gt_workload *w, gt_gpu_index gpu, const struct gt_device *device, uint64_t available,
                   double *bytes)
{
    struct replay r = { .w = w, .gpu = gpu, .allocator = gt_caching_allocator_new(available) };
    bool enough;

    r.blocks = gt_calloc(w->allocation_count, sizeof *r.blocks);
    r.from = gt_calloc(w->allocation_count, sizeof *r.from);
    r.carried = gt_calloc(w->allocation_count, sizeof *r.carried);
    pair_steps(&r);
    r.late_count = gt_first_step_find(&r.late, w, gpu, device->compute_major, r.carried, r.kept_bytes);
    enough = repeat_until_steady(&r);
    *bytes = (double)gt_most_reserved_bytes(r.allocator);
    free(r.late);
    free(r.carried);
    free(r.from);
    free(r.blocks);
    gt_caching_allocator_free(r.allocator);
    return enough;
}

/* Of the device's memory, what a program gets. */
static uint64_t program_bytes(const struct gt_device *device)
{
    if (device->memory_bytes == 0)
        return UINT64_MAX;
    return device->memory_bytes > device->memory_context_bytes ? device->memory_bytes - device->memory_context_bytes
                                                               : 0;
}

void gt_reserved_memory_find(struct gt_reserved_memory *reserved, const struct gt_workload *w,
                             const struct gt_device *device)
{
    uint64_t available = program_bytes(device);

    *reserved = (struct gt_reserved_memory){ .bytes = NAN, .available_bytes = (double)available };
    if (w->allocation_count == 0)
        return;
    for (gt_gpu_index i = 0; i < w->gpu_count; i++) {
        double bytes;

        if (!replay(w, i, device, available, &bytes)) {
            reserved->out_of_memory = true;
            replay(w, i, device, UINT64_MAX, &bytes);
        }
        reserved->bytes = fmax(reserved->bytes, bytes);
    }
}
