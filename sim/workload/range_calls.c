/* Which calls a range holds: found by time or by number, kept when calls move. */
#include "sim/workload/range_calls.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"

/* Calls by thread and by time. */
struct call_times {
    const struct gt_workload *workload;
    struct gt_thread_calls threads;
    gt_time_ps *start_ps; /* of threads.calls[i]; of one without, that of the one before it in its thread */
    uint32_t *by_start;   /* all calls with a start, by it; only where there are steps */
    uint32_t by_start_count;
    uint32_t *first_from;  /* the lowest call among by_start[i ...] */
    uint32_t *last_before; /* the highest among by_start[... i - 1] */
};

void gt_thread_calls_find(struct gt_thread_calls *threads, const struct gt_workload *w)
{
    uint32_t *next;

    threads->first = gt_calloc(w->thread_count + 2ull, sizeof *threads->first);
    threads->calls = gt_realloc(NULL, w->call_count + 1ull, sizeof *threads->calls);
    next = threads->first + 1; /* one place on: once filled, each is where the next thread's begin */
    for (uint32_t i = 0; i < w->call_count; i++)
        next[w->calls[i].thread + 1]++;
    for (uint32_t i = 0; i < w->thread_count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < w->call_count; i++)
        threads->calls[next[w->calls[i].thread]++] = i;
}

void gt_thread_calls_free(struct gt_thread_calls *threads)
{
    free(threads->first);
    free(threads->calls);
}

static void find_times(struct call_times *times)
{
    const struct gt_workload *w = times->workload;

    gt_thread_calls_find(&times->threads, w);
    times->start_ps = gt_realloc(NULL, w->call_count + 1ull, sizeof *times->start_ps);
    for (uint32_t thread = 0; thread < w->thread_count; thread++) {
        gt_time_ps last_ps = 0;

        for (uint32_t i = times->threads.first[thread]; i < times->threads.first[thread + 1]; i++) {
            gt_time_ps start_ps = w->calls[times->threads.calls[i]].start_ps;

            times->start_ps[i] = last_ps = start_ps == GT_TIME_NONE ? last_ps : start_ps;
        }
    }
}

static int compare_starts(const void *left, const void *right, void *user)
{
    const struct gt_workload *w = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    GT_ORDER(w->calls[a].start_ps, w->calls[b].start_ps);
    GT_ORDER(a, b);
    return 0;
}

static void order_by_start(struct call_times *times)
{
    const struct gt_workload *w = times->workload;
    uint32_t *order = gt_realloc(NULL, w->call_count + 1ull, sizeof *order);
    uint32_t count = 0, first = w->call_count, last = 0;
    bool sorted = true;

    for (uint32_t i = 0; i < w->call_count; i++) {
        if (w->calls[i].start_ps == GT_TIME_NONE)
            continue;
        sorted = sorted && (count == 0 || w->calls[order[count - 1]].start_ps <= w->calls[i].start_ps);
        order[count++] = i;
    }
    if (!sorted)
        qsort_r(order, count, sizeof *order, compare_starts, (void *)w);
    times->first_from = gt_realloc(NULL, count + 1ull, sizeof *times->first_from);
    times->last_before = gt_realloc(NULL, count + 1ull, sizeof *times->last_before);
    times->first_from[count] = first;
    times->last_before[0] = last;
    for (uint32_t i = count; i-- > 0;)
        times->first_from[i] = first = order[i] < first ? order[i] : first;
    for (uint32_t i = 0; i < count; i++)
        times->last_before[i + 1] = last = order[i] > last ? order[i] : last;
    times->by_start = order;
    times->by_start_count = count;
}

static void free_times(struct call_times *times)
{
    gt_thread_calls_free(&times->threads);
    free(times->start_ps);
    free(times->by_start);
    free(times->first_from);
    free(times->last_before);
}

/* The first of the places low..high - 1 of a thread whose call does not start before `time_ps`. */
static uint32_t place_at(const struct call_times *times, uint32_t low, uint32_t high, gt_time_ps time_ps)
{
    low = GT_LOWER_BOUND(middle, low, high, times->start_ps[middle] < time_ps);
    return low;
}

static uint32_t step_place_at(const struct call_times *times, gt_time_ps time_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, times->by_start_count,
                                  times->workload->calls[times->by_start[middle]].start_ps < time_ps);
    return low;
}

/* The calls that start within a step.  Where calls of several threads do not stand in the order of their starts, these
 * are bounds, and gt_range_has_call() looks at the times. */
static void find_step_calls(const struct call_times *times, struct gt_range *range)
{
    uint32_t begin = step_place_at(times, range->start_ps);
    uint32_t end = step_place_at(times, gt_range_measured_end(range));

    range->first_call = range->end_call = times->first_from[begin];
    if (end > begin)
        range->end_call = times->last_before[end] + 1;
}

static void find_calls(const struct call_times *times, struct gt_range *range)
{
    uint32_t begin = times->threads.first[range->thread], end = times->threads.first[range->thread + 1], behind;
    uint32_t calls = times->workload->call_count;

    begin = place_at(times, begin, end, range->start_ps);
    behind = place_at(times, begin, end, gt_range_measured_end(range));
    range->first_call = range->end_call = begin < end ? times->threads.calls[begin] : calls;
    if (behind > begin)
        range->end_call = times->threads.calls[behind - 1] + 1;
}

/* The first place of a thread whose call is not before `call`. */
static uint32_t place_of(const struct gt_thread_calls *threads, gt_thread_index thread, gt_call_index call)
{
    uint32_t low =
        GT_LOWER_BOUND(middle, threads->first[thread], threads->first[thread + 1], threads->calls[middle] < call);
    return low;
}

/* `count` calls from first_call on. */
static void take_calls(const struct call_times *times, struct gt_range *range, uint32_t count)
{
    uint32_t calls = times->workload->call_count, end = times->threads.first[range->thread + 1], place;

    if (range->kind == GT_RANGE_STEP) {
        if (count > calls - range->first_call)
            count = calls - range->first_call;
        range->end_call = range->first_call + count;
        return;
    }
    place = place_of(&times->threads, range->thread, range->first_call);
    range->first_call = range->end_call = place < end ? times->threads.calls[place] : calls;
    if (count > 0 && place < end)
        range->end_call = times->threads.calls[count < end - place ? place + count - 1 : end - 1] + 1;
}

void gt_ranges_find_calls(struct gt_workload *w, const uint32_t *calls)
{
    struct call_times times = { .workload = w };

    find_times(&times);
    for (uint32_t i = 0; i < w->range_count; i++) {
        struct gt_range *range = &w->ranges[i];

        if (calls != NULL && calls[i] != GT_NONE) {
            take_calls(&times, range, calls[i]);
        } else if (!gt_range_is_measured(range)) {
            take_calls(&times, range, 0);
        } else if (range->kind == GT_RANGE_STEP) {
            if (times.by_start == NULL)
                order_by_start(&times);
            find_step_calls(&times, range);
        } else {
            find_calls(&times, range);
        }
    }
    free_times(&times);
}

uint32_t *gt_ranges_count_calls(const struct gt_workload *w)
{
    struct gt_thread_calls threads;
    uint32_t *count = gt_realloc(NULL, w->range_count, sizeof *count);

    gt_thread_calls_find(&threads, w);
    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->kind == GT_RANGE_STEP)
            count[i] = range->end_call - range->first_call;
        else
            count[i] = place_of(&threads, range->thread, range->end_call) -
                       place_of(&threads, range->thread, range->first_call);
    }
    gt_thread_calls_free(&threads);
    return count;
}

bool gt_range_has_call(const struct gt_workload *w, const struct gt_range *range, gt_call_index index)
{
    const struct gt_call *call = &w->calls[index];

    if (index < range->first_call || index >= range->end_call)
        return false;
    if (range->kind != GT_RANGE_STEP)
        return call->thread == range->thread;
    if (w->threads[call->thread].process != w->threads[range->thread].process &&
        w->threads[call->thread].process != 0) /* 0: nobody knows whose it is */
        return false;
    if (!gt_range_is_measured(range) || call->start_ps == GT_TIME_NONE)
        return true;
    return call->start_ps >= range->start_ps && call->start_ps < gt_range_measured_end(range);
}

void gt_ranges_renumber(struct gt_workload *w, const gt_call_index *place)
{
    for (uint32_t i = 0; i < w->range_count; i++) {
        w->ranges[i].first_call = place[w->ranges[i].first_call];
        w->ranges[i].end_call = place[w->ranges[i].end_call];
    }
}

/* next[i]: where the first of the calls i, i + 1, ... that is still there is now; malloced. */
static gt_call_index *next_kept(const struct gt_workload *from, const gt_call_index *new_call, uint32_t calls)
{
    gt_call_index *next = gt_realloc(NULL, from->call_count + 1ull, sizeof *next);

    next[from->call_count] = calls;
    for (uint32_t i = from->call_count; i-- > 0;)
        next[i] = new_call[i] == GT_NONE ? next[i + 1] : new_call[i];
    return next;
}

void gt_ranges_follow(struct gt_workload *to, const struct gt_workload *from, const gt_call_index *new_call)
{
    gt_call_index *next = next_kept(from, new_call, to->call_count);

    for (uint32_t i = 0; i < to->range_count; i++) {
        const struct gt_range *old = &from->ranges[i];
        struct gt_range *range = &to->ranges[i];

        range->first_call = range->end_call = next[old->first_call];
        for (uint32_t call = old->first_call, found = 0; call < old->end_call; call++) {
            if (new_call[call] == GT_NONE || !gt_range_has_call(from, old, call))
                continue;
            if (found++ == 0 || new_call[call] < range->first_call)
                range->first_call = new_call[call];
            if (found == 1 || new_call[call] >= range->end_call)
                range->end_call = new_call[call] + 1;
        }
    }
    free(next);
}
