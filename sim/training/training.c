#include "sim/training/training.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/rewrite/repeats.h"
#include "sim/training/gradients.h"
#include "sim/training/threads.h"

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
    t->steps[t->step_count] = (struct gt_training_step){ .first = first, .behind = behind, .of = t->step_count };
    t->step_count++;
}

static void find_steps(struct gt_training *t, const struct gt_workload *w)
{
    gt_call_index behind = 0;

    t->main = GT_NONE;
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->kind != GT_RANGE_STEP || range->first_call < behind || range->end_call <= range->first_call)
            continue;
        if (t->main == GT_NONE)
            t->main = range->thread;
        if (range->thread != t->main)
            continue;
        behind = range->end_call;
        add_step(t, range->first_call, behind);
    }
    if (t->main == GT_NONE) {
        t->main = gt_repeats_busiest_thread(w);
        add_step(t, 0, w->call_count);
    }
    t->main = gt_threads_asking(w, t->main);
}

uint32_t gt_training_step_of(const struct gt_training *t, gt_call_index call)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, t->step_count, t->steps[middle].behind <= call);
    return low < t->step_count && call >= t->steps[low].first ? low : GT_NONE;
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

/* Batch norms of a pass, each an operator of this name once. */
static uint32_t count_normalisations(const struct gt_training *t, const struct gt_workload *w)
{
    uint32_t count = 0;

    for (gt_range_index i = 0; i < w->range_count; i++)
        count += strcmp(gt_name_text(w, w->ranges[i].name), "aten::batch_norm") == 0;
    return count / t->step_count / t->passes;
}

void gt_training_replace_steps(struct gt_training *t, struct gt_training_step *steps, uint32_t count)
{
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < steps[s].gradients; i++)
            t->gradients[steps[s].first_gradient + i].step = s;
    free(t->steps);
    t->steps = steps;
    t->step_count = count;
}

uint32_t gt_training_last_pass(const struct gt_training_step *step)
{
    return step->first_gradient + step->gradients - step->gradients / step->passes;
}

/* All but how large gradients are, which may not be known. */
static int find(struct gt_training *t, const struct gt_scenario *scenario, struct gt_error *error)
{
    const struct gt_workload *w = scenario->workload;

    memset(t, 0, sizeof *t);
    t->joined = gt_calloc(w->thread_count + 1ull, sizeof *t->joined);
    if (find_gpu(w, error) != 0)
        return -1;
    find_steps(t, w);
    t->joined[t->main] = true;
    gt_gradients_find(t, w, scenario->host->gradient_bytes, scenario->repeated_passes);
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
        return gt_error_set(
            error, "the trace is of one rank of several and has collectives; record the step on one GPU alone");
    if (find(t, scenario, error) != 0)
        return -1;
    if (t->gradient_bytes == 0)
        return gt_error_set(error,
                            "the trace does not say how large gradients are: record with record_shapes=True, or say "
                            "it with --gradients MIB (of a step, all together)");
    return 0;
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
    to->before_ps = to->before_ps > to->kept_ps ? to->before_ps : to->kept_ps; /* a loader did not wait for it */
    to->thread = t->main;
    *last = call;
    return added;
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
    gt_gradients_place(to, t, places);
    free(places);
    return to;
}

/* Are there threads to be joined, or gradients that no range has yet, which more than one change may ask for? */
static bool has_news(const struct gt_training *t, const struct gt_workload *w)
{
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        if (t->joined[i] && i != t->main)
            return true;
    return t->gradient_count > 0 && t->gradients[0].range == GT_NONE;
}

bool gt_training_join_threads(struct gt_scenario *scenario)
{
    const struct gt_workload *w = scenario->workload;
    gt_call_index last = GT_NONE;
    struct gt_rebuild rebuild;
    struct gt_training t;
    struct gt_error error;
    bool found = find(&t, scenario, &error) == 0 && has_news(&t, w);

    if (found) {
        gt_rebuild_begin(&rebuild, w);
        for (gt_call_index i = 0; i < w->call_count; i++)
            gt_training_copy(&rebuild, &t, i, &last);
        gt_scenario_replace(scenario, gt_training_end(&rebuild, &t));
    }
    gt_training_free(&t);
    return found;
}
