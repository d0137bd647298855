#include "sim/baseline/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/rewrite/repeats.h"
#include "sim/workload/allocations.h"
#include "sim/workload/host_waits.h"
#include "sim/workload/ranges.h"

/* Annotations are steps where they hold this part of the calls from the first on that submit work: a recorded process may have
 * begun with making its model. */
static const double most_submits_part = 0.8;
/* One that stands alone is a step where it holds this part of all. */
static const double least_alone_part = 0.2;
/* Steps of the optimiser end steps of the program where the shortest has this part of the longest one's calls. */
static const double steps_alike = 0.8;

static bool is_step(const struct gt_range *range)
{
    return range->kind == GT_RANGE_STEP && range->end_call > range->first_call;
}

/* Whose steps are told: of a job of several ranks, each of which goes through the same steps, those of the first. */
static uint64_t process_with_steps(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->range_count; i++)
        if (is_step(&w->ranges[i]))
            return w->threads[w->ranges[i].thread].process;
    return 0;
}

static uint32_t count_steps(const struct gt_workload *w)
{
    uint64_t process = process_with_steps(w);
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->range_count; i++)
        count += is_step(&w->ranges[i]) && w->threads[w->ranges[i].thread].process == process;
    return count;
}

/* "step 3" and "step 12" are the same but for digits. */
static bool same_but_digits(const char *one, const char *other)
{
    for (;;) {
        while (isdigit((unsigned char)*one))
            one++;
        while (isdigit((unsigned char)*other))
            other++;
        if (*one != *other)
            return false;
        if (*one == '\0')
            return true;
        one++;
        other++;
    }
}

static bool is_annotation(const struct gt_range *range)
{
    return range->parent == GT_NONE && (range->kind == GT_RANGE_ANNOTATION || range->kind == GT_RANGE_NVTX) &&
           range->end_call > range->first_call;
}

/* Does range `j` follow range `i` as another step: the same thread and name, behind it? */
static bool follows(const struct gt_workload *w, uint32_t i, uint32_t j)
{
    const struct gt_range *one = &w->ranges[i], *other = &w->ranges[j];

    return is_annotation(other) && one->thread == other->thread && other->first_call >= one->end_call &&
           same_but_digits(gt_name_text(w, one->name), gt_name_text(w, other->name));
}

static void mark(struct gt_workload *w, gt_thread_index thread, uint32_t name, gt_call_index first,
                 gt_call_index behind)
{
    gt_range_index index = gt_workload_add_range(w);
    struct gt_range *range = &w->ranges[index];

    range->kind = GT_RANGE_STEP;
    range->thread = thread;
    range->name = name;
    range->first_call = first;
    range->end_call = behind;
}

/* From each such annotation to the next is a step. */
static void mark_from(struct gt_workload *w, uint32_t first, uint32_t ranges)
{
    uint32_t last = first;

    for (uint32_t i = first + 1; i < ranges; i++) {
        if (!follows(w, last, i))
            continue;
        mark(w, w->ranges[last].thread, w->ranges[last].name, w->ranges[last].first_call, w->ranges[i].first_call);
        last = i;
    }
    mark(w, w->ranges[last].thread, w->ranges[last].name, w->ranges[last].first_call, w->ranges[last].end_call);
}

static uint64_t count_submits(const struct gt_workload *w, gt_call_index first, gt_call_index behind)
{
    uint64_t count = 0;

    for (gt_call_index i = first; i < behind; i++)
        count += w->calls[i].ops > 0;
    return count;
}

/* How many annotations there are like number `first`, from it on; 0: they are no steps. */
static uint32_t count_annotations(const struct gt_workload *w, uint32_t first)
{
    gt_call_index begin = w->ranges[first].first_call;
    uint64_t all = count_submits(w, 0, w->call_count);
    uint32_t last = first, count = 1;
    uint64_t submits = count_submits(w, begin, w->ranges[first].end_call);

    for (uint32_t i = first + 1; i < w->range_count; i++) {
        if (!follows(w, last, i))
            continue;
        submits += count_submits(w, w->ranges[i].first_call, w->ranges[i].end_call);
        last = i;
        count++;
    }
    if (submits == 0 || (double)submits < most_submits_part * (double)count_submits(w, begin, w->call_count))
        return 0;
    return count > 1 || (double)submits >= least_alone_part * (double)all ? count : 0;
}

enum { ANNOTATIONS_TRIED = 16 };

/* `once`: also one that stands alone. */
static bool mark_annotated(struct gt_workload *w, bool once)
{
    uint32_t ranges = w->range_count, tried = 0;

    for (uint32_t i = 0; i < ranges && tried < ANNOTATIONS_TRIED; i++) {
        if (!is_annotation(&w->ranges[i]))
            continue;
        tried++;
        if (count_annotations(w, i) < (once ? 1 : 2))
            continue;
        mark_from(w, i, ranges);
        return true;
    }
    return false;
}

/* The next range from `from` on of PyTorch's optimisers: of that name, or of any (GT_NONE); none: the count of ranges. */
static gt_range_index next_optimiser(const struct gt_workload *w, gt_range_index from, uint32_t name)
{
    while (from < w->range_count &&
           (name != GT_NONE ? w->ranges[from].name != name : !gt_range_is_optimiser_step(w, &w->ranges[from])))
        from++;
    return from;
}

static bool are_alike(gt_call_index calls, gt_call_index others)
{
    return calls > 0 && (double)calls >= steps_alike * (double)others &&
           (double)others >= steps_alike * (double)calls;
}

/* Do steps that end at these calls have about as many calls each, the first left out, which may have begun before the recording did? */
static bool about_as_long(const gt_call_index *behind, uint32_t count)
{
    gt_call_index least = GT_NONE, most = 0;

    for (uint32_t i = 1; i < count; i++) {
        gt_call_index calls = behind[i] - behind[i - 1];

        least = calls < least ? calls : least;
        most = calls > most ? calls : most;
    }
    return count >= 2 && are_alike(least, most);
}

static const char repeated_calls[] = "repeated calls";

/* `asked`: as many times, or once more; 0: any number of times. */
static bool mark_repeated(struct gt_workload *w, uint32_t asked, struct gt_steps *steps)
{
    struct gt_repeats repeats;

    if (!gt_repeats_find(&repeats, w))
        return false;
    if (asked > 0 && repeats.count != asked && repeats.count != asked + 1) {
        free(repeats.first_call);
        return false;
    }
    steps->by = GT_STEPS_REPEATED;
    steps->rows = repeats.rows;
    for (gt_call_index i = repeats.first_call[0]; i < repeats.first_call[1]; i++)
        steps->waited |= w->calls[i].thread == repeats.thread &&
                         (gt_call_synchronises(&w->calls[i]) || gt_call_holds_host(w, &w->calls[i]));
    for (uint32_t i = 0; i < repeats.count; i++)
        mark(w, repeats.thread, gt_name(w, repeated_calls, sizeof repeated_calls - 1), repeats.first_call[i],
             repeats.first_call[i + 1]);
    free(repeats.first_call);
    return true;
}

/* From one step of the optimiser to the next is a step; where the same calls come again as often, that says better where it begins. */
static bool mark_optimised(struct gt_workload *w, struct gt_steps *steps)
{
    gt_range_index ranges = w->range_count, first = next_optimiser(w, 0, GT_NONE);
    gt_call_index *behind = gt_calloc(ranges + 1ull, sizeof *behind);
    uint32_t count = 0;
    bool found;

    for (gt_range_index i = first; i < ranges; i = next_optimiser(w, i + 1, w->ranges[first].name))
        if (w->ranges[i].end_call > w->ranges[i].first_call && w->ranges[i].thread == w->ranges[first].thread)
            behind[count++] = w->ranges[i].end_call;
    found = about_as_long(behind, count);
    if (found && mark_repeated(w, count, steps)) {
        free(behind);
        return true;
    }
    steps->by = GT_STEPS_OPTIMISED;
    for (uint32_t i = 0; found && i < count; i++)
        if (i > 0 || are_alike(behind[0], behind[1] - behind[0]))
            mark(w, w->ranges[first].thread, w->ranges[first].name, i > 0 ? behind[i - 1] : 0, behind[i]);
    free(behind);
    return found;
}

struct gt_steps gt_steps_find(struct gt_workload *w)
{
    struct gt_steps steps = { .count = count_steps(w), .by = GT_STEPS_MARKED };

    if (steps.count > 0)
        return steps;
    if (mark_annotated(w, false))
        steps.by = GT_STEPS_ANNOTATED;
    else if (!mark_optimised(w, &steps)) {
        if (mark_annotated(w, true))
            steps.by = GT_STEPS_ANNOTATED;
        else if (!mark_repeated(w, 0, &steps))
            return (struct gt_steps){ .count = 1, .by = GT_STEPS_ONE };
    }
    steps.count = count_steps(w);
    return steps;
}

/* Without the ranges that mark_repeated() added, which hold no others. */
static void unmark_repeated(struct gt_workload *w)
{
    gt_range_index *now = gt_calloc(w->range_count + 1ull, sizeof *now), kept = 0;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        struct gt_range range = w->ranges[i];

        now[i] = kept;
        if (range.kind == GT_RANGE_STEP && strcmp(gt_name_text(w, range.name), repeated_calls) == 0)
            continue;
        range.parent = range.parent < i ? now[range.parent] : range.parent;
        w->ranges[kept++] = range;
    }
    gt_allocations_renumber(w, now); /* they are in none of those */
    w->range_count = kept;
    free(now);
}

void gt_steps_find_again(struct gt_steps *steps, struct gt_workload *w)
{
    if (steps->by != GT_STEPS_REPEATED)
        return;
    unmark_repeated(w);
    *steps = gt_steps_find(w);
}

/* When a step's first call began (others' calls count where they ask for work: a watchdog's have nothing to do with it), and when
 * the last of its operations ended (of a step without any, of its calls: calls at the end of the last step wait for all
 * there is, and hold what comes behind the steps). */
struct span {
    gt_time_ps start_ps, end_ps;
};

static struct span span_of(const struct gt_workload *w, const struct gt_timeline *timeline,
                           const struct gt_range *step)
{
    struct span span = { GT_TIME_NONE, 0 };
    gt_time_ps calls_end_ps = 0;

    for (gt_call_index i = step->first_call; i < step->end_call; i++) {
        const struct gt_call *call = &w->calls[i];

        if (w->threads[call->thread].process != w->threads[step->thread].process)
            continue;
        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
            span.end_ps = timeline->ops[op].end_ps > span.end_ps ? timeline->ops[op].end_ps : span.end_ps;
        calls_end_ps = timeline->calls[i].end_ps > calls_end_ps ? timeline->calls[i].end_ps : calls_end_ps;
        if ((call->thread == step->thread || call->ops > 0) && timeline->calls[i].start_ps < span.start_ps)
            span.start_ps = timeline->calls[i].start_ps;
    }
    span.end_ps = span.end_ps > 0 ? span.end_ps : calls_end_ps;
    return span;
}

/* Does a loader of data make steps wait?  Its workers deliver in bursts: some steps wait for all of them. */
static bool waits_for_data(const struct gt_workload *w)
{
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].kept_ps > 0)
            return true;
    return false;
}

static double mean_us(const double *values, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* The middle of what lies between neighbours; of two alone the last: recordings may begin while the GPU is behind.  With bursts, their
 * mean. */
static double usual_us(double *values, uint32_t count, bool bursts)
{
    if (bursts)
        return mean_us(values, count);
    if (count == 2)
        return values[1];
    qsort(values, count, sizeof *values, gt_by_double);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double gt_steps_us(const struct gt_workload *w, const struct gt_timeline *timeline, uint32_t count, bool *divided)
{
    double *starts = gt_calloc(w->range_count + 1ull, sizeof *starts);
    double *ends = gt_calloc(w->range_count + 1ull, sizeof *ends), start_us, end_us;
    struct span before = { 0, 0 };
    uint64_t process = process_with_steps(w);
    gt_call_index middle = 0, behind = 0;
    uint32_t found = 0;
    bool apart = true; /* calls of later steps may have moved into earlier ones: then steps are told by their ends */

    for (uint32_t i = 0; i < w->range_count; i++) {
        struct span now;

        if (w->ranges[i].kind != GT_RANGE_STEP || w->ranges[i].end_call <= behind ||
            w->threads[w->ranges[i].thread].process != process)
            continue;
        apart &= w->ranges[i].first_call >= middle;
        behind = w->ranges[i].end_call;
        middle = w->ranges[i].first_call + (behind - w->ranges[i].first_call) / 2;
        now = span_of(w, timeline, &w->ranges[i]);
        if (found++ > 0) {
            starts[found - 2] = ((double)now.start_ps - (double)before.start_ps) / 1e6;
            ends[found - 2] = ((double)now.end_ps - (double)before.end_ps) / 1e6;
        }
        before = now;
    }
    *divided = found < 2 || found < count;
    start_us = *divided || !apart ? 0 : usual_us(starts, found - 1, waits_for_data(w));
    end_us = *divided ? 0 : usual_us(ends, found - 1, waits_for_data(w));
    free(starts);
    free(ends);
    if (start_us > 0 || end_us > 0)
        return start_us > end_us ? start_us : end_us;
    *divided = true;
    return gt_timeline_us(timeline) / (count > 0 ? count : 1);
}
