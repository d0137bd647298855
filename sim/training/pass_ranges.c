#include "sim/training/pass_ranges.h"

#include <stdlib.h>

#include "sim/workload/pytorch_ranges.h"
#include "sim/workload/ranges.h"

/* Ranges that are wholly in a pass; by pass, in order. */
struct held {
    uint32_t *first; /* by pass: its first one among `ranges` */
    gt_range_index *ranges;
    gt_call_index *own_first, *own_behind; /* by range of `from`: the calls of its own thread; both the same: none */
    gt_call_index *gradient;               /* by range: the call behind which its gradient is ready; GT_NONE */
    gt_range_index *copy;                  /* by range of `from`: its copy that was added last; GT_NONE */
};

static gt_call_index *calls_behind_gradients(const struct gt_workload *from, const struct gt_training *t)
{
    gt_call_index *gradient = gt_realloc(NULL, from->range_count + 1ull, sizeof *gradient);

    for (gt_range_index i = 0; i < from->range_count; i++)
        gradient[i] = GT_NONE;
    for (uint32_t i = 0; i < t->gradient_count; i++)
        if (t->gradients[i].range != GT_NONE)
            gradient[t->gradients[i].range] = t->gradients[i].behind;
    return gradient;
}

/* The pass that has the call; GT_NONE: none. */
static uint32_t pass_of(const struct gt_pass_copies *passes, uint32_t count, gt_call_index call)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (passes[middle].behind <= call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && call >= passes[low].first ? low : GT_NONE;
}

/* The pass that holds all of the range.  One that makes a gradient ready is where that is so, though it may have no call. */
static uint32_t pass_around(const struct held *held, const struct gt_workload *from,
                            const struct gt_pass_copies *passes, uint32_t count, gt_range_index index)
{
    const struct gt_range *range = &from->ranges[index];
    uint32_t pass =
        pass_of(passes, count, held->gradient[index] != GT_NONE ? held->gradient[index] : range->first_call);

    if (pass == GT_NONE || range->kind == GT_RANGE_STEP ||
        (held->gradient[index] == GT_NONE && gt_range_makes_gradient(from, range))) /* of no step */
        return GT_NONE;
    return held->gradient[index] != GT_NONE || range->end_call <= passes[pass].behind ? pass : GT_NONE;
}

static void find_own_calls(struct held *held, const struct gt_workload *from, gt_range_index index)
{
    const struct gt_range *range = &from->ranges[index];
    gt_call_index first = range->first_call, behind = range->end_call;

    while (first < behind && !gt_range_has_call(from, range, first))
        first++;
    while (first < behind && !gt_range_has_call(from, range, behind - 1))
        behind--;
    held->own_first[index] = first;
    held->own_behind[index] = behind;
}

static void find_held(struct held *held, const struct gt_workload *from, const struct gt_training *t,
                      const struct gt_pass_copies *passes, uint32_t count)
{
    size_t ranges = from->range_count + (size_t)1;
    uint32_t *pass = gt_realloc(NULL, ranges, sizeof *pass);

    *held = (struct held){
        .first = gt_calloc(count + 2ull, sizeof *held->first),
        .ranges = gt_realloc(NULL, ranges, sizeof *held->ranges),
        .own_first = gt_realloc(NULL, ranges, sizeof *held->own_first),
        .own_behind = gt_realloc(NULL, ranges, sizeof *held->own_behind),
        .gradient = calls_behind_gradients(from, t),
        .copy = gt_realloc(NULL, ranges, sizeof *held->copy),
    };
    for (gt_range_index i = 0; i < from->range_count; i++) {
        held->copy[i] = GT_NONE;
        pass[i] = pass_around(held, from, passes, count, i);
        if (pass[i] != GT_NONE)
            held->first[pass[i] + 2]++;
        find_own_calls(held, from, i);
    }
    for (uint32_t i = 0; i < count; i++)
        held->first[i + 2] += held->first[i + 1];
    for (gt_range_index i = 0; i < from->range_count; i++)
        if (pass[i] != GT_NONE)
            held->ranges[held->first[pass[i] + 1]++] = i;
    free(pass);
}

static void free_held(struct held *held)
{
    free(held->first);
    free(held->ranges);
    free(held->own_first);
    free(held->own_behind);
    free(held->gradient);
    free(held->copy);
}

/* The range once more, for the copy whose calls are at places[]. */
static void add_copy(struct held *held, struct gt_workload *to, const struct gt_pass_copies *pass,
                     const gt_call_index *places, gt_range_index index)
{
    gt_call_index first = held->own_first[index], behind = held->own_behind[index], gradient = held->gradient[index];
    gt_call_index after = places[pass->behind - 1 - pass->first] + 1;
    gt_range_index added = gt_workload_add_range(to);
    struct gt_range *range = &to->ranges[added];

    *range = to->ranges[index];
    range->start_ps = range->duration_ps = GT_TIME_NONE;
    range->parent =
        range->parent != GT_NONE && held->copy[range->parent] != GT_NONE ? held->copy[range->parent] : range->parent;
    range->first_call = first >= pass->first && first < pass->behind ? places[first - pass->first] : after;
    range->end_call = behind > first ? places[behind - 1 - pass->first] + 1 : range->first_call;
    if (gradient != GT_NONE) {
        range->end_call = places[gradient - pass->first] + 1;
        if (range->first_call > range->end_call)
            range->first_call = range->end_call;
    }
    held->copy[index] = added;
}

/* Annotations of whole steps, and steps. */
static void hold_all(struct gt_workload *to, const struct gt_workload *from, const struct gt_training *t,
                     const struct gt_pass_copies *passes, uint32_t count)
{
    for (gt_range_index i = 0; i < from->range_count; i++) {
        const struct gt_range *range = &from->ranges[i];
        uint32_t pass = pass_of(passes, count, range->first_call);
        uint32_t step = pass != GT_NONE ? gt_training_step_of(t, range->first_call) : GT_NONE;

        if (step != GT_NONE && range->first_call <= t->gradients[t->steps[step].first_gradient].behind &&
            (range->kind == GT_RANGE_STEP ? range->end_call > range->first_call
                                          : range->end_call > passes[pass].behind))
            to->ranges[i].first_call = passes[pass].places[range->first_call - passes[pass].first];
    }
}

void gt_pass_ranges_add(struct gt_workload *to, const struct gt_workload *from, const struct gt_training *t,
                        const struct gt_pass_copies *passes, uint32_t count, uint32_t more)
{
    struct held held;

    if (more == 0)
        return;
    hold_all(to, from, t, passes, count);
    find_held(&held, from, t, passes, count);
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t copy = 0; copy < more; copy++)
            for (uint32_t i = held.first[p]; i < held.first[p + 1]; i++)
                add_copy(&held, to, &passes[p],
                         &passes[p].places[copy * (size_t)(passes[p].behind - passes[p].first)], held.ranges[i]);
    free_held(&held);
}
