#include "sim/rewrite/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"

/* Of all tokens so many may be none of a whole number of iterations; what is less regular by so little is as regular. */
static const double most_odd = 0.25, nearly = 0.005;
/* So much of all tokens, at least and at most, are as many iterations as there seem to be. */
static const double least_all = 0.7, most_all = 1.3;

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

bool gt_token_waits(const struct gt_workload *w, gt_call_index call)
{
    return gt_call_synchronises(&w->calls[call]) || gt_call_holds_host(w, &w->calls[call]);
}

static int by_hash(const void *left, const void *right, void *user)
{
    const uint64_t *hashes = user;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

    GT_ORDER(hashes[i], hashes[j]);
    GT_ORDER(i, j);
    return 0;
}

static void add_token(struct gt_token_row *row, gt_call_index call)
{
    row->hashes[row->count] = hash_call(row->w, &row->w->calls[call]);
    row->waited[row->count + 1] = gt_token_waits(row->w, call);
    row->calls[row->count++] = call;
}

void gt_tokens_make(struct gt_token_row *row, const struct gt_workload *w, gt_thread_index thread)
{
    gt_call_index behind = 0;

    *row = (struct gt_token_row){
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
            row->waited[row->count] |= gt_token_waits(w, i);
    }
    row->calls[row->count] = behind;
    for (uint32_t i = 0; i < row->count; i++)
        row->order[i] = i;
    qsort_r(row->order, row->count, sizeof *row->order, by_hash, row->hashes);
}

void gt_tokens_free(struct gt_token_row *row)
{
    free(row->calls);
    free(row->hashes);
    free(row->waited);
    free(row->gap_ps);
    free(row->order);
}

uint32_t gt_tokens_same(const struct gt_token_row *row, uint32_t i)
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

static void count_occurrences(struct occurrences *o, const struct gt_token_row *row)
{
    *o = (struct occurrences){
        .times = gt_calloc(row->count + 1ull, sizeof *o->times),
        .different = gt_calloc(row->count + 1ull, sizeof *o->different),
    };
    for (uint32_t i = 0, same; i < row->count; i += same) {
        same = gt_tokens_same(row, i);
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

uint32_t gt_tokens_each(uint32_t same, uint32_t iterations)
{
    uint32_t each = (same + iterations / 2) / iterations;

    return each > 0 ? each : 1;
}

/* How many tokens an iteration has: as far as most are apart from the same one in the next.  0: it does not fit the number of
 * iterations. */
static uint32_t find_period(const struct gt_token_row *row, uint32_t iterations)
{
    uint32_t *votes = gt_calloc(row->count + 1ull, sizeof *votes), best = 0;
    double all;

    for (uint32_t i = 0, same; i < row->count; i += same) {
        uint32_t each;

        same = gt_tokens_same(row, i);
        each = gt_tokens_each(same, iterations);
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
static double regular_part(const struct gt_token_row *row, uint32_t period)
{
    uint32_t first = period > row->count / 2 ? period : row->count / 2, regular = 0;

    for (uint32_t i = first; i < row->count; i++)
        regular += row->hashes[i] == row->hashes[i - period];
    return (double)regular / (row->count - first);
}

/* Numbers of iterations that leave few tokens odd, the highest first. */
static struct gt_period *make_guesses(const struct gt_token_row *row, uint32_t *count)
{
    struct gt_period *guesses = NULL;
    struct occurrences o;
    uint32_t room = 0;
    bool *candidates;

    *count = 0;
    count_occurrences(&o, row);
    candidates = find_candidates(&o, row->count);
    for (uint32_t i = row->count; i >= 2; i--) {
        struct gt_period guess = { .iterations = i };

        if (!candidates[i] || odd_part(&o, row->count, i) >= most_odd || (guess.period = find_period(row, i)) == 0)
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
struct gt_period gt_tokens_period(const struct gt_token_row *row)
{
    struct gt_period best = { .iterations = 0 }, *guesses;
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
