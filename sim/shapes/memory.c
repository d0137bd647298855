/* memory.c - allocations at other sizes: each by its operator's inputs; what was there before by the inputs that no allocation made. */
#include "sim/shapes/memory.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/shapes/held_memory.h"
#include "sim/shapes/result_bytes.h"
#include "sim/shapes/roles.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

struct resizing {
    struct gt_workload *w;
    const struct gt_sizes *sizes;
    bool *optimiser;     /* by range: of an optimiser's step, which works on parameters, whose sizes stay */
    double *asked, *now; /* by allocation: bytes that were asked for, and that are asked for after the change */
    struct gt_memory_sizing *sizing;
};

/* The tensor with the most bytes. */
static int largest_of(const struct gt_inputs *inputs)
{
    int largest = 0;

    for (int i = 1; i < inputs->count; i++)
        if (gt_tensor_bytes(&inputs->tensors[i]) > gt_tensor_bytes(&inputs->tensors[largest]))
            largest = i;
    return largest;
}

/* How many times as much an operator has that makes nothing of a known size. */
static double growth_of(const struct gt_inputs *from, const struct gt_inputs *to)
{
    int largest = largest_of(from);
    double before = gt_tensor_bytes(&from->tensors[largest]);

    return before > 0 ? gt_tensor_bytes(&to->tensors[largest]) / before : 1;
}

/* A gradient, of a parameter that is not among the operator's inputs: as large in elements of 2 bytes or 4. */
static bool is_gradient(const struct resizing *r, double block)
{
    return gt_sizes_has_parameter_of(r->sizes, block / 2) || gt_sizes_has_parameter_of(r->sizes, block / 4);
}

/* By the innermost operator around it of whose inputs something so large is made; else it grows as the innermost one's inputs. */
static void resize(struct resizing *r, uint32_t index)
{
    const struct gt_allocation *allocation = &r->w->allocations[index];
    double block = (double)allocation->bytes, growth = 0;
    struct gt_result_bytes result, best = { .left = INFINITY };
    struct gt_inputs to;

    r->asked[index] = r->now[index] = block;
    for (gt_range_index at = allocation->range; at != GT_NONE; at = r->w->ranges[at].parent) {
        const struct gt_inputs *from = gt_inputs_of(r->sizes->all, at);

        if (r->optimiser[at]) {
            r->sizing->kept += block;
            return;
        }
        if (from == NULL || gt_tensor_elements(&from->tensors[largest_of(from)]) == 0)
            continue;
        gt_sizes_apply(r->sizes, at, &to);
        growth = growth == 0 ? growth_of(from, &to) : growth;
        if (gt_result_bytes_of(gt_operator_name(r->w, at), from, &to, block, &result) && result.left < best.left)
            best = result;
        if (best.left == 0 || (isfinite(best.left) && gt_product_first(gt_operator_name(r->w, at)) >= 0))
            break;
    }
    if (isfinite(best.left)) {
        r->asked[index] = best.recorded;
        r->now[index] = best.bytes;
        r->sizing->fitted += block;
    } else if (growth > 0 && !is_gradient(r, block)) {
        r->now[index] = block * growth;
        r->sizing->grown += block;
    } else {
        r->sizing->kept += block;
    }
}

static void resize_all(struct resizing *r)
{
    for (uint32_t i = 0; i < r->w->allocation_count; i++)
        if (r->w->allocations[i].bytes > 0)
            resize(r, i);
}

/* Blocks of one size, and what they are now: first those that are alive at the end, as what a step leaves to the next one is. */
struct size {
    double block, now;
    bool freed;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct size *a = left, *b = right;

    GT_ORDER(a->block, b->block);
    GT_ORDER(a->freed, b->freed);
    return 0;
}

/* What the allocation is now, in bytes; no sum of all of them is more than a workload may have. */
static double now_of(const struct resizing *r, uint32_t index)
{
    double most = (double)GT_ALLOCATED_LIMIT_BYTES / 2 / (r->w->allocation_count + 2.0);
    double bytes = (double)r->w->allocations[index].bytes;

    if (r->now[index] != r->asked[index])
        bytes = gt_block_bytes(fmin(r->now[index], most - GT_BLOCK_BYTES));
    return bytes;
}

/* A free of what was allocated before the recording: results of the step before, of a size that steps allocate, or gradients. */
static double freed_from_before(const struct size *sizes, uint32_t count, double bytes)
{
    uint32_t at = GT_LOWER_BOUND(middle, 0u, count, sizes[middle].block < bytes);

    return at < count && sizes[at].block == bytes ? sizes[at].now : bytes;
}

static void write_all(struct resizing *r)
{
    const struct gt_held_memory *held = &r->sizing->held;
    struct size *sizes = gt_calloc(r->w->allocation_count + 1ull, sizeof *sizes);
    double before = r->sizing->held_bytes - held->data + held->new_data, freed = 0;
    bool *freed_later = gt_calloc(r->w->allocation_count + 1ull, sizeof *freed_later);
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->w->allocation_count; i++)
        if (r->w->allocations[i].frees != GT_NONE)
            freed_later[r->w->allocations[i].frees] = true;
    for (uint32_t i = 0; i < r->w->allocation_count; i++)
        if (r->w->allocations[i].bytes > 0)
            sizes[count++] = (struct size){ (double)r->w->allocations[i].bytes, now_of(r, i), freed_later[i] };
    qsort(sizes, count, sizeof *sizes, compare_sizes);
    for (uint32_t i = 0; i < r->w->allocation_count; i++) {
        struct gt_allocation *allocation = &r->w->allocations[i];

        if (allocation->bytes > 0) {
            allocation->bytes = (int64_t)now_of(r, i);
        } else if (allocation->frees != GT_NONE) {
            allocation->bytes = -r->w->allocations[allocation->frees].bytes;
        } else if (allocation->gpu == r->w->allocations[0].gpu) {
            double now = freed_from_before(sizes, count, -(double)allocation->bytes);

            before += now + (double)allocation->bytes;
            freed += now;
            allocation->bytes = -(int64_t)now;
        }
    }
    before = fmin(fmax(before, freed), (double)GT_ALLOCATED_LIMIT_BYTES / 2);
    r->w->gpus[r->w->allocations[0].gpu].allocated_bytes = (uint64_t)before;
    free(freed_later);
    free(sizes);
}

void gt_allocations_resize(struct gt_workload *w, const struct gt_sizes *sizes, struct gt_memory_sizing *sizing)
{
    struct resizing r = { .w = w, .sizes = sizes, .sizing = sizing };

    *sizing = (struct gt_memory_sizing){ .fitted = 0 };
    if (w->allocation_count == 0)
        return;
    sizing->held_bytes = (double)w->gpus[w->allocations[0].gpu].allocated_bytes;
    r.asked = gt_calloc(w->allocation_count + 1ull, sizeof *r.asked);
    r.now = gt_calloc(w->allocation_count + 1ull, sizeof *r.now);
    r.optimiser = gt_ranges_of_optimiser(w);
    resize_all(&r);
    gt_held_memory_find(&sizing->held, w, sizes, r.asked, r.optimiser);
    write_all(&r);
    free(r.optimiser);
    free(r.asked);
    free(r.now);
}
