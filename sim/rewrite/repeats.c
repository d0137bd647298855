/* How: the calls of a thread that submit work are a sequence of tokens.  How often the tokens occur says how many
 * iterations there are; how far occurrences of a token are apart says how many tokens one has; where every token is as
 * the one a period before it, iterations are regular.  What lies between regular ones is an iteration of its own. */
#include "sim/rewrite/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"

/* Of all tokens so many may be none of a whole number of iterations; what is less regular by so little is as regular. */
static const double most_odd = 0.25, nearly = 0.005;
/* So much of all tokens, at least and at most, are as many iterations as there seem to be. */
static const double least_all = 0.7, most_all = 1.3;
/* Iterations that are not regular have so much of a period at least to count as one. */
static const double least_iteration = 0.5;
/* So many other kernels before and behind the same rows make them layers, of all tokens; or before them alone, of a row's. */
static const double least_foreign = 0.02, least_other = 0.25;
/* Where no stretch is regular, so many tokens have to be about a period apart; and what "about" is. */
static const double least_aligned = 0.75, about = 0.2;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static uint64_t hash_op(const struct gt_workload *w, const struct gt_op *op, uint64_t hash)
{
    hash = mix(mix(hash, op->kind), op->bytes);
    hash = mix(mix(hash, op->direction), op->memory);
    if (op->kind != GT_OP_KERNEL)
        return hash;
    for (int i = 0; i < 3; i++)
        hash = mix(mix(hash, w->kernels[op->kernel].grid[i]), w->kernels[op->kernel].block[i]);
    return mix(hash, w->kernels[op->kernel].name);
}

static uint64_t hash_call(const struct gt_workload *w, const struct gt_call *call)
{
    uint64_t hash = mix(mix(mix(1, call->kind), call->name), call->ops), sum = 0;

    /* A graph's nodes are recorded in another order, and in other streams, each time. */
    for (uint32_t i = 0; i < call->ops; i++) {
        const struct gt_op *op = &w->ops[call->first_op + i];

        sum += hash_op(w, op, call->kind == GT_CALL_GRAPH_LAUNCH ? 1 : mix(1, op->stream));
    }
    return mix(hash, sum);
}

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

static bool waits(const struct gt_workload *w, gt_call_index call)
{
    return gt_call_synchronises(&w->calls[call]) || gt_call_holds_host(w, &w->calls[call]);
}

/* The tokens of one thread, and those that are the same, in order. */
struct row {
    const struct gt_workload *w;
    gt_thread_index thread;
    gt_call_index *calls; /* by token: the call; one more: behind the thread's last */
    uint64_t *hashes;     /* by token: what it does */
    bool *waited;         /* by token, one more: does the host wait for the GPU between the token before and this one? */
    gt_time_ps *gap_ps;   /* by token: the host's own work since the token before */
    uint32_t *order;      /* tokens, those that are the same behind each other, rising */
    uint32_t count;
};

static int by_hash(const void *left, const void *right, void *user)
{
    const uint64_t *hashes = user;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

    GT_ORDER(hashes[i], hashes[j]);
    GT_ORDER(i, j);
    return 0;
}

static void add_token(struct row *row, gt_call_index call)
{
    row->hashes[row->count] = hash_call(row->w, &row->w->calls[call]);
    row->waited[row->count + 1] = waits(row->w, call);
    row->calls[row->count++] = call;
}

static void make_row(struct row *row, const struct gt_workload *w, gt_thread_index thread)
{
    gt_call_index behind = 0;

    *row = (struct row){
        .w = w,
        .thread = thread,
        .calls = gt_calloc(w->call_count + 1ull, sizeof *row->calls),
        .hashes = gt_calloc(w->call_count + 1ull, sizeof *row->hashes),
        .waited = gt_calloc(w->call_count + 2ull, sizeof *row->waited),
        .gap_ps = gt_calloc(w->call_count + 2ull, sizeof *row->gap_ps),
        .order = gt_calloc(w->call_count + 1ull, sizeof *row->order),
    };
    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (w->calls[i].thread != thread)
            continue;
        behind = i + 1;
        row->gap_ps[row->count] += w->calls[i].before_ps;
        if (w->calls[i].ops > 0)
            add_token(row, i);
        else
            row->waited[row->count] |= waits(w, i);
    }
    row->calls[row->count] = behind;
    for (uint32_t i = 0; i < row->count; i++)
        row->order[i] = i;
    qsort_r(row->order, row->count, sizeof *row->order, by_hash, row->hashes);
}

static void free_row(struct row *row)
{
    free(row->calls);
    free(row->hashes);
    free(row->waited);
    free(row->gap_ps);
    free(row->order);
}

/* How many tokens from order[i] on are the same. */
static uint32_t same_from(const struct row *row, uint32_t i)
{
    uint32_t next = i + 1;

    while (next < row->count && row->hashes[row->order[next]] == row->hashes[row->order[i]])
        next++;
    return next - i;
}

/* How often tokens occur: so many different ones so often. */
struct occurrences {
    uint32_t *times; /* by how often, from 1: how many different tokens */
    uint32_t *different;
    uint32_t count; /* of different[], rising: how often there is any */
};

static void count_occurrences(struct occurrences *o, const struct row *row)
{
    *o = (struct occurrences){
        .times = gt_calloc(row->count + 1ull, sizeof *o->times),
        .different = gt_calloc(row->count + 1ull, sizeof *o->different),
    };
    for (uint32_t i = 0, same; i < row->count; i += same) {
        same = same_from(row, i);
        o->times[same]++;
    }
    for (uint32_t i = 1; i <= row->count; i++)
        if (o->times[i] > 0)
            o->different[o->count++] = i;
}

/* The part of the tokens that would be too many or too few, were there so many iterations. */
static double odd_part(const struct occurrences *o, uint32_t tokens, uint32_t iterations)
{
    uint64_t odd = 0;

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t rest = o->different[i] % iterations;

        if (o->different[i] > iterations && iterations - rest < rest)
            rest = iterations - rest;
        else if (o->different[i] < iterations && iterations - o->different[i] < o->different[i])
            rest = iterations - o->different[i];
        odd += (uint64_t)rest * o->times[o->different[i]];
    }
    return (double)odd / tokens;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* By number of iterations, up to the number of tokens: may there be so many?  What occurs so often, what divides two of the
 * rarest of these, and what divides any of that. */
static bool *find_candidates(const struct occurrences *o, uint32_t tokens)
{
    enum { PAIRED = 16 };
    bool *candidates = gt_calloc(tokens + 1ull, sizeof *candidates);

    for (uint32_t i = 0; i < o->count; i++) {
        candidates[o->different[i]] = true;
        for (uint32_t j = 0; i < PAIRED && j < i; j++)
            candidates[common_divisor(o->different[i], o->different[j])] = true;
    }
    for (uint32_t i = 2; i <= tokens; i++)
        for (uint32_t j = 2 * i; j <= tokens && !candidates[i]; j += i)
            candidates[i] = candidates[j];
    return candidates;
}

/* Of the same tokens, behind each other in row->order, so many are one iteration's. */
static uint32_t each_of(uint32_t same, uint32_t iterations)
{
    uint32_t each = (same + iterations / 2) / iterations;

    return each > 0 ? each : 1;
}

/* How many tokens an iteration has: as far as most are apart from the same one in the next.  0: it does not fit the number of
 * iterations. */
static uint32_t find_period(const struct row *row, uint32_t iterations)
{
    uint32_t *votes = gt_calloc(row->count + 1ull, sizeof *votes), best = 0;
    double all;

    for (uint32_t i = 0, same; i < row->count; i += same) {
        uint32_t each;

        same = same_from(row, i);
        each = each_of(same, iterations);
        for (uint32_t j = i; j + each < i + same; j++)
            votes[row->order[j + each] - row->order[j]]++;
    }
    for (uint32_t i = 1; i < row->count; i++)
        best = votes[i] > votes[best] ? i : best;
    free(votes);
    all = (double)best * iterations / row->count;
    return all >= least_all && all <= most_all ? best : 0;
}

/* The part of the tokens that are as the one a period before, in the second half: start-up is in the first. */
static double regular_part(const struct row *row, uint32_t period)
{
    uint32_t first = period > row->count / 2 ? period : row->count / 2, regular = 0;

    for (uint32_t i = first; i < row->count; i++)
        regular += row->hashes[i] == row->hashes[i - period];
    return (double)regular / (row->count - first);
}

/* A number of iterations that may be. */
struct guess {
    uint32_t iterations, period;
    double regular;
};

/* Numbers of iterations that leave few tokens odd, the highest first. */
static struct guess *make_guesses(const struct row *row, uint32_t *count)
{
    struct guess *guesses = NULL;
    struct occurrences o;
    uint32_t room = 0;
    bool *candidates;

    *count = 0;
    count_occurrences(&o, row);
    candidates = find_candidates(&o, row->count);
    for (uint32_t i = row->count; i >= 2; i--) {
        struct guess guess = { .iterations = i };

        if (!candidates[i] || odd_part(&o, row->count, i) >= most_odd ||
            (guess.period = find_period(row, i)) == 0)
            continue;
        guess.regular = regular_part(row, guess.period);
        gt_array_grow(guesses, *count, room);
        guesses[(*count)++] = guess;
    }
    free(o.times);
    free(o.different);
    free(candidates);
    return guesses;
}

/* Of the guesses that are nearly the most regular the one with the most iterations.  iterations 0: nothing repeats. */
static struct guess count_iterations(const struct row *row)
{
    struct guess best = { .iterations = 0 }, *guesses;
    double most = 0;
    uint32_t count;

    guesses = make_guesses(row, &count);
    for (uint32_t i = 0; i < count; i++)
        most = guesses[i].regular > most ? guesses[i].regular : most;
    for (uint32_t i = count; i-- > 0;)
        if (guesses[i].regular >= most - nearly)
            best = guesses[i];
    free(guesses);
    return best;
}

static bool is_as_before(const struct row *row, uint32_t token, uint32_t period)
{
    return token + period < row->count && row->hashes[token] == row->hashes[token + period];
}

/* Where the next regular stretch of two iterations or more from `from` on begins, and how long it is; 0: there is none. */
static uint32_t next_stretch(const struct row *row, uint32_t period, uint32_t from, uint32_t *begin)
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
static uint32_t as_at_start(const struct row *row, uint32_t token, uint32_t most)
{
    uint32_t count = 0;

    while (count < most && row->hashes[token + count] == row->hashes[count])
        count++;
    return count;
}

/* Where in the first period of a stretch an iteration begins: with what the recording begins with, as far as the host waits
 * anywhere behind such a wait, the last of several. */
static uint32_t find_phase(const struct row *row, uint32_t period, uint32_t begin, uint32_t length)
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
static uint32_t phase_as(const struct row *row, uint32_t period, uint32_t begin, uint32_t first)
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

static bool is_kernel(const struct row *row, uint32_t token)
{
    return row->w->ops[row->w->calls[row->calls[token]].first_op].kind == GT_OP_KERNEL;
}

/* Of kernels from token `from` to `to`, how many no regular iteration has; memsets and copies are libraries' own start-up. */
static uint32_t foreign(const struct row *row, const uint64_t *sorted, uint32_t period, uint32_t from, uint32_t to)
{
    uint32_t count = 0;

    for (uint32_t i = from; i < to; i++)
        count += is_kernel(row, i) && !has_token(sorted, period, row->hashes[i]);
    return count;
}

/* Between regular ones: an iteration, if it has enough of what they have. */
static void add_odd(struct bounds *bounds, const struct row *row, const uint64_t *sorted, uint32_t from, uint32_t to,
                    uint32_t period)
{
    if (to - from - foreign(row, sorted, period, from, to) > least_iteration * period)
        add_bound(bounds, from);
}

/* Rows that the host does not wait in are layers of one iteration where the recording begins with other kernels, or has some
 * both before and behind them. */
static bool are_layers(const struct row *row, const uint64_t *sorted, uint32_t period, const struct bounds *bounds)
{
    uint32_t begin = bounds->list[0], end = bounds->list[bounds->count - 1];
    uint32_t before = foreign(row, sorted, period, 0, begin), behind = foreign(row, sorted, period, end, row->count);

    for (uint32_t i = begin + 1; i <= begin + period; i++)
        if (row->waited[i])
            return false;
    return before >= least_other * period || (before > 0 && behind > 0 && before + behind >= least_foreign * row->count);
}

/* What an iteration that begins with token `first` does, sorted; malloced. */
static uint64_t *sort_tokens(const struct row *row, uint32_t first, uint32_t period)
{
    uint64_t *sorted = gt_calloc(period + 1ull, sizeof *sorted);

    memcpy(sorted, &row->hashes[first], period * sizeof *sorted);
    qsort(sorted, period, sizeof *sorted, gt_by_u64);
    return sorted;
}

static bool find_regular(struct bounds *bounds, const struct row *row, uint32_t period)
{
    uint32_t begin = 0, length, first = GT_NONE, end = 0;
    uint64_t *sorted = NULL;
    bool found;

    for (uint32_t from = 0; (length = next_stretch(row, period, from, &begin)) > 0; from = begin + length - period + 1) {
        uint32_t phase = first == GT_NONE ? find_phase(row, period, begin, length) : phase_as(row, period, begin, first);

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
static double aligned_part(const struct row *row, const struct guess *guess)
{
    uint32_t near = 0;

    for (uint32_t i = 0, same; i < row->count; i += same) {
        uint32_t each;

        same = same_from(row, i);
        each = each_of(same, guess->iterations);
        for (uint32_t j = i; j + each < i + same; j++)
            near += fabs((double)(row->order[j + each] - row->order[j]) / guess->period - 1) <= about;
    }
    return (double)near / (row->count - guess->period);
}

/* Two iterations that are not the same, but nearly: the last tokens are one. */
static bool find_aligned(struct bounds *bounds, const struct row *row, const struct guess *guess)
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
static gt_call_index call_at(const struct row *row, uint32_t token)
{
    gt_call_index first = token > 0 ? row->calls[token - 1] + 1 : 0;

    for (gt_call_index i = row->calls[token]; i > first; i--)
        if (row->w->calls[i - 1].thread == row->thread && row->w->calls[i - 1].ops == 0 && waits(row->w, i - 1))
            return i;
    while (first < row->calls[token] && row->w->calls[first].thread != row->thread)
        first++;
    return first;
}

/* The waits directly behind a token, up to the next one. */
static uint32_t waits_behind(const struct row *row, uint32_t token)
{
    uint32_t count = 0;

    for (gt_call_index i = row->calls[token - 1] + 1; i < row->calls[token]; i++)
        count += row->w->calls[i].thread == row->thread && waits(row->w, i);
    return count;
}

/* The last iteration has as many waits behind its last token as the one before: a profiler adds some of its own. */
static gt_call_index call_behind(const struct row *row, const struct bounds *bounds)
{
    uint32_t last = bounds->list[bounds->count - 1];
    uint32_t count = bounds->count > 2 ? waits_behind(row, bounds->list[bounds->count - 2]) : 1;
    gt_call_index behind = row->calls[last - 1] + 1;

    for (gt_call_index i = behind; i < row->calls[last] && count > 0; i++)
        if (row->w->calls[i].thread == row->thread && waits(row->w, i)) {
            behind = i + 1;
            count--;
        }
    return behind;
}

static bool find_in(struct gt_repeats *repeats, const struct gt_workload *w, gt_thread_index thread)
{
    struct bounds bounds = { .list = NULL };
    struct row row;
    struct guess guess;
    bool found = false;

    make_row(&row, w, thread);
    guess = count_iterations(&row);
    if (guess.iterations > 0)
        found = find_regular(&bounds, &row, guess.period) ||
                (bounds.count == 0 && find_aligned(&bounds, &row, &guess));
    if (found) {
        *repeats = (struct gt_repeats){ .thread = thread, .count = bounds.count - 1, .rows = 1 };
        repeats->first_call = gt_calloc(bounds.count, sizeof *repeats->first_call);
        for (uint32_t i = 0; i + 1 < bounds.count; i++)
            repeats->first_call[i] = call_at(&row, bounds.list[i]);
        repeats->first_call[repeats->count] = call_behind(&row, &bounds);
    }
    free(bounds.list);
    free_row(&row);
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
