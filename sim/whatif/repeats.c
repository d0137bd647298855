#include "sim/whatif/repeats.h"

#include <stdlib.h>
#include <string.h>

/* A row repeated is so much of a thread's calls at least; one that is longer is taken only for so much more. */
static const double least_part = 0.75, more_part = 0.01;
/* Rows are as long as two calls that are the same are apart: of so many calls, and so far on. */
enum { ANCHORS = 8, CANDIDATES = 256 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static uint64_t hash_op(const struct gt_workload *w, const struct gt_op *op, uint64_t hash)
{
    hash = mix(mix(mix(hash, op->kind), op->stream), op->bytes);
    hash = mix(mix(hash, op->direction), op->memory);
    if (op->kind != GT_OP_KERNEL)
        return hash;
    for (int i = 0; i < 3; i++)
        hash = mix(mix(hash, w->kernels[op->kernel].grid[i]), w->kernels[op->kernel].block[i]);
    return mix(hash, w->kernels[op->kernel].name);
}

static uint64_t hash_call(const struct gt_workload *w, const struct gt_call *call)
{
    uint64_t hash = mix(mix(mix(1, call->kind), call->name), call->ops);

    for (uint32_t i = 0; i < call->ops; i++)
        hash = hash_op(w, &w->ops[call->first_op + i], hash);
    return hash;
}

/* The calls of one thread: their numbers, and what they do. */
struct row {
    gt_thread_index thread;
    gt_call_index *calls;
    uint64_t *hashes;
    uint32_t count;
};

static gt_thread_index busiest_thread(const struct gt_workload *w)
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

static void make_row(struct row *row, const struct gt_workload *w)
{
    *row = (struct row){
        .thread = busiest_thread(w),
        .calls = gt_calloc(w->call_count + 1ull, sizeof *row->calls),
        .hashes = gt_calloc(w->call_count + 1ull, sizeof *row->hashes),
    };
    for (uint32_t i = 0; i < w->call_count; i++) {
        if (w->calls[i].thread != row->thread)
            continue;
        row->hashes[row->count] = hash_call(w, &w->calls[i]);
        row->calls[row->count++] = i;
    }
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

/* The best row: `period` calls from `begin` on, `length` of them in all.  Distances from a few calls to the next ones that
 * are the same are tried. */
static bool find_period(const struct row *row, uint32_t *period, uint32_t *begin, uint32_t *length)
{
    double best = 0;

    for (uint32_t anchor = 0; anchor < ANCHORS; anchor++) {
        uint32_t from = (uint32_t)((uint64_t)row->count * anchor / (2 * ANCHORS)), tried = 0;

        for (uint32_t i = from + 1; i < row->count && tried < CANDIDATES / ANCHORS && 2 * (i - from) <= row->count;
             i++) {
            uint32_t at = 0, found;

            if (row->hashes[i] != row->hashes[from])
                continue;
            tried++;
            found = stretch(row, i - from, &at);
            if (found < 2 * (i - from) || (double)found / row->count < least_part)
                continue;
            if ((double)found / row->count > best + more_part ||
                ((double)found / row->count > best - more_part && i - from < *period)) {
                best = (double)found / row->count;
                *period = i - from;
                *begin = at;
                *length = found;
            }
        }
    }
    return best > 0;
}

static bool waits(const struct gt_workload *w, gt_call_index call)
{
    switch (w->calls[call].kind) {
    case GT_CALL_STREAM_SYNC:
    case GT_CALL_EVENT_SYNC:
    case GT_CALL_DEVICE_SYNC: return true;
    default: return w->calls[call].flags & GT_CALL_WAITS;
    }
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

bool gt_repeats_find(struct gt_repeats *repeats, const struct gt_workload *w)
{
    struct row row;
    uint32_t period = UINT32_MAX, begin = 0, length = 0;
    bool found;

    make_row(&row, w);
    found = find_period(&row, &period, &begin, &length);
    if (found) {
        uint32_t more = shift(w, &row, period, begin, length);

        repeats->thread = row.thread;
        repeats->count = (length - more) / period;
        repeats->first_call = gt_calloc(repeats->count + 1ull, sizeof *repeats->first_call);
        for (uint32_t i = 0; i <= repeats->count; i++)
            repeats->first_call[i] = call_at(&row, begin + more + i * period);
    }
    free(row.calls);
    free(row.hashes);
    return found;
}
