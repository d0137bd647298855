#include "sim/shapes/first_step.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/shapes/inputs.h"
#include "sim/shapes/roles.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

static const uint64_t workspace_bytes = UINT64_C(32) << 20, older_workspace_bytes = (UINT64_C(8) << 20) + (128 << 10);
enum { WORKSPACE_MAJOR = 9, MOST_WORKSPACES = 2 };

/* Adam keeps two moments of each parameter; no optimizer of PyTorch keeps more that is as large. */
enum { MOST_MOMENTS = 2 };
/* What else is kept may be so much less than rounding of blocks makes it. */
static const double slack = 0.05;

struct finding {
    const struct gt_workload *w;
    gt_gpu_index gpu;
    const bool *carried;
    uint64_t left; /* of the bytes that are kept */
    struct gt_kept_memory *kept;
    uint32_t count;
};

static void add(struct finding *f, uint32_t before, uint64_t bytes)
{
    if (bytes > f->left)
        return;
    f->left -= bytes;
    f->kept[f->count] = (struct gt_kept_memory){ before, bytes, f->count };
    f->count++;
}

static bool is_allocation(const struct finding *f, uint32_t index)
{
    const struct gt_allocation *one = &f->w->allocations[index];

    return one->gpu == f->gpu && one->bytes > 0 && one->range != GT_NONE;
}

/* Is it within a node of a backward pass? */
static bool is_backward(const struct finding *f, uint32_t index)
{
    for (gt_range_index at = f->w->allocations[index].range; at != GT_NONE; at = f->w->ranges[at].parent)
        if (gt_range_is_backward_node(f->w, &f->w->ranges[at]))
            return true;
    return false;
}

/* Is it within a product of matrices?  Its result is allocated before the library needs memory. */
static bool is_of_product(const struct finding *f, uint32_t index)
{
    for (gt_range_index at = f->w->allocations[index].range; at != GT_NONE; at = f->w->ranges[at].parent)
        if (gt_product_first(gt_operator_name(f->w, at)) >= 0)
            return true;
    return false;
}

/* One of the thread that goes forward, one of that which goes backward. */
static void find_workspaces(struct finding *f, uint64_t bytes)
{
    bool seen[MOST_WORKSPACES] = { false, false };

    for (uint32_t i = 0; i < f->w->allocation_count && !(seen[0] && seen[1]); i++) {
        bool backward;

        if (!is_allocation(f, i) || !is_of_product(f, i))
            continue;
        backward = is_backward(f, i);
        if (!seen[backward])
            add(f, i + 1, bytes);
        seen[backward] = true;
    }
}

static bool is_gradient(const struct finding *f, uint32_t index)
{
    return is_allocation(f, index) && f->carried[index] && is_backward(f, index);
}

/* The first allocation within an optimizer's step; how many there are: none. */
static uint32_t first_of_optimizer(const struct finding *f)
{
    bool *optimizer = gt_ranges_of_optimiser(f->w);
    uint32_t first = 0;

    while (first < f->w->allocation_count && !(is_allocation(f, first) && optimizer[f->w->allocations[first].range]))
        first++;
    free(optimizer);
    return first;
}

/* Before an optimizer's first step works, parameter by parameter: their order is that of gradients, backward. */
static void find_moments(struct finding *f)
{
    uint32_t before = first_of_optimizer(f), moments;
    double gradients = 0;

    for (uint32_t i = 0; i < f->w->allocation_count; i++)
        gradients += is_gradient(f, i) ? (double)f->w->allocations[i].bytes : 0;
    if (before == f->w->allocation_count || gradients == 0 || (double)f->left < gradients)
        return;
    moments = (uint32_t)fmin(((double)f->left - gradients) / gradients + slack, MOST_MOMENTS);
    for (uint32_t i = f->w->allocation_count; i-- > 0;)
        for (uint32_t moment = 0; is_gradient(f, i) && moment < moments; moment++)
            add(f, before, (uint64_t)f->w->allocations[i].bytes);
}

static int compare_kept(const void *left, const void *right)
{
    const struct gt_kept_memory *a = left, *b = right;

    GT_ORDER(a->before, b->before);
    GT_ORDER(a->order, b->order);
    return 0;
}

uint32_t gt_first_step_find(struct gt_kept_memory **kept, const struct gt_workload *w, gt_gpu_index gpu,
                            uint32_t compute_major, const bool *carried, uint64_t kept_bytes)
{
    struct finding f = { .w = w, .gpu = gpu, .carried = carried, .left = kept_bytes };

    f.kept = gt_calloc(MOST_WORKSPACES + (uint64_t)MOST_MOMENTS * w->allocation_count, sizeof *f.kept);
    find_workspaces(&f, compute_major >= WORKSPACE_MAJOR ? workspace_bytes : older_workspace_bytes);
    find_moments(&f);
    qsort(f.kept, f.count, sizeof *f.kept, compare_kept);
    *kept = f.kept;
    return f.count;
}
