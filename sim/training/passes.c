#include "sim/training/passes.h"

#include <stdlib.h>

#include "sim/workload/ranges.h"

/* By call: how many before it submit work that no node of a backward pass asked for; one more than calls.  NULL: the trace has
 * no such nodes. */
static uint32_t *forward_before(const struct gt_training *t, const struct gt_workload *w)
{
    uint32_t *before = gt_calloc(w->call_count + 1ull, sizeof *before);
    bool *backward = gt_calloc(w->call_count + 1ull, sizeof *backward), any = false;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (!gt_range_is_backward_node(w, range))
            continue;
        any = true;
        for (gt_call_index call = range->first_call; call < range->end_call; call++)
            backward[call] |= w->calls[call].thread == range->thread;
    }
    for (gt_call_index i = 0; i < w->call_count; i++)
        before[i + 1] = before[i] + (w->calls[i].ops > 0 && t->joined[w->calls[i].thread] && !backward[i]);
    free(backward);
    if (!any) {
        free(before);
        before = NULL;
    }
    return before;
}

/* How many gradients from `first` on are ready before the forward pass goes on. */
static uint32_t length(const struct gt_gradient *first, uint32_t most, const uint32_t *before)
{
    uint32_t count = 1;

    while (count < most && before[first[count].behind + 1] == before[first[count - 1].behind + 1])
        count++;
    return count;
}

static bool equivalent(const struct gt_gradient *some, const struct gt_gradient *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (some[i].bytes != others[i].bytes)
            return false;
    return true;
}

static uint32_t passes_of(const struct gt_gradient *gradients, uint32_t count, const uint32_t *before)
{
    uint32_t one = length(gradients, count, before);

    for (uint32_t first = one; first < count; first += one)
        if (count - first < one || length(&gradients[first], count - first, before) != one ||
            !equivalent(gradients, &gradients[first], one))
            return 1;
    return count / one;
}

enum { PARTS_BESIDE = 16, FEWEST_ALIKE = 2 };

/* The longest pass of another part of the recorded step, one nearby, that this step's begin with.  One gradient of the same size, a
 * bias's say, tells nothing. */
static uint32_t find_through(const struct gt_training *t, uint32_t s)
{
    const struct gt_training_step *step = &t->steps[s];
    const struct gt_gradient *gradients = &t->gradients[step->first_gradient];
    uint32_t first = s, longest = FEWEST_ALIKE - 1;

    while (first > 0 && s - first < PARTS_BESIDE && t->steps[first - 1].of == step->of)
        first--;
    for (uint32_t i = first; i < t->step_count && i <= s + PARTS_BESIDE && t->steps[i].of == step->of; i++) {
        const struct gt_training_step *other = &t->steps[i];
        uint32_t count = other->gradients / other->passes;

        if (count > longest && count < step->gradients / step->passes && gradients->bytes > 0 &&
            equivalent(gradients, &t->gradients[other->first_gradient], count))
            longest = count;
    }
    return longest >= FEWEST_ALIKE ? longest : 0;
}

void gt_passes_find(struct gt_training *t, const struct gt_workload *w, uint32_t repeated)
{
    uint32_t *before = forward_before(t, w);

    t->repeated = repeated > 0 ? repeated : 1;
    t->untold = before == NULL;
    for (uint32_t s = 0; s < t->step_count; s++) {
        struct gt_training_step *step = &t->steps[s];
        uint32_t once = step->gradients / t->repeated;

        step->passes = once > 0 && step->gradients % t->repeated == 0 ? t->repeated : 1;
        if (before != NULL && step->passes == t->repeated && once > 0)
            step->passes *= passes_of(&t->gradients[step->first_gradient], once, before);
    }
    for (uint32_t s = 0; s < t->step_count; s++)
        t->steps[s].through = find_through(t, s);
    free(before);
}

void gt_passes_tell_untold(struct gt_scenario *scenario, const struct gt_training *t)
{
    if (t->untold)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "Assumes one backward pass per recorded step, because PyTorch's operators were not recorded");
}

static bool is_part(const struct gt_training *t, uint32_t step)
{
    return (step > 0 && t->steps[step - 1].of == t->steps[step].of) ||
           (step + 1 < t->step_count && t->steps[step + 1].of == t->steps[step].of);
}

void gt_passes_split(struct gt_training *t)
{
    struct gt_training_step *parts = NULL;
    uint32_t count = 0, kept;

    t->passes = 1;
    for (uint32_t s = 0; s < t->step_count; s++) {
        struct gt_training_step rest = t->steps[s];

        parts = gt_realloc(parts, count + (size_t)rest.passes, sizeof *parts);
        if (!is_part(t, s)) {
            t->passes = rest.passes > t->passes ? rest.passes : t->passes;
            parts[count++] = rest;
            continue;
        }
        kept = rest.passes - rest.passes / t->repeated;
        rest.gradients /= rest.passes;
        for (rest.passes = 1;
             rest.first_gradient + rest.gradients < t->steps[s].first_gradient + t->steps[s].gradients;) {
            struct gt_training_step part = rest;

            part.kept |= kept > 0;
            kept -= kept > 0;
            rest.first_gradient += rest.gradients;
            rest.first = part.behind = t->gradients[rest.first_gradient - 1].behind + 1;
            parts[count++] = part;
        }
        parts[count++] = rest;
    }
    gt_training_replace_steps(t, parts, count);
}
