/* Residency bins: exact sums whatever the lengths, against a plain count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/store/residency_bins.h"

struct seen {
    uint64_t width_ps;
    int64_t warp_ps[2][GT_BINS], block_ps[2][GT_BINS]; /* by SM */
    uint32_t last;
};

static int see(void *user, uint32_t gpu, uint32_t sm, uint32_t bin, int64_t warp_ps, int64_t block_ps)
{
    struct seen *seen = user;

    assert_int_equal(gpu, 0);
    assert_true(bin < GT_BINS);
    seen->warp_ps[sm][bin] = warp_ps;
    seen->block_ps[sm][bin] = block_ps;
    if (bin > seen->last)
        seen->last = bin;
    return 0;
}

static void look(struct gt_bins *bins, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->width_ps = gt_bins_width_ps(bins);
    assert_int_equal(gt_bins_each(bins, see, seen), 0);
}

static void add(struct gt_bins *bins, uint32_t sm, uint32_t blocks, uint64_t start_ps, uint64_t end_ps)
{
    struct gt_block_record record = {
        .sm = sm, .blocks = blocks, .warps_per_block = 4, .start_ps = start_ps, .end_ps = end_ps
    };

    gt_bins_add(bins, &record);
}

static uint64_t overlap(uint64_t start_ps, uint64_t end_ps, uint64_t from_ps, uint64_t to_ps)
{
    uint64_t low = start_ps > from_ps ? start_ps : from_ps, high = end_ps < to_ps ? end_ps : to_ps;

    return high > low ? high - low : 0;
}

static void starts_narrow(void **state)
{
    struct gt_bins *bins = gt_bins_new();
    static struct seen seen;

    (void)state;
    add(bins, 0, 3, 500, 2250);
    look(bins, &seen);
    assert_int_equal(seen.width_ps, 1000);
    assert_int_equal(seen.block_ps[0][0], 1500);
    assert_int_equal(seen.block_ps[0][1], 3000);
    assert_int_equal(seen.block_ps[0][2], 750);
    assert_int_equal(seen.warp_ps[0][2], 3000);
    gt_bins_free(bins);
}

/* Legal at the very end of the last bin, doubled one picosecond later. */
static void doubles_when_it_must(void **state)
{
    struct gt_bins *bins = gt_bins_new();
    static struct seen seen;

    (void)state;
    add(bins, 0, 1, 0, GT_BINS * 1000);
    look(bins, &seen);
    assert_int_equal(seen.width_ps, 1000);
    assert_int_equal(seen.block_ps[0][GT_BINS - 1], 1000);
    add(bins, 0, 1, GT_BINS * 1000, GT_BINS * 1000 + 1);
    look(bins, &seen);
    assert_int_equal(seen.width_ps, 2000);
    assert_int_equal(seen.block_ps[0][GT_BINS / 2 - 1], 2000);
    assert_int_equal(seen.block_ps[0][GT_BINS / 2], 1);
    gt_bins_free(bins);
}

static void agrees_with_a_plain_count(void **state)
{
    enum { RECORDS = 500 };
    static struct {
        uint32_t sm, blocks;
        uint64_t start_ps, end_ps;
    } made[RECORDS];
    struct gt_bins *bins = gt_bins_new();
    static struct seen seen;
    uint64_t random = 12345, now_ps = 0;

    (void)state;
    for (int i = 0; i < RECORDS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        now_ps += (random >> 40) % 30000;
        made[i].sm = (uint32_t)(random >> 33) & 1;
        made[i].blocks = 1 + (uint32_t)(random >> 35) % 5;
        made[i].start_ps = now_ps;
        made[i].end_ps = now_ps + (random >> 20) % 900000;
        add(bins, made[i].sm, made[i].blocks, made[i].start_ps, made[i].end_ps);
    }
    look(bins, &seen);
    assert_true(seen.last >= GT_BINS / 2);
    for (uint32_t sm = 0; sm < 2; sm++) {
        for (uint32_t bin = 0; bin < GT_BINS; bin++) {
            uint64_t expected = 0;

            for (int i = 0; i < RECORDS; i++)
                if (made[i].sm == sm)
                    expected += made[i].blocks * overlap(made[i].start_ps, made[i].end_ps, bin * seen.width_ps,
                                                         (bin + 1) * seen.width_ps);
            assert_int_equal(seen.block_ps[sm][bin], expected);
            assert_int_equal(seen.warp_ps[sm][bin], 4 * expected);
        }
    }
    gt_bins_free(bins);
}

/* Intervals apart, touching, overlapping many times, of no length; from the middle of a bin. */
static void repeated_ones_are_as_one_by_one(void **state)
{
    static const struct {
        uint64_t start_ps, end_ps, times, period_ps;
    } cases[] = {
        { 0, 1000, 1, 5 }, { 1700, 2900, 1000, 3333 }, { 1700, 5033, 1000, 3333 }, { 123, 98765, 777, 1009 },
        { 5, 5, 10, 7 },   { 250, 900, 50, 0 },        { 1, 2, 100000, 2 },        { 0, 512000, 3, 512000 },
    };
    static struct seen seen, expected;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gt_bins *at_once = gt_bins_new(), *bins = gt_bins_new();
        struct gt_block_record record = {
            .sm = 1, .blocks = 3, .warps_per_block = 4, .start_ps = cases[i].start_ps, .end_ps = cases[i].end_ps
        };

        add(at_once, 0, 1, 100, 100100);
        add(bins, 0, 1, 100, 100100);
        gt_bins_add_repeated(at_once, &record, cases[i].times, cases[i].period_ps);
        for (uint64_t j = 0; j < cases[i].times; j++) {
            gt_bins_add(bins, &record);
            record.start_ps += cases[i].period_ps;
            record.end_ps += cases[i].period_ps;
        }
        look(at_once, &seen);
        look(bins, &expected);
        assert_memory_equal(&seen, &expected, sizeof seen);
        gt_bins_free(at_once);
        gt_bins_free(bins);
    }
}

static void absurd_sums_are_capped(void **state)
{
    struct gt_bins *bins = gt_bins_new();
    static struct seen seen;

    (void)state;
    for (int i = 0; i < 4; i++)
        add(bins, 1, UINT32_MAX, 0, UINT64_MAX);
    look(bins, &seen);
    assert_true(seen.warp_ps[1][0] == INT64_MAX && seen.block_ps[1][0] == INT64_MAX);
    gt_bins_free(bins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_narrow),
        cmocka_unit_test(doubles_when_it_must),
        cmocka_unit_test(agrees_with_a_plain_count),
        cmocka_unit_test(repeated_ones_are_as_one_by_one),
        cmocka_unit_test(absurd_sums_are_capped),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
