#include "sim/training/gradients.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/training/passes.h"
#include "sim/training/threads.h"
#include "sim/training/training.h"
#include "sim/workload/ranges.h"

/* Which passes of a training step belong to which step of an optimiser. */

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
    uint32_t low = GT_LOWER_BOUND(middle, 0, o->count, o->updates[middle].behind <= until);
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

/* Where an optimiser's steps stand between the gradients of one recorded step (two models that are trained in turn), each part is
 * a step of its own from now on, `of` the recorded one; gradients that no step of an optimiser follows before there are others are
 * kept for a later one (parts of a batch, each recorded as a step).  Nothing changes where optimisers were not recorded. */
static void updates_find(struct gt_training *t, const struct gt_workload *w)
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

enum { SPREAD = 32 };                                        /* so many gradients where the trace has none, */
static const char spread_name[] = "gradient, evenly spread"; /* as ranges from then on */

/* The last call that the range's thread made before the range was over. */
static gt_call_index last_call(const struct gt_thread_calls *threads, const struct gt_range *range)
{
    uint32_t low = threads->first[range->thread], high = threads->first[range->thread + 1], first = low;

    low = GT_LOWER_BOUND(middle, low, high, threads->calls[middle] < range->end_call);
    return low > first ? threads->calls[low - 1] : GT_NONE;
}

static void add_gradient(struct gt_training *t, uint32_t *room, gt_call_index behind, uint64_t bytes,
                         gt_range_index range, uint32_t step)
{
    gt_array_grow(t->gradients, t->gradient_count, *room);
    t->gradients[t->gradient_count++] = (struct gt_gradient){ behind, bytes, range, step };
}

static void find_gradients(struct gt_training *t, const struct gt_workload *w)
{
    struct gt_thread_calls threads;
    uint32_t room = 0;

    gt_thread_calls_find(&threads, w);
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];
        gt_call_index behind = gt_range_makes_gradient(w, range) ? last_call(&threads, range) : GT_NONE;
        uint32_t step;

        t->joined[range->thread] |=
            gt_range_is_backward_node(w, range); /* torch.autograd.grad() leaves no gradient */
        if (!gt_range_makes_gradient(w, range))
            continue;
        if (behind == GT_NONE) /* before its thread's first call: behind another's */
            behind = range->end_call > 0 ? range->end_call - 1 : 0;
        step = gt_training_step_of(t, behind);
        if (step == GT_NONE)
            continue;
        add_gradient(t, &room, behind, range->gradient_bytes, i, step);
        t->spread |= strcmp(gt_name_text(w, range->name), spread_name) == 0;
        t->joined[range->thread] = true;
    }
    gt_thread_calls_free(&threads);
}

/* Where the profile has no operators: evenly behind the launches of other threads than the main one, which ask for the
 * backward pass; where there are none, behind those of each step's second half. */
static void spread_gradients(struct gt_training *t, const struct gt_workload *w, uint64_t bytes)
{
    uint32_t room = 0;

    t->spread = true;
    for (uint32_t step = 0; step < t->step_count; step++) {
        const struct gt_training_step *s = &t->steps[step];
        gt_call_index *calls = gt_calloc(s->behind - s->first + 1ull, sizeof *calls);
        uint32_t count = 0, chosen;

        for (int own = 0; own < 2 && count == 0; own++)
            for (gt_call_index i = own ? s->first + (s->behind - s->first) / 2 : s->first; i < s->behind; i++)
                if (w->calls[i].kind == GT_CALL_LAUNCH && !(w->calls[i].flags & GT_CALL_INFERRED) &&
                    (w->calls[i].thread == t->main) == own)
                    calls[count++] = i;
        chosen = count < SPREAD ? count : SPREAD;
        for (uint32_t i = 0; i < chosen; i++) {
            gt_call_index behind = calls[(uint64_t)(i + 1) * count / chosen - 1];

            add_gradient(t, &room, behind, bytes / chosen, GT_NONE, step);
            t->joined[w->calls[behind].thread] = true;
        }
        free(calls);
    }
}

static int by_call(const void *left, const void *right)
{
    const struct gt_gradient *a = left, *b = right;

    GT_ORDER(a->behind, b->behind);
    return 0;
}

/* By step: where its gradients are. */
static void place_in_steps(struct gt_training *t)
{
    for (uint32_t i = 0; i < t->gradient_count; i++) {
        struct gt_training_step *step = &t->steps[t->gradients[i].step];

        if (step->gradients++ == 0)
            step->first_gradient = i;
    }
}

/* Of steps first .. behind - 1, which are parts of one that was recorded, a pass of each: gradients, and their bytes. */
static uint64_t sum_up(const struct gt_training *t, uint32_t first, uint32_t behind, uint32_t *count)
{
    uint64_t sum = 0;

    *count = 0;
    for (uint32_t s = first; s < behind; s++) {
        uint32_t own = t->steps[s].gradients / t->steps[s].passes;

        for (uint32_t i = 0; i < own; i++)
            sum += t->gradients[t->steps[s].first_gradient + i].bytes;
        *count += own;
    }
    return sum;
}

/* Given and recorded sizes of a recorded step: each gradient keeps its share; without recorded ones, all have the same. */
static void size_gradients(struct gt_training *t, uint64_t given)
{
    t->passes = 1;
    for (uint32_t first = 0, behind = 0, count; first < t->step_count; first = behind) {
        uint64_t sum;

        while (behind < t->step_count && t->steps[behind].of == t->steps[first].of) {
            t->passes = t->steps[behind].passes > t->passes ? t->steps[behind].passes : t->passes;
            behind++;
        }
        sum = sum_up(t, first, behind, &count);
        t->equivalent |= count > 0 && sum == 0;
        for (uint32_t s = first; s < behind && given > 0; s++)
            for (uint32_t i = 0; i < t->steps[s].gradients; i++) {
                uint64_t *bytes = &t->gradients[t->steps[s].first_gradient + i].bytes;

                *bytes = sum > 0 ? (uint64_t)((double)*bytes / (double)sum * (double)given) : given / count;
            }
        sum = given > 0 ? given : sum;
        t->gradient_bytes = sum > t->gradient_bytes ? sum : t->gradient_bytes;
    }
}

void gt_gradients_find(struct gt_training *t, const struct gt_workload *w, uint64_t given, uint32_t repeated)
{
    find_gradients(t, w);
    if (t->gradient_count == 0)
        gt_threads_join_alternating(w, t->main, t->joined);
    if (t->gradient_count == 0 && given > 0)
        spread_gradients(t, w, given);
    if (t->gradient_count > 0)
        qsort(t->gradients, t->gradient_count, sizeof *t->gradients, by_call);
    place_in_steps(t);
    updates_find(t, w);
    gt_passes_find(t, w, repeated);
    size_gradients(t, given);
}

/* Of a range without calls only the next call of its thread is known, which may be of the next step. */
static void place_gradients(struct gt_workload *to, const struct gt_training *t, const gt_call_index *places)
{
    for (uint32_t i = 0; i < t->gradient_count; i++) {
        struct gt_range *range = t->gradients[i].range != GT_NONE ? &to->ranges[t->gradients[i].range] : NULL;

        if (range != NULL && places[i] != GT_NONE) {
            range->end_call = places[i] + 1;
            if (range->first_call > range->end_call)
                range->first_call = range->end_call;
        }
    }
}

/* Once threads are joined, nothing tells any more which calls are the backward pass's. */
static void keep_spread(struct gt_workload *to, const struct gt_training *t, const gt_call_index *places)
{
    for (uint32_t i = 0; i < t->gradient_count; i++) {
        gt_range_index added;

        if (t->gradients[i].range != GT_NONE || places[i] == GT_NONE)
            continue;
        added = gt_workload_add_range(to);
        to->ranges[added].kind = GT_RANGE_OPERATOR;
        to->ranges[added].thread = t->main;
        to->ranges[added].name = gt_name(to, spread_name, sizeof spread_name - 1);
        to->ranges[added].first_call = places[i];
        to->ranges[added].end_call = places[i] + 1;
        to->ranges[added].gradient_bytes = t->gradients[i].bytes;
    }
}

void gt_gradients_place(struct gt_workload *to, const struct gt_training *t, const gt_call_index *places)
{
    place_gradients(to, t, places);
    keep_spread(to, t, places);
}
