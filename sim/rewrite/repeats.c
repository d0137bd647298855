/* How: the calls of a thread that submit work are a sequence of tokens.  How often the tokens occur says how many
 * iterations there are; how far occurrences of a token are apart says how many tokens one has; where every token is as
 * the one a period before it, iterations are regular.  What lies between regular ones is an iteration of its own. */
#include "sim/rewrite/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/rewrite/tokens.h"

/* Of the tokens of a step that is not regular, so many may be no regular one's. */
static const double most_odd = 0.25;
/* Iterations that are not regular have so much of a period at least to count as one. */
static const double least_iteration = 0.5;
/* So many other kernels before and behind the same rows make them layers, of all tokens; or before them alone, of a row's. */
static const double least_foreign = 0.02, least_other = 0.25;
/* Copies in that tell a process's start: this part of what it asks for, and so many. */
static const double least_copied = 0.2;
enum { LEAST_COPIES = 8 };
/* Where no stretch is regular, so many tokens have to be about a period apart; and what "about" is. */
static const double least_aligned = 0.75, about = 0.2;

gt_thread_index gt_repeats_busiest_thread(const struct gt_workload *w)
{
    uint32_t *counts = gt_calloc(w->thread_count + 1ull, sizeof *counts);
    gt_thread_index most = 0;

    for (uint32_t i = 0; i < w->call_count; i++)
        counts[w->calls[i].thread]++;
    for (gt_thread_index i = 1; i < w->thread_count; i++)
        most = counts[i] > counts[most] ? i : most;
    free(counts);
    return most;
}

static bool is_as_before(const struct gt_token_row *row, uint32_t token, uint32_t period)
{
    return token + period < row->count && row->hashes[token] == row->hashes[token + period];
}

/* Where the next regular stretch of two iterations or more from `from` on begins, and how long it is; 0: there is none. */
static uint32_t next_stretch(const struct gt_token_row *row, uint32_t period, uint32_t from, uint32_t *begin)
{
    for (uint32_t i = from; i < row->count;) {
        uint32_t end = i;

        while (is_as_before(row, end, period))
            end++;
        if (end - i >= period) {
            *begin = i;
            return end - i + period;
        }
        i = end + 1;
    }
    return 0;
}

/* How many tokens from there on are those that the recording begins with. */
static uint32_t as_at_start(const struct gt_token_row *row, uint32_t token, uint32_t most)
{
    uint32_t count = 0;

    while (count < most && row->hashes[token + count] == row->hashes[count])
        count++;
    return count;
}

/* Where in the first period of a stretch an iteration begins: with what the recording begins with, as far as the host waits
 * anywhere behind such a wait, the last of several. */
static uint32_t find_phase(const struct gt_token_row *row, uint32_t period, uint32_t begin, uint32_t length)
{
    uint32_t phase = 0, most = 0;
    bool waited = false, two = length / period == 2;

    for (uint32_t i = 1; i <= period; i++)
        waited |= row->waited[begin + i];
    for (uint32_t i = 1; i <= period; i++) {
        uint32_t same = as_at_start(row, begin + i % period, period);

        if (waited && !row->waited[begin + i])
            continue;
        if (same >= most) {
            phase = i % period;
            most = same;
        }
    }
    return begin == 0 && two && phase > length - 2 * period ? 0 : phase;
}

/* Where iterations begin, by token; the last is behind the last one. */
struct bounds {
    uint32_t *list, count, room;
};

static void add_bound(struct bounds *bounds, uint32_t token)
{
    if (bounds->count > 0 && bounds->list[bounds->count - 1] >= token)
        return;
    gt_array_grow(bounds->list, bounds->count, bounds->room);
    bounds->list[bounds->count++] = token;
}

/* In a later stretch an iteration begins with what the first one, at `first`, begins with. */
static uint32_t phase_as(const struct gt_token_row *row, uint32_t period, uint32_t begin, uint32_t first)
{
    for (uint32_t i = 0; i < period; i++)
        if (memcmp(&row->hashes[begin + i], &row->hashes[first], period * sizeof *row->hashes) == 0)
            return i;
    return GT_NONE;
}

static int by_value(const void *left, const void *right)
{
    return gt_by_u64(left, right);
}

/* Does the iteration whose sorted tokens these are have such a token? */
static bool has_token(const uint64_t *sorted, uint32_t period, uint64_t hash)
{
    return bsearch(&hash, sorted, period, sizeof hash, by_value) != NULL;
}

static bool is_kernel(const struct gt_token_row *row, uint32_t token)
{
    return row->w->ops[row->w->calls[row->calls[token]].first_op].kind == GT_OP_KERNEL;
}

/* Of kernels from token `from` to `to`, how many no regular iteration has; memsets and copies are libraries' own start-up. */
static uint32_t foreign(const struct gt_token_row *row, const uint64_t *sorted, uint32_t period, uint32_t from,
                        uint32_t to)
{
    uint32_t count = 0;

    for (uint32_t i = from; i < to; i++)
        count += is_kernel(row, i) && !has_token(sorted, period, row->hashes[i]);
    return count;
}

/* Between regular ones: an iteration, if it has enough of what they have. */
static void add_odd(struct bounds *bounds, const struct gt_token_row *row, const uint64_t *sorted, uint32_t from,
                    uint32_t to, uint32_t period)
{
    if (to - from - foreign(row, sorted, period, from, to) > least_iteration * period)
        add_bound(bounds, from);
}

/* Does what stands before a token begin a process: are many of it copies in, of a model's weights? */
static bool is_set_up(const struct gt_token_row *row, uint32_t behind)
{
    uint32_t copies = 0;

    for (uint32_t i = 0; i < behind; i++)
        copies += row->w->ops[row->w->calls[row->calls[i]].first_op].kind == GT_OP_COPY;
    return (double)copies >= least_copied * behind && copies >= LEAST_COPIES;
}

/* Rows are layers of one iteration where the recording begins with other kernels, or has some both before and behind them, and the
 * host waits neither in them nor, more than once, between them. */
static bool are_layers(const struct gt_token_row *row, const uint64_t *sorted, uint32_t period,
                       const struct bounds *bounds)
{
    uint32_t begin = bounds->list[0], end = bounds->list[bounds->count - 1];
    uint32_t before = foreign(row, sorted, period, 0, begin), behind = foreign(row, sorted, period, end, row->count);
    uint32_t waits = 0;

    for (uint32_t i = begin + 1; i <= end; i++) {
        waits += row->waited[i];
        if (waits > 0 && (waits > 1 || i <= begin + period))
            return false;
    }
    if (is_set_up(row, begin))
        return behind > 0;
    return before >= least_other * period ||
           (before > 0 && behind > 0 && before + behind >= least_foreign * row->count);
}

/* What an iteration that begins with token `first` does, sorted; malloced. */
static uint64_t *sort_tokens(const struct gt_token_row *row, uint32_t first, uint32_t period)
{
    uint64_t *sorted = gt_calloc(period + 1ull, sizeof *sorted);

    memcpy(sorted, &row->hashes[first], period * sizeof *sorted);
    qsort(sorted, period, sizeof *sorted, gt_by_u64);
    return sorted;
}

static bool find_regular(struct bounds *bounds, const struct gt_token_row *row, uint32_t period)
{
    uint32_t begin = 0, length, first = GT_NONE, end = 0;
    uint64_t *sorted = NULL;
    bool found;

    for (uint32_t from = 0; (length = next_stretch(row, period, from, &begin)) > 0;
         from = begin + length - period + 1) {
        uint32_t phase =
            first == GT_NONE ? find_phase(row, period, begin, length) : phase_as(row, period, begin, first);

        if (phase == GT_NONE || begin + phase + period > begin + length)
            continue;
        if (first == GT_NONE) {
            first = begin + phase;
            sorted = sort_tokens(row, first, period);
        }
        add_odd(bounds, row, sorted, end, begin + phase, period);
        for (uint32_t i = begin + phase; i + period <= begin + length; i += period) {
            add_bound(bounds, i);
            end = i + period;
        }
    }
    if (first != GT_NONE)
        add_bound(bounds, end);
    found = first != GT_NONE && !are_layers(row, sorted, period, bounds);
    free(sorted);
    return found;
}

/* The part of the tokens that are about a period before a token that is the same. */
static double aligned_part(const struct gt_token_row *row, const struct gt_period *guess)
{
    uint32_t near = 0;

    for (uint32_t i = 0, same; i < row->count; i += same) {
        uint32_t each;

        same = gt_tokens_same(row, i);
        each = gt_tokens_each(same, guess->iterations);
        for (uint32_t j = i; j + each < i + same; j++)
            near += fabs((double)(row->order[j + each] - row->order[j]) / guess->period - 1) <= about;
    }
    return (double)near / (row->count - guess->period);
}

/* Two iterations that are not the same, but nearly: the last tokens are one. */
static bool find_aligned(struct bounds *bounds, const struct gt_token_row *row, const struct gt_period *guess)
{
    uint32_t split = row->count - guess->period, odd;
    uint64_t *sorted;
    bool begins;

    if (aligned_part(row, guess) < least_aligned)
        return false;
    for (uint32_t i = split; i > 0 && i > split - (uint32_t)(about * guess->period); i--)
        if (row->waited[i]) {
            split = i;
            break;
        }
    sorted = sort_tokens(row, split, row->count - split);
    odd = foreign(row, sorted, row->count - split, 0, split);
    begins = has_token(sorted, row->count - split, row->hashes[0]);
    free(sorted);
    if (!begins || odd > most_odd * split)
        return false;
    add_bound(bounds, 0);
    add_bound(bounds, split);
    add_bound(bounds, row->count);
    return true;
}

/* The call with which the iteration that begins with a token begins: behind the wait before it, if there is one. */
static gt_call_index call_at(const struct gt_token_row *row, uint32_t token)
{
    gt_call_index first = token > 0 ? row->calls[token - 1] + 1 : 0;

    for (gt_call_index i = row->calls[token]; i > first; i--)
        if (row->w->calls[i - 1].thread == row->thread && row->w->calls[i - 1].ops == 0 &&
            gt_token_waits(row->w, i - 1))
            return i;
    while (first < row->calls[token] && row->w->calls[first].thread != row->thread)
        first++;
    return first;
}

/* The waits directly behind a token, up to the next one. */
static uint32_t waits_behind(const struct gt_token_row *row, uint32_t token)
{
    uint32_t count = 0;

    for (gt_call_index i = row->calls[token - 1] + 1; i < row->calls[token]; i++)
        count += row->w->calls[i].thread == row->thread && gt_token_waits(row->w, i);
    return count;
}

/* The last iteration has as many waits behind its last token as the one before: a profiler adds some of its own. */
static gt_call_index call_behind(const struct gt_token_row *row, const struct bounds *bounds)
{
    uint32_t last = bounds->list[bounds->count - 1];
    uint32_t count = bounds->count > 2 ? waits_behind(row, bounds->list[bounds->count - 2]) : 1;
    gt_call_index behind = row->calls[last - 1] + 1;

    for (gt_call_index i = behind; i < row->calls[last] && count > 0; i++)
        if (row->w->calls[i].thread == row->thread && gt_token_waits(row->w, i)) {
            behind = i + 1;
            count--;
        }
    return behind;
}

static bool find_in(struct gt_repeats *repeats, const struct gt_workload *w, gt_thread_index thread)
{
    struct bounds bounds = { .list = NULL };
    struct gt_token_row row;
    struct gt_period guess;
    bool found = false;

    gt_tokens_make(&row, w, thread);
    guess = gt_tokens_period(&row);
    if (guess.iterations > 0)
        found =
            find_regular(&bounds, &row, guess.period) || (bounds.count == 0 && find_aligned(&bounds, &row, &guess));
    if (found) {
        *repeats = (struct gt_repeats){ .thread = thread, .count = bounds.count - 1, .rows = 1 };
        repeats->first_call = gt_calloc(bounds.count, sizeof *repeats->first_call);
        for (uint32_t i = 0; i + 1 < bounds.count; i++)
            repeats->first_call[i] = call_at(&row, bounds.list[i]);
        repeats->first_call[repeats->count] = call_behind(&row, &bounds);
    }
    free(bounds.list);
    gt_tokens_free(&row);
    return found;
}

/* Of that thread's process the one that Linux gave the process's number: it began first.  GT_NONE: not known. */
static gt_thread_index first_thread(const struct gt_workload *w, gt_thread_index thread)
{
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        if (w->threads[i].process == w->threads[thread].process && w->threads[i].id == w->threads[i].process)
            return i;
    return GT_NONE;
}

bool gt_repeats_find(struct gt_repeats *repeats, const struct gt_workload *w)
{
    gt_thread_index busiest = gt_repeats_busiest_thread(w), first;
    struct gt_repeats of_first;

    if (!find_in(repeats, w, busiest))
        return false;
    first = first_thread(w, busiest);
    if (first != GT_NONE && first != busiest && find_in(&of_first, w, first)) {
        bool same = of_first.count == repeats->count;

        free(same ? repeats->first_call : of_first.first_call);
        *repeats = same ? of_first : *repeats;
    }
    gt_repeats_join(repeats, w);
    return true;
}
