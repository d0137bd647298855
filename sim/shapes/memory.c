/* memory.c - allocations at other sizes: each by its operator's inputs; what was there before by the inputs that no allocation made. */
#include "sim/shapes/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/shapes/held_memory.h"
#include "sim/shapes/result_bytes.h"
#include "sim/shapes/roles.h"
#include "sim/workload/allocations.h"
#include "sim/workload/ranges.h"

struct resizing {
    struct gt_workload *w;
    const struct gt_sizes *sizes;
    const bool *optimiser;
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

        if (r->optimiser[at])
            return;
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
        r->sizing->scaled += block;
    }
}

static void resize_all(struct resizing *r)
{
    for (uint32_t i = 0; i < r->w->allocation_count; i++)
        if (r->w->allocations[i].bytes > 0)
            resize(r, i);
}

static void write_all(struct resizing *r)
{
    const struct gt_held_memory *held = &r->sizing->held_memory;
    uint64_t *before = r->w->allocation_count > 0 ? &r->w->gpus[r->w->allocations[0].gpu].allocated_bytes : NULL;

    if (before != NULL)
        *before = (uint64_t)fmax((double)*before - held->data + held->new_data, 0);
    for (uint32_t i = 0; i < r->w->allocation_count; i++) {
        struct gt_allocation *allocation = &r->w->allocations[i];

        if (allocation->bytes > 0)
            allocation->bytes = (int64_t)(r->now[i] == r->asked[i] ? (double)allocation->bytes : gt_block_bytes(r->now[i]));
        else if (allocation->frees != GT_NONE)
            allocation->bytes = -r->w->allocations[allocation->frees].bytes;
    }
}

void gt_allocations_resize(struct gt_workload *w, const struct gt_sizes *sizes, const bool *optimiser,
                           struct gt_memory_sizing *sizing)
{
    struct resizing r = { .w = w, .sizes = sizes, .optimiser = optimiser, .sizing = sizing };

    *sizing = (struct gt_memory_sizing){ .fitted = 0 };
    r.asked = gt_calloc(w->allocation_count + 1ull, sizeof *r.asked);
    r.now = gt_calloc(w->allocation_count + 1ull, sizeof *r.now);
    resize_all(&r);
    gt_held_memory_find(&sizing->held_memory, w, sizes, r.asked, optimiser);
    write_all(&r);
    if (getenv("GTMEM"))
        for (uint32_t i = 0; i < w->allocation_count; i++)
            if (r.asked[i] > 0)
                fprintf(stderr, "ALLOC %u asked %.0f now %.0f\n", i, r.asked[i], r.now[i]);
    free(r.asked);
    free(r.now);
}
