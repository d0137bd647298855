#include "sim/training/training.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/rewrite/repeats.h"
#include "sim/workload/ranges.h"

enum { SPREAD = 32 }; /* so many gradients where the trace has none */

/* Importers count this warning of kernels of collectives whose other ranks were not recorded (traces/ranks). */
static bool is_one_of_several(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->warning_count; i++)
        if (strcmp(w->warnings[i].kind, "collectives-alone") == 0)
            return true;
    return false;
}

static int find_gpu(const struct gt_workload *w, struct gt_error *error)
{
    gt_gpu_index gpu = GT_NONE;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        gt_gpu_index own = w->streams[w->ops[i].stream].gpu;

        if (gpu != GT_NONE && own != gpu)
            return gt_error_set(error, "the trace has several GPUs already; record the step on one");
        gpu = own;
    }
    return gpu != GT_NONE ? 0 : gt_error_set(error, "the trace has no work on a GPU");
}

static void add_step(struct gt_training *t, gt_call_index first, gt_call_index behind)
{
    t->steps = gt_realloc(t->steps, t->step_count + 1ull, sizeof *t->steps);
    t->steps[t->step_count++] = (struct gt_training_step){ .first = first, .behind = behind };
}

static void find_steps(struct gt_training *t, const struct gt_workload *w)
{
    gt_call_index behind = 0;

    t->main = GT_NONE;
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->kind != GT_RANGE_STEP || range->first_call < behind || range->behind_call <= range->first_call)
            continue;
        if (t->main == GT_NONE)
            t->main = range->thread;
        if (range->thread != t->main)
            continue;
        behind = range->behind_call;
        add_step(t, range->first_call, behind);
    }
    if (t->main == GT_NONE) {
        t->main = gt_repeats_busiest_thread(w);
        add_step(t, 0, w->call_count);
    }
}

uint32_t gt_training_step_of(const struct gt_training *t, gt_call_index call)
{
    uint32_t low = 0, high = t->step_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (t->steps[middle].behind <= call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->step_count && call >= t->steps[low].first ? low : GT_NONE;
}

/* The last call that the range's thread made before the range was over. */
static gt_call_index last_call(const struct gt_thread_calls *threads, const struct gt_range *range)
{
    uint32_t low = threads->first[range->thread], high = threads->first[range->thread + 1], first = low;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (threads->calls[middle] < range->behind_call)
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

bool gt_range_makes_gradient(const struct gt_workload *w, const struct gt_range *range)
{
    return range->gradient_bytes > 0 || strcmp(gt_name_text(w, range->name), "torch::autograd::AccumulateGrad") == 0;
}

static void find_gradients(struct gt_training *t, const struct gt_workload *w)
{
    struct gt_thread_calls threads;
    uint32_t room = 0;

    gt_thread_calls_find(&threads, w);
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];
        gt_call_index behind = gt_range_makes_gradient(w, range) ? last_call(&threads, range) : GT_NONE;
        uint32_t step = behind != GT_NONE ? gt_training_step_of(t, behind) : GT_NONE;

        if (step == GT_NONE)
            continue;
        add_gradient(t, &room, behind, range->gradient_bytes, i, step);
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

/* Given and recorded sizes: each keeps its share; without recorded ones, all have the same. */
static void size_gradients(struct gt_training *t, uint64_t given)
{
    for (uint32_t i = 0; i < t->gradient_count; i++) {
        struct gt_training_step *step = &t->steps[t->gradients[i].step];

        if (step->gradients++ == 0)
            step->first_gradient = i;
    }
    for (uint32_t s = 0; s < t->step_count; s++) {
        struct gt_gradient *first = &t->gradients[t->steps[s].first_gradient];
        uint32_t count = t->steps[s].gradients;
        uint64_t sum = 0;

        for (uint32_t i = 0; i < count; i++)
            sum += first[i].bytes;
        t->alike |= count > 0 && sum == 0;
        for (uint32_t i = 0; i < count && given > 0; i++)
            first[i].bytes =
                sum > 0 ? (uint64_t)((double)first[i].bytes / (double)sum * (double)given) : given / count;
        sum = given > 0 ? given : sum;
        t->gradient_bytes = sum > t->gradient_bytes ? sum : t->gradient_bytes;
    }
}

/* The stream that most kernels of the gradients' calls are in. */
static gt_stream_index find_stream(const struct gt_training *t, const struct gt_workload *w)
{
    uint32_t *kernels = gt_calloc(w->stream_count + 1ull, sizeof *kernels);
    gt_stream_index most = 0;

    for (gt_op_index i = 0; i < w->op_count; i++)
        kernels[w->ops[i].stream] += w->ops[i].kind == GT_OP_KERNEL && t->joined[w->calls[w->ops[i].call].thread];
    for (gt_stream_index i = 1; i < w->stream_count; i++)
        most = kernels[i] > kernels[most] ? i : most;
    free(kernels);
    return most;
}

/* Batch norms of a step, each an operator of this name once. */
static uint32_t count_normalisations(const struct gt_training *t, const struct gt_workload *w)
{
    uint32_t count = 0;

    for (gt_range_index i = 0; i < w->range_count; i++)
        count += strcmp(gt_name_text(w, w->ranges[i].name), "aten::batch_norm") == 0;
    return count / t->step_count;
}

static int find(struct gt_training *t, const struct gt_scenario *scenario, struct gt_error *error)
{
    const struct gt_workload *w = scenario->workload;
    uint64_t given = scenario->host->gradient_bytes;

    memset(t, 0, sizeof *t);
    t->joined = gt_calloc(w->thread_count + 1ull, sizeof *t->joined);
    if (find_gpu(w, error) != 0)
        return -1;
    find_steps(t, w);
    t->joined[t->main] = true;
    find_gradients(t, w);
    if (t->gradient_count == 0 && given > 0)
        spread_gradients(t, w, given);
    if (t->gradient_count > 0)
        qsort(t->gradients, t->gradient_count, sizeof *t->gradients, by_call);
    size_gradients(t, given);
    if (t->gradient_bytes == 0)
        return gt_error_set(error,
                            "the trace does not say how large gradients are: record with record_shapes=True, or say "
                            "it with --gradients MIB (of a step, all together)");
    t->stream = find_stream(t, w);
    t->normalisations = count_normalisations(t, w);
    return 0;
}

int gt_training_find(struct gt_training *t, const struct gt_scenario *scenario, struct gt_error *error)
{
    memset(t, 0, sizeof *t);
    if (find_gpu(scenario->workload, error) != 0)
        return -1;
    if (is_one_of_several(scenario->workload)) /* before anything is asked for that would not help */
        return gt_error_set(error, "the trace is one rank's of several, collectives and all; record the step on one "
                                   "GPU alone");
    return find(t, scenario, error);
}

void gt_training_free(struct gt_training *t)
{
    free(t->gradients);
    free(t->steps);
    free(t->joined);
    memset(t, 0, sizeof *t);
}

gt_call_index gt_training_copy(struct gt_rebuild *rebuild, const struct gt_training *t, gt_call_index call,
                               gt_call_index *last)
{
    const struct gt_call *from = &rebuild->from->calls[call];
    gt_call_index added = gt_rebuild_copy(rebuild, call);
    struct gt_call *to = &rebuild->to->calls[added];

    if (!t->joined[from->thread])
        return added;
    if (*last != GT_NONE && rebuild->from->calls[*last].thread != from->thread) /* not its own work: it waited */
        to->before_ps = from->handover_ps != GT_TIME_NONE ? from->handover_ps : 0;
    to->thread = t->main;
    *last = call;
    return added;
}

/* Of a range without calls only the next call of its thread is known, which may be of the next step. */
static void place_gradients(struct gt_workload *to, const struct gt_training *t, const gt_call_index *places)
{
    for (uint32_t i = 0; i < t->gradient_count; i++) {
        struct gt_range *range = t->gradients[i].range != GT_NONE ? &to->ranges[t->gradients[i].range] : NULL;

        if (range != NULL && places[i] != GT_NONE) {
            range->behind_call = places[i] + 1;
            if (range->first_call > range->behind_call)
                range->first_call = range->behind_call;
        }
    }
}

struct gt_workload *gt_training_end(struct gt_rebuild *rebuild, const struct gt_training *t)
{
    gt_call_index *places = gt_calloc(t->gradient_count + 1ull, sizeof *places);
    struct gt_workload *to;

    for (uint32_t i = 0; i < t->gradient_count; i++)
        places[i] = rebuild->new_call[t->gradients[i].behind];
    to = gt_rebuild_end(rebuild);
    for (gt_range_index i = 0; i < to->range_count; i++)
        if (t->joined[to->ranges[i].thread])
            to->ranges[i].thread = t->main;
    place_gradients(to, t, places);
    free(places);
    return to;
}

static bool has_joined(const struct gt_training *t, const struct gt_workload *w)
{
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        if (t->joined[i] && i != t->main)
            return true;
    return false;
}

void gt_training_join_threads(struct gt_scenario *scenario)
{
    const struct gt_workload *w = scenario->workload;
    gt_call_index last = GT_NONE;
    struct gt_rebuild rebuild;
    struct gt_training t;
    struct gt_error error;

    if (find(&t, scenario, &error) == 0 && has_joined(&t, w)) {
        gt_rebuild_begin(&rebuild, w);
        for (gt_call_index i = 0; i < w->call_count; i++)
            gt_training_copy(&rebuild, &t, i, &last);
        gt_scenario_replace(scenario, gt_training_end(&rebuild, &t));
    }
    gt_training_free(&t);
}
