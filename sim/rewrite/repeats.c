#include "sim/rewrite/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"

/* A row repeated is so much of a thread's calls at least; one that is longer is taken only for so much more. */
static const double least_part = 0.75, more_part = 0.01;
/* Rows are as long as two calls that are the same are apart: of so many calls, evenly far on, and of as many of those that
 * come most rarely; and so far on. */
enum { ANCHORS = 8, CANDIDATES = 256 };

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

/* The calls of one thread: their numbers, and what they do. */
struct row {
    gt_thread_index thread;
    gt_call_index *calls;
    uint64_t *hashes;
    uint32_t count;
};

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

static bool is_wait(const struct gt_workload *w, gt_call_index call)
{
    return w->calls[call].ops == 0 && waits(w, call);
}

static void make_row(struct row *row, const struct gt_workload *w, gt_thread_index thread)
{
    *row = (struct row){
        .thread = thread,
        .calls = gt_calloc(w->call_count + 1ull, sizeof *row->calls),
        .hashes = gt_calloc(w->call_count + 1ull, sizeof *row->hashes),
    };
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (w->calls[i].thread != row->thread)
            continue;
        row->hashes[row->count] = hash_call(w, &w->calls[i]);
        row->calls[row->count++] = i;
    }
    /* Of several waits at the end, as profilers make, one is the program's. */
    while (row->count > 1 && is_wait(w, row->calls[row->count - 1]) && is_wait(w, row->calls[row->count - 2]))
        row->count--;
}

/* The longest stretch in which every call is as the one `period` before it: where it begins, and how long it is with the
 * first row. */
static uint32_t stretch(const struct row *row, uint32_t period, uint32_t *begin)
{
    uint32_t longest = 0, run = 0;

    for (uint32_t i = period; i < row->count; i++) {
        run = row->hashes[i] == row->hashes[i - period] ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            *begin = i + 1 - run - period;
        }
    }
    return longest == 0 ? 0 : longest + period;
}

/* A row that may be taken, and how good the best one is so far. */
struct period {
    uint32_t length, begin, stretch;
    double part;
};

/* Distances from a call to the next ones that are the same are tried. */
static void try_anchor(const struct row *row, uint32_t from, struct period *best)
{
    for (uint32_t i = from + 1, tried = 0;
         i < row->count && tried < CANDIDATES / ANCHORS && 2 * (i - from) <= row->count; i++) {
        uint32_t at = 0, found;
        double part;

        if (row->hashes[i] != row->hashes[from])
            continue;
        tried++;
        found = stretch(row, i - from, &at);
        part = (double)found / row->count;
        if (found >= 2 * (i - from) && part >= least_part &&
            (part > best->part + more_part || (part > best->part - more_part && i - from < best->length)))
            *best = (struct period){ i - from, at, found, part };
    }
}

struct place {
    uint64_t hash;
    uint32_t at, times;
};

static int by_hash(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    GT_ORDER(a->hash, b->hash);
    GT_ORDER(a->at, b->at);
    return 0;
}

static int by_times(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    GT_ORDER(a->times, b->times);
    GT_ORDER(a->at, b->at);
    return 0;
}

/* The first of each of the calls that come again most rarely: the longer a row, the fewer of them come once in it. */
static uint32_t find_rarest(const struct row *row, uint32_t *anchors)
{
    struct place *places = gt_calloc(row->count + 1ull, sizeof *places);
    uint32_t kinds = 0, count = 0;

    for (uint32_t i = 0; i < row->count; i++)
        places[i] = (struct place){ row->hashes[i], i, 1 };
    qsort(places, row->count, sizeof *places, by_hash);
    for (uint32_t i = 0, next; i < row->count; i = next) {
        for (next = i + 1; next < row->count && places[next].hash == places[i].hash;)
            next++;
        if (next - i < 2)
            continue;
        places[kinds] = places[i];
        places[kinds++].times = next - i;
    }
    qsort(places, kinds, sizeof *places, by_times);
    for (uint32_t i = 0; i < kinds && count < ANCHORS; i++)
        anchors[count++] = places[i].at;
    free(places);
    return count;
}

static bool find_period(const struct row *row, struct period *best)
{
    uint32_t anchors[ANCHORS], rare = find_rarest(row, anchors);

    *best = (struct period){ .length = UINT32_MAX };
    for (uint32_t i = 0; i < ANCHORS; i++)
        try_anchor(row, (uint32_t)((uint64_t)row->count * i / (2 * ANCHORS)), best);
    for (uint32_t i = 0; i < rare; i++)
        try_anchor(row, anchors[i], best);
    return best->part > 0;
}

/* Behind the last wait of the first row, unless a repetition would be lost that way and there are only two. */
static uint32_t shift(const struct gt_workload *w, const struct row *row, uint32_t period, uint32_t begin,
                      uint32_t length)
{
    for (uint32_t i = period; i > 0; i--)
        if (waits(w, row->calls[begin + i - 1]))
            return i == period || (length - i) / period < 2 ? 0 : i;
    return 0;
}

static gt_call_index call_at(const struct row *row, uint32_t place)
{
    return place < row->count ? row->calls[place] : row->calls[row->count - 1] + 1;
}

static bool find_in(struct gt_repeats *repeats, const struct gt_workload *w, gt_thread_index thread)
{
    struct row row;
    struct period period;
    bool found;

    make_row(&row, w, thread);
    found = find_period(&row, &period);
    if (found) {
        uint32_t more = shift(w, &row, period.length, period.begin, period.stretch);

        repeats->thread = row.thread;
        repeats->count = (period.stretch - more) / period.length;
        repeats->rows = 1;
        repeats->first_call = gt_calloc(repeats->count + 1ull, sizeof *repeats->first_call);
        for (uint32_t i = 0; i <= repeats->count; i++)
            repeats->first_call[i] = call_at(&row, period.begin + more + i * period.length);
    }
    free(row.calls);
    free(row.hashes);
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
