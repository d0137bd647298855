#include "sim/baseline/kept_work.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/ranges.h"

/* Stretches of a thread's time, rising, none within another. */
struct stretch {
    gt_thread_index thread;
    gt_time_ps start_ps, end_ps;
};
struct stretches {
    struct stretch *list;
    uint32_t count, room;
};

/* By call, one more: how many calls before it submit work. */
static uint32_t *count_submits(const struct gt_workload *w)
{
    uint32_t *before = gt_calloc(w->call_count + 1ull, sizeof *before);

    for (gt_call_index i = 0; i < w->call_count; i++)
        before[i + 1] = before[i] + (w->calls[i].ops > 0);
    return before;
}

/* Does nobody of its process submit work within it?  Clearing gradients is a part of the step that a graph has. */
static bool is_kept(const struct gt_workload *w, const struct gt_range *range, const uint32_t *submits)
{
    static const char optimizer[] = "Optimizer."; /* as PyTorch calls its ranges */
    bool loads = gt_is_data_loader(gt_name_text(w, range->name));

    if ((range->kind != GT_RANGE_ANNOTATION && range->kind != GT_RANGE_NVTX) || !gt_range_is_measured(range) ||
        range->flags & GT_RANGE_UNNESTED ||
        strncmp(gt_name_text(w, range->name), optimizer, sizeof optimizer - 1) == 0)
        return false;
    if (submits[range->end_call] == submits[range->first_call])
        return true;
    /* A thread that waits for another one's launches, as for a backward pass, does nothing of its own; a loader does, whoever
     * launches meanwhile. */
    for (gt_call_index i = range->first_call; i < range->end_call; i++)
        if (w->calls[i].ops > 0 &&
            (w->calls[i].thread == range->thread ||
             (!loads && w->threads[w->calls[i].thread].process == w->threads[range->thread].process)))
            return false;
    return true;
}

/* Ranges stand by their start, outer ones before inner ones. */
static void find_stretches(struct stretches *stretches, const struct gt_workload *w)
{
    gt_time_ps *ends_ps = gt_calloc(w->thread_count + 1ull, sizeof *ends_ps);
    uint32_t *submits = count_submits(w);

    memset(stretches, 0, sizeof *stretches);
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (!is_kept(w, range, submits) || range->start_ps < ends_ps[range->thread])
            continue;
        gt_array_grow(stretches->list, stretches->count, stretches->room);
        ends_ps[range->thread] = gt_range_measured_end(range);
        stretches->list[stretches->count++] =
            (struct stretch){ range->thread, range->start_ps, ends_ps[range->thread] };
    }
    free(ends_ps);
    free(submits);
}

/* How much of the thread's time between the two lies in its stretches; *from goes on to the first that may still matter. */
static gt_time_ps within_ps(const struct stretches *stretches, gt_thread_index thread, gt_time_ps start_ps,
                            gt_time_ps end_ps, uint32_t *from)
{
    gt_time_ps sum_ps = 0;

    for (uint32_t i = *from; i < stretches->count && stretches->list[i].start_ps < end_ps; i++) {
        const struct stretch *stretch = &stretches->list[i];
        gt_time_ps first_ps = stretch->start_ps > start_ps ? stretch->start_ps : start_ps;
        gt_time_ps last_ps = stretch->end_ps < end_ps ? stretch->end_ps : end_ps;

        if (i == *from && (stretch->thread != thread || stretch->end_ps <= start_ps))
            (*from)++;
        else if (stretch->thread == thread && last_ps > first_ps)
            sum_ps += last_ps - first_ps;
    }
    return sum_ps;
}

void gt_state_kept_work(struct gt_workload *stated, const struct gt_workload *w)
{
    uint32_t *from = gt_calloc(w->thread_count + 1ull, sizeof *from);
    struct stretches stretches;

    find_stretches(&stretches, w);
    for (gt_call_index i = 0; i < w->call_count && stretches.count > 0; i++) {
        struct gt_call *call = &stated->calls[i];
        gt_time_ps start_ps = w->calls[i].start_ps;

        if (start_ps == GT_TIME_NONE || call->before_ps > start_ps)
            continue;
        call->kept_ps =
            within_ps(&stretches, call->thread, start_ps - call->before_ps, start_ps, &from[call->thread]);
    }
    free(from);
    free(stretches.list);
}
