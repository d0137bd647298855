/* Rows of the same calls, joined to steps. A program does something between its steps (a loop's turn, a profiler's mark,
 * data fetched), and something else or nothing between the layers of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/rewrite/repeats.h"
#include "sim/workload/host_waits.h"

/* So often as this may chance alone make a pattern as regular. */
static const double chance = 0.05;
enum {
    LEAST_STEPS_SEEN = 2, /* boundaries of steps, at the least */
    MOST_ROWS = 4096      /* each length of a step is tried on all of them */
};

/* The host's own work before row i, from 1 on. */
static gt_time_ps *find_gaps(const struct gt_repeats *repeats, const struct gt_workload *w)
{
    gt_time_ps *gaps = gt_calloc(repeats->count + 1ull, sizeof *gaps);

    for (uint32_t i = 1; i < repeats->count; i++)
        gaps[i] = w->calls[repeats->first_call[i]].before_ps;
    return gaps;
}

static double log_choose(double of, double taken)
{
    return lgamma(of + 1) - lgamma(taken + 1) - lgamma(of - taken + 1);
}

/* How many of the sorted gaps are at least so long. */
static uint32_t count_from(const uint64_t *sorted, uint32_t count, gt_time_ps least_ps)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, sorted[middle] < least_ps);
    return count - low;
}

/* How likely the gaps at `first`, and each `rows` on, would be as much longer than the others by chance: that they are all
 * among so many longest ones. */
static double by_chance(const gt_time_ps *gaps, const uint64_t *sorted, uint32_t count, uint32_t first, uint32_t rows)
{
    gt_time_ps least_ps = GT_TIME_NONE;
    uint32_t marked = 0;

    for (uint32_t i = first; i < count; i += rows) {
        least_ps = gaps[i] < least_ps ? gaps[i] : least_ps;
        marked++;
    }
    return exp(log_choose(count_from(sorted, count - 1, least_ps), marked) - log_choose(count - 1, marked));
}

/* The most regular pattern of long gaps, where chance does not make it: false where there is none.  Chance has as many tries
 * as there are lengths of a step, where the first row begins one, and else as there are lengths and beginnings. */
static bool find_pattern(const gt_time_ps *gaps, uint32_t count, uint32_t *first, uint32_t *rows)
{
    uint64_t *sorted = gt_calloc(count + 1ull, sizeof *sorted);
    uint32_t most = (count - 1) / LEAST_STEPS_SEEN;
    double least = chance;

    memcpy(sorted, gaps + 1, (count - 1) * sizeof *sorted);
    qsort(sorted, count - 1, sizeof *sorted, gt_by_u64);
    for (uint32_t n = 2; n <= most; n++) {
        for (uint32_t from = 1; from <= n && from + (LEAST_STEPS_SEEN - 1) * n < count; from++) {
            double tries = from == n ? most : 0.5 * most * most;
            double likely = tries * by_chance(gaps, sorted, count, from, n);

            if (likely >= least)
                continue;
            least = likely;
            *first = from;
            *rows = n;
        }
    }
    free(sorted);
    return least < chance;
}

static bool join(struct gt_repeats *repeats, const struct gt_workload *w)
{
    gt_time_ps *gaps = find_gaps(repeats, w);
    uint32_t first = 0, rows = 0;
    bool found = repeats->count <= MOST_ROWS && find_pattern(gaps, repeats->count, &first, &rows);

    free(gaps);
    if (!found)
        return false;
    first %= rows; /* all rows before the first long gap may be a step, too */
    repeats->rows *= rows;
    repeats->count = (repeats->count - first) / rows;
    for (uint32_t i = 0; i <= repeats->count; i++)
        repeats->first_call[i] = repeats->first_call[first + i * rows];
    return true;
}

/* By row: does the thread wait for the GPU in it? */
static bool *find_waits(const struct gt_repeats *repeats, const struct gt_workload *w, uint32_t *count)
{
    bool *waits = gt_calloc(repeats->count + 1ull, sizeof *waits);

    *count = 0;
    for (uint32_t i = 0; i < repeats->count; i++) {
        for (gt_call_index j = repeats->first_call[i]; j < repeats->first_call[i + 1] && !waits[i]; j++)
            waits[i] = w->calls[j].thread == repeats->thread &&
                       (gt_call_synchronises(&w->calls[j]) || gt_call_holds_host(w, &w->calls[j]));
        *count += waits[i];
    }
    return waits;
}

/* Every so many rows the host waits for the GPU: these are a step.  The last ones may lack the wait; where only one wait is left, the
 * recording's begin ends the first step as that does. */
static bool join_waiting(struct gt_repeats *repeats, const bool *waits)
{
    uint32_t first = 0, rows;

    while (!waits[first])
        first++;
    for (rows = 1; first + rows < repeats->count && !waits[first + rows];)
        rows++;
    if (first + rows >= repeats->count)
        rows = first + 1;
    for (uint32_t i = first; i < repeats->count; i++)
        if (waits[i] != ((i - first) % rows == 0) && (waits[i] || i + 1 < repeats->count))
            return false;
    if (first + rows >= repeats->count || first + 1 > rows)
        return false;
    first = (first + 1) % rows; /* behind the wait */
    repeats->rows *= rows;
    repeats->count = (repeats->count - first) / rows;
    for (uint32_t i = 0; i <= repeats->count; i++)
        repeats->first_call[i] = repeats->first_call[first + i * rows];
    return true;
}

/* Rows in all of which the host waits are steps.  Layers may be of layers. */
void gt_repeats_join(struct gt_repeats *repeats, const struct gt_workload *w)
{
    uint32_t count;
    bool *waits = find_waits(repeats, w, &count);
    bool steps = count == repeats->count || (count > 0 && join_waiting(repeats, waits));

    free(waits);
    while (!steps && join(repeats, w))
        ;
}
