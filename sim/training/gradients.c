#include "sim/training/gradients.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/training/passes.h"
#include "sim/training/threads.h"
#include "sim/training/updates.h"
#include "sim/workload/pytorch_ranges.h"
#include "sim/workload/ranges.h"

enum { SPREAD = 32 };                                        /* so many gradients where the trace has none, */
static const char spread_name[] = "gradient, evenly spread"; /* as ranges from then on */

/* The last call that the range's thread made before the range was over. */
static gt_call_index last_call(const struct gt_thread_calls *threads, const struct gt_range *range)
{
    uint32_t low = threads->first[range->thread], high = threads->first[range->thread + 1], first = low;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (threads->calls[middle] < range->end_call)
            low = middle + 1;
        else
            high = middle;
    }
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
    gt_updates_find(t, w);
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
