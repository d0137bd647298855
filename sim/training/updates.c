#include "sim/training/updates.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/pytorch_ranges.h"

/* Steps of optimisers, in the order of their calls; those that are within others, or hang over, are one with them. */
struct optimisers {
    struct update {
        gt_call_index first, behind;
    } * updates;
    uint32_t count, room;
};

static int by_first_call(const void *left, const void *right)
{
    const struct update *a = left, *b = right;

    GT_ORDER(a->first, b->first);
    return 0;
}

static void join_overlapping(struct optimisers *found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < found->count; i++) {
        struct update *last = count > 0 ? &found->updates[count - 1] : NULL;

        if (last == NULL || found->updates[i].first >= last->behind)
            found->updates[count++] = found->updates[i];
        else if (found->updates[i].behind > last->behind)
            last->behind = found->updates[i].behind;
    }
    found->count = count;
}

static void find_optimisers(struct optimisers *found, const struct gt_training *t, const struct gt_workload *w)
{
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (!t->joined[range->thread] || range->end_call <= range->first_call ||
            !gt_range_is_optimiser_step(w, range))
            continue;
        gt_array_grow(found->updates, found->count, found->room);
        found->updates[found->count++] = (struct update){ range->first_call, range->end_call };
    }
    if (found->count > 0)
        qsort(found->updates, found->count, sizeof *found->updates, by_first_call);
    join_overlapping(found);
}

/* The last of those whose last call is neither before call `from` nor behind `until`; NULL: there is none.  What an optimiser does
 * comes at its end: PyTorch's step() may go forward and backward first (a closure). */
static const struct update *update_between(const struct optimisers *o, gt_call_index from, gt_call_index until)
{
    uint32_t low = 0, high = o->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (o->updates[middle].behind <= until)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && o->updates[low - 1].behind > from ? &o->updates[low - 1] : NULL;
}

static void add_part(struct gt_training_step **parts, uint32_t *count, const struct gt_training_step *part)
{
    *parts = gt_realloc(*parts, *count + 1ull, sizeof **parts);
    (*parts)[(*count)++] = *part;
}

/* A step in the parts that its optimisers make of it.  One that stands before its first gradient belongs to the step before. */
static void split_step(const struct gt_training *t, const struct gt_training_step *step, const struct optimisers *o,
                       struct gt_training_step **parts, uint32_t *count)
{
    struct gt_training_step rest = *step;
    uint32_t behind = step->first_gradient + step->gradients;
    const struct update *update =
        step->gradients > 0 ? update_between(o, step->first, t->gradients[step->first_gradient].behind) : NULL;

    if (update != NULL)
        rest.first = update->behind;
    for (uint32_t i = step->first_gradient + 1; i < behind; i++) {
        struct gt_training_step part = rest;

        update = update_between(o, t->gradients[i - 1].behind + 1, t->gradients[i].behind);
        if (update == NULL)
            continue;
        part.gradients = i - rest.first_gradient;
        part.behind = rest.first = update->behind;
        rest.first_gradient = i;
        rest.gradients = behind - i;
        add_part(parts, count, &part);
    }
    add_part(parts, count, &rest);
}

static gt_call_index last_gradient(const struct gt_training *t, uint32_t step)
{
    return t->gradients[t->steps[step].first_gradient + t->steps[step].gradients - 1].behind;
}

/* Gradients that were recorded last, without what followed them, are as others are. */
static void find_kept(struct gt_training *t, const struct gt_workload *w, const struct optimisers *o)
{
    uint32_t last = GT_NONE;
    bool any = false;

    for (uint32_t s = 0; s < t->step_count; s++) {
        if (t->steps[s].gradients == 0)
            continue;
        if (last != GT_NONE)
            any |= t->steps[last].kept = update_between(o, last_gradient(t, last) + 1,
                                                        t->gradients[t->steps[s].first_gradient].behind) == NULL;
        last = s;
    }
    if (any)
        t->steps[last].kept = update_between(o, last_gradient(t, last) + 1, w->call_count) == NULL;
}

void gt_updates_find(struct gt_training *t, const struct gt_workload *w)
{
    struct optimisers optimisers = { .updates = NULL };
    struct gt_training_step *parts = NULL;
    uint32_t count = 0;

    find_optimisers(&optimisers, t, w);
    for (uint32_t s = 0; s < t->step_count && optimisers.count > 0; s++)
        split_step(t, &t->steps[s], &optimisers, &parts, &count);
    if (parts != NULL) {
        gt_training_replace_steps(t, parts, count);
        find_kept(t, w, &optimisers);
    }
    free(optimisers.updates);
}
