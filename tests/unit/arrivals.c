/* When requests arrive: rates, bursts, ends; the same for the same seed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/serve/arrivals.h"

enum { MANY = 200000 };

/* How many arrive, and the mean and the spread of the time between them, in us. */
struct told {
    uint64_t count, at_once;
    double mean_us, spread_us;
};

static struct told draw(const struct gt_arrivals *arrivals)
{
    struct gt_arrivals_at at = { 0 };
    struct told told = { 0 };
    gt_time_ps time_ps, before_ps = 0;
    double sum = 0, squares = 0;

    while (gt_arrivals_next(arrivals, &at, 0, &time_ps)) {
        double gap_us = (double)(time_ps - before_ps) / 1e6;

        assert_true(time_ps >= before_ps);
        told.at_once += time_ps == before_ps;
        sum += gap_us;
        squares += gap_us * gap_us;
        told.count++;
        before_ps = time_ps;
    }
    told.mean_us = sum / (double)told.count;
    told.spread_us = sqrt(squares / (double)told.count - told.mean_us * told.mean_us);
    return told;
}

static void about(double is, double expected, double part)
{
    if (fabs(is - expected) > part * expected)
        fail_msg("%g is not about %g", is, expected);
}

static void poisson_is_as_often_as_said(void **state)
{
    struct gt_arrivals arrivals = {
        .kind = GT_ARRIVALS_POISSON, .per_s = 1000, .seed = 3, .most = MANY, .until_ps = GT_TIME_NONE
    };
    struct told told = draw(&arrivals);

    (void)state;
    assert_int_equal(told.count, MANY);
    about(told.mean_us, 1000, 0.01);
    about(told.spread_us, 1000, 0.01); /* an exponential's spread is its mean */
    arrivals.seed = 4;
    assert_true(draw(&arrivals).mean_us != told.mean_us);
    arrivals.seed = 3;
    assert_true(draw(&arrivals).mean_us == told.mean_us);
}

static void bursts_keep_the_rate(void **state)
{
    struct gt_arrivals arrivals = {
        .kind = GT_ARRIVALS_BURSTY, .per_s = 1000, .burst = 5, .seed = 1, .most = MANY, .until_ps = GT_TIME_NONE
    };
    struct told told = draw(&arrivals);

    (void)state;
    about(told.mean_us, 1000, 0.03);
    about((double)told.at_once / MANY, 0.8, 0.01); /* four of five come with another */
    arrivals.burst = 1;
    assert_int_equal(draw(&arrivals).at_once, 0);
}

static void periodic_ones_end_when_said(void **state)
{
    const struct gt_arrivals arrivals = { .kind = GT_ARRIVALS_PERIODIC,
                                          .per_s = 1000,
                                          .until_ps = UINT64_C(10000000000) };
    struct told told = draw(&arrivals);

    (void)state;
    assert_int_equal(told.count, 10); /* at 0, 1, ..., 9 ms */
}

static void closed_ones_come_when_asked(void **state)
{
    const struct gt_arrivals arrivals = { .kind = GT_ARRIVALS_CLOSED, .most = 2, .until_ps = 5 };
    struct gt_arrivals_at at = { 0 };
    gt_time_ps time_ps;

    (void)state;
    assert_true(gt_arrivals_next(&arrivals, &at, 7, &time_ps));
    assert_int_equal(time_ps, 7);
    assert_true(gt_arrivals_next(&arrivals, &at, 9, &time_ps));
    assert_false(gt_arrivals_next(&arrivals, &at, 11, &time_ps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_is_as_often_as_said),
        cmocka_unit_test(bursts_keep_the_rate),
        cmocka_unit_test(periodic_ones_end_when_said),
        cmocka_unit_test(closed_ones_come_when_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
