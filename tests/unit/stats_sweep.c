/* Unions and intersections against a picosecond-by-picosecond count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/stats/sweep.h"

static uint32_t kernel(void)
{
    return gt_class_of(GT_OP_KERNEL, GT_H2D, GT_MEMORY_UNKNOWN);
}

static uint32_t copy(enum gt_direction direction, enum gt_memory memory)
{
    return gt_class_of(GT_OP_COPY, direction, memory);
}

static void nothing_is_nothing(void **state)
{
    struct gt_sweep sweep = { 0 };

    (void)state;
    gt_sweep_finish(&sweep);
    assert_int_equal(sweep.busy_ps + sweep.copy_ps + sweep.overlap_ps + sweep.peak, 0);
}

/* Half-open: what ends at 10 and what starts at 10 never run together. */
static void touching_is_not_overlapping(void **state)
{
    struct gt_sweep sweep = { 0 };

    (void)state;
    gt_sweep_add(&sweep, kernel(), 5, 10);
    gt_sweep_add(&sweep, copy(GT_H2D, GT_MEMORY_PINNED), 10, 12);
    gt_sweep_finish(&sweep);
    assert_int_equal(sweep.busy_ps, 7);
    assert_int_equal(sweep.overlap_ps, 0);
    assert_int_equal(sweep.peak, 1);
}

static void one_inside_another(void **state)
{
    struct gt_sweep sweep = { 0 };

    (void)state;
    gt_sweep_add(&sweep, kernel(), 0, 100);
    gt_sweep_add(&sweep, copy(GT_H2D, GT_MEMORY_PINNED), 10, 40);
    gt_sweep_add(&sweep, kernel(), 20, 30);
    gt_sweep_add(&sweep, copy(GT_D2H, GT_MEMORY_PINNED), 30, 50);
    gt_sweep_finish(&sweep);
    assert_int_equal(sweep.busy_ps, 100);
    assert_int_equal(sweep.copy_ps, 40);
    assert_int_equal(sweep.overlap_ps, 40);
    assert_int_equal(sweep.peak, 3);
    assert_int_equal(sweep.classes[copy(GT_H2D, GT_MEMORY_PINNED)].other_overlap_ps, 10);
    assert_int_equal(sweep.classes[copy(GT_D2H, GT_MEMORY_PINNED)].other_overlap_ps, 10);
}

/* The other direction is another direction: pageable and pinned copies of one do not count. */
static void memory_kinds_are_one_direction(void **state)
{
    struct gt_sweep sweep = { 0 };

    (void)state;
    gt_sweep_add(&sweep, copy(GT_H2D, GT_MEMORY_PINNED), 0, 10);
    gt_sweep_add(&sweep, copy(GT_H2D, GT_MEMORY_PAGEABLE), 0, 10);
    gt_sweep_finish(&sweep);
    assert_int_equal(sweep.classes[copy(GT_H2D, GT_MEMORY_PINNED)].other_overlap_ps, 0);
    assert_int_equal(sweep.copy_ps, 10);
}

enum { RANDOM_OPS = 60, RANDOM_TIME = 200, RANDOM_ROUNDS = 200 };
struct interval {
    uint32_t class;
    uint64_t start, end;
};

static int by_start(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

static void check_random(uint32_t *seed)
{
    struct interval intervals[RANDOM_OPS];
    struct gt_sweep sweep = { 0 };
    uint64_t busy = 0, overlap = 0, peak = 0, other = 0;
    uint32_t h2d = copy(GT_H2D, GT_MEMORY_PINNED), d2h = copy(GT_D2H, GT_MEMORY_PINNED);

    for (int i = 0; i < RANDOM_OPS; i++) {
        uint32_t classes[] = { kernel(), h2d, d2h };
        uint64_t start = next_random(seed, RANDOM_TIME), length = next_random(seed, 20);

        intervals[i] = (struct interval){ classes[next_random(seed, 3)], start, start + length };
    }
    qsort(intervals, RANDOM_OPS, sizeof intervals[0], by_start);
    for (int i = 0; i < RANDOM_OPS; i++)
        gt_sweep_add(&sweep, intervals[i].class, intervals[i].start, intervals[i].end);
    gt_sweep_finish(&sweep);
    for (uint64_t time = 0; time < RANDOM_TIME + 20; time++) {
        uint64_t kernels = 0, ups = 0, downs = 0;

        for (int i = 0; i < RANDOM_OPS; i++) {
            bool runs = intervals[i].start <= time && time < intervals[i].end;

            kernels += runs && intervals[i].class == kernel();
            ups += runs && intervals[i].class == h2d;
            downs += runs && intervals[i].class == d2h;
        }
        busy += kernels + ups + downs > 0;
        overlap += kernels > 0 && ups + downs > 0;
        other += ups > 0 && downs > 0;
        peak = kernels + ups + downs > peak ? kernels + ups + downs : peak;
    }
    assert_int_equal(sweep.busy_ps, busy);
    assert_int_equal(sweep.overlap_ps, overlap);
    assert_int_equal(sweep.peak, peak);
    assert_int_equal(sweep.classes[h2d].other_overlap_ps, other);
    assert_int_equal(sweep.classes[d2h].other_overlap_ps, other);
}

static void random_intervals_agree_with_counting(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < RANDOM_ROUNDS; round++)
        check_random(&seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(touching_is_not_overlapping),
        cmocka_unit_test(one_inside_another),
        cmocka_unit_test(memory_kinds_are_one_direction),
        cmocka_unit_test(random_intervals_agree_with_counting),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
