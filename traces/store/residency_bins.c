#include "traces/store/residency_bins.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_WIDTH_PS 1000                /* 1 ns: below what any block lasts */
#define COUNT_LIMIT    (UINT64_C(1) << 32) /* warps of one record; no SM holds so many */

/* A sum over time: `partial` holds what only part of a bin had, in count times picoseconds;
 * `step` the change of what fills bins from this one on.  128 bits: absurd input must not wrap. */
struct sum {
    unsigned __int128 partial[GT_BINS];
    int64_t step[GT_BINS + 1];
};
struct sm_bins {
    struct sum warps, blocks;
};
struct gpu_bins {
    struct sm_bins **sms;
    uint32_t sm_count;
};

struct gt_bins {
    struct gpu_bins *gpus;
    uint32_t gpu_count;
    uint64_t width_ps;
};

struct gt_bins *gt_bins_new(void)
{
    struct gt_bins *bins = gt_calloc(1, sizeof *bins);

    bins->width_ps = FIRST_WIDTH_PS;
    return bins;
}

void gt_bins_free(struct gt_bins *bins)
{
    if (bins == NULL)
        return;
    for (uint32_t gpu = 0; gpu < bins->gpu_count; gpu++) {
        for (uint32_t sm = 0; sm < bins->gpus[gpu].sm_count; sm++)
            free(bins->gpus[gpu].sms[sm]);
        free(bins->gpus[gpu].sms);
    }
    free(bins->gpus);
    free(bins);
}

uint64_t gt_bins_width_ps(const struct gt_bins *bins)
{
    return bins->width_ps;
}

/* An array with at least `count` elements, the new ones zeroed. */
static void *widen(void *array, uint32_t *count, uint32_t wanted, size_t size)
{
    if (wanted <= *count)
        return array;
    array = gt_realloc(array, wanted, size);
    memset((char *)array + *count * size, 0, (wanted - *count) * size);
    *count = wanted;
    return array;
}

static struct sm_bins *find(struct gt_bins *bins, uint32_t gpu, uint32_t sm)
{
    struct gpu_bins *found;

    bins->gpus = widen(bins->gpus, &bins->gpu_count, gpu + 1, sizeof *bins->gpus);
    found = &bins->gpus[gpu];
    found->sms = widen(found->sms, &found->sm_count, sm + 1, sizeof *found->sms);
    if (found->sms[sm] == NULL)
        found->sms[sm] = gt_calloc(1, sizeof *found->sms[sm]);
    return found->sms[sm];
}

/* Turn differences into sums: afterwards every bin's value is in `partial`. */
static void settle(struct sum *sum, uint64_t width_ps)
{
    int64_t count = 0;

    for (int bin = 0; bin < GT_BINS; bin++) {
        count += sum->step[bin];
        sum->partial[bin] += (unsigned __int128)count * width_ps;
        sum->step[bin] = 0;
    }
    sum->step[GT_BINS] = 0;
}

static void halve(struct sum *sum, uint64_t width_ps)
{
    settle(sum, width_ps);
    for (int bin = 0; bin < GT_BINS / 2; bin++)
        sum->partial[bin] = sum->partial[2 * bin] + sum->partial[2 * bin + 1];
    memset(&sum->partial[GT_BINS / 2], 0, GT_BINS / 2 * sizeof sum->partial[0]);
}

static void double_width(struct gt_bins *bins)
{
    for (uint32_t gpu = 0; gpu < bins->gpu_count; gpu++) {
        for (uint32_t sm = 0; sm < bins->gpus[gpu].sm_count; sm++) {
            struct sm_bins *found = bins->gpus[gpu].sms[sm];

            if (found == NULL)
                continue;
            halve(&found->warps, bins->width_ps);
            halve(&found->blocks, bins->width_ps);
        }
    }
    bins->width_ps *= 2;
}

static void add(struct sum *sum, uint64_t width_ps, uint64_t start_ps, uint64_t end_ps, uint64_t count)
{
    uint64_t first = start_ps / width_ps, last = end_ps / width_ps; /* GT_BINS where it ends with the last */

    if (first == last) {
        if (first < GT_BINS)
            sum->partial[first] += (unsigned __int128)count * (end_ps - start_ps);
        return;
    }
    sum->partial[first] += (unsigned __int128)count * ((first + 1) * width_ps - start_ps);
    sum->step[first + 1] += (int64_t)count;
    sum->step[last] -= (int64_t)count;
    if (last < GT_BINS)
        sum->partial[last] += (unsigned __int128)count * (end_ps - last * width_ps);
}

static int64_t capped(unsigned __int128 value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

void gt_bins_add(struct gt_bins *bins, const struct gt_block_record *record)
{
    uint64_t warps = (uint64_t)record->blocks * record->warps_per_block;
    uint64_t start_ps = (uint64_t)capped(record->start_ps), end_ps = (uint64_t)capped(record->end_ps);
    struct sm_bins *found;

    while (end_ps > GT_BINS * bins->width_ps)
        double_width(bins);
    found = find(bins, record->gpu, record->sm);
    add(&found->warps, bins->width_ps, start_ps, end_ps, warps < COUNT_LIMIT ? warps : COUNT_LIMIT);
    add(&found->blocks, bins->width_ps, start_ps, end_ps, record->blocks);
}

/* How much of the time before `time_ps` lies in the intervals [start + i * period, end + i * period),
 * i < times, together. */
static unsigned __int128 time_before(uint64_t time_ps, uint64_t start_ps, uint64_t end_ps, uint64_t times,
                                     uint64_t period_ps)
{
    uint64_t begun = time_ps <= start_ps ? 0 : times, over = time_ps < end_ps ? 0 : times;
    unsigned __int128 starts;

    if (period_ps > 0 && begun > 0)
        begun = (time_ps - start_ps - 1) / period_ps + 1;
    if (period_ps > 0 && over > 0)
        over = (time_ps - end_ps) / period_ps + 1;
    begun = begun < times ? begun : times;
    over = over < times ? over : times;
    /* The starts of those that go on, i from over to begun - 1. */
    starts = (unsigned __int128)(begun - over) * start_ps +
             (over < begun ? (unsigned __int128)(over + begun - 1) * (begun - over) / 2 * period_ps : 0);
    return (unsigned __int128)over * (end_ps - start_ps) + (unsigned __int128)(begun - over) * time_ps - starts;
}

void gt_bins_add_repeated(struct gt_bins *bins, const struct gt_block_record *record, uint64_t times,
                          uint64_t period_ps)
{
    uint64_t warps = (uint64_t)record->blocks * record->warps_per_block, last_ps;
    unsigned __int128 before = 0;
    struct sm_bins *found;

    if (times == 0)
        return;
    last_ps = record->end_ps + (times - 1) * period_ps;
    while (last_ps > GT_BINS * bins->width_ps)
        double_width(bins);
    found = find(bins, record->gpu, record->sm);
    for (uint64_t bin = 0; bin < GT_BINS; bin++) {
        unsigned __int128 upto =
            time_before((bin + 1) * bins->width_ps, record->start_ps, record->end_ps, times, period_ps);

        found->warps.partial[bin] += (upto - before) * (warps < COUNT_LIMIT ? warps : COUNT_LIMIT);
        found->blocks.partial[bin] += (upto - before) * record->blocks;
        before = upto;
    }
}

static int visit_sm(struct gt_bins *bins, uint32_t gpu, uint32_t sm, gt_bins_visit *visit, void *user)
{
    struct sm_bins *found = bins->gpus[gpu].sms[sm];

    if (found == NULL)
        return 0;
    settle(&found->warps, bins->width_ps);
    settle(&found->blocks, bins->width_ps);
    for (uint32_t bin = 0; bin < GT_BINS; bin++)
        if ((found->warps.partial[bin] != 0 || found->blocks.partial[bin] != 0) &&
            visit(user, gpu, sm, bin, capped(found->warps.partial[bin]), capped(found->blocks.partial[bin])) != 0)
            return -1;
    return 0;
}

int gt_bins_each(struct gt_bins *bins, gt_bins_visit *visit, void *user)
{
    for (uint32_t gpu = 0; gpu < bins->gpu_count; gpu++)
        for (uint32_t sm = 0; sm < bins->gpus[gpu].sm_count; sm++)
            if (visit_sm(bins, gpu, sm, visit, user) != 0)
                return -1;
    return 0;
}
