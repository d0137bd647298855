/* The max-min solver: each test states the problem, then what must come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/fair_share.h"

static struct gt_maxmin share;

static int fresh(void **state)
{
    (void)state;
    gt_maxmin_clear(&share);
    return 0;
}

static int end(void **state)
{
    (void)state;
    gt_maxmin_free(&share);
    return 0;
}

static void expect(uint32_t consumer, double rate)
{
    assert_float_equal(share.consumers[consumer].rate, rate, 1e-12);
}

/* a + b <= 1, both of one speed.  a = b = 1/2. */
static void two_alike_have_half_each(void **state)
{
    (void)state;
    uint32_t r = gt_maxmin_add_resource(&share, 1);

    for (int i = 0; i < 2; i++) {
        gt_maxmin_add_consumer(&share, 1, 1);
        gt_maxmin_add_demand(&share, r, 1);
    }
    gt_maxmin_solve(&share);
    expect(0, 0.5);
    expect(1, 0.5);
}

/* 0.2 a + b <= 1, a <= 1, rising by 1/demand.  a wants less than half and has it all: a = 1, b = 0.8. */
static void who_wants_little_has_it_all(void **state)
{
    (void)state;
    uint32_t r = gt_maxmin_add_resource(&share, 1);

    gt_maxmin_add_consumer(&share, 1, 1 / 0.2);
    gt_maxmin_add_demand(&share, r, 0.2);
    gt_maxmin_add_consumer(&share, 1, 1);
    gt_maxmin_add_demand(&share, r, 1);
    gt_maxmin_solve(&share);
    expect(0, 1);
    expect(1, 0.8);
}

/* 0.2 a + 0.5 b + 0.9 c <= 1, rising by 1/demand: in parts of the resource 0.2 (all a wants), then 0.4 and
 * 0.4.  a = 1, b = 0.8, c = 4/9. */
static void three_ways(void **state)
{
    static const double wants[] = { 0.2, 0.5, 0.9 };

    (void)state;
    uint32_t r = gt_maxmin_add_resource(&share, 1);
    for (int i = 0; i < 3; i++) {
        gt_maxmin_add_consumer(&share, 1, 1 / wants[i]);
        gt_maxmin_add_demand(&share, r, wants[i]);
    }
    gt_maxmin_solve(&share);
    expect(0, 1);
    expect(1, 0.8);
    expect(2, 4.0 / 9);
}

/* Two resources: 2 a + b <= 2 and b + c <= 2, all of speed 1, no limit that counts.
 * They rise to 2/3, where the first is used up: a = b = 2/3; c goes on alone: c = 4/3. */
static void who_is_not_held_back_goes_on(void **state)
{
    (void)state;
    uint32_t r = gt_maxmin_add_resource(&share, 2), s = gt_maxmin_add_resource(&share, 2);

    gt_maxmin_add_consumer(&share, 9, 1);
    gt_maxmin_add_demand(&share, r, 2);
    gt_maxmin_add_consumer(&share, 9, 1);
    gt_maxmin_add_demand(&share, r, 1);
    gt_maxmin_add_demand(&share, s, 1);
    gt_maxmin_add_consumer(&share, 9, 1);
    gt_maxmin_add_demand(&share, s, 1);
    gt_maxmin_solve(&share);
    expect(0, 2.0 / 3);
    expect(1, 2.0 / 3);
    expect(2, 4.0 / 3);
}

/* a + b <= 1, a three times as fast: a = 3/4, b = 1/4.  With a <= 0.6: b has what a leaves, 0.4. */
static void speeds_are_weights(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        gt_maxmin_clear(&share);
        uint32_t r = gt_maxmin_add_resource(&share, 1);
        gt_maxmin_add_consumer(&share, limited ? 0.6 : 1, 3);
        gt_maxmin_add_demand(&share, r, 1);
        gt_maxmin_add_consumer(&share, 1, 1);
        gt_maxmin_add_demand(&share, r, 1);
        gt_maxmin_solve(&share);
        expect(0, limited ? 0.6 : 0.75);
        expect(1, limited ? 0.4 : 0.25);
    }
}

/* Nothing taken: the limit, to the last bit.  Nothing to have: nothing. */
static void limits_and_nothing(void **state)
{
    (void)state;
    uint32_t none = gt_maxmin_add_resource(&share, -1);

    gt_maxmin_add_consumer(&share, 0.1, 0.3);
    gt_maxmin_add_consumer(&share, 1, 1);
    gt_maxmin_add_demand(&share, none, 1);
    gt_maxmin_add_demand(&share, none, 0);
    gt_maxmin_solve(&share);
    assert_true(share.consumers[0].rate == 0.1);
    assert_true(share.consumers[1].rate == 0);
    assert_int_equal(share.demand_count, 1);
}

/* 40 consumers of 10 resources with awkward numbers: nothing is overused, nobody is above its limit, and whoever
 * is below takes part of something that is used up by consumers none of whom it could take from. */
static void awkward_numbers(void **state)
{
    (void)state;
    for (int r = 0; r < 10; r++)
        gt_maxmin_add_resource(&share, 1 + r / 7.0);
    for (int u = 0; u < 40; u++) {
        gt_maxmin_add_consumer(&share, 1 + u % 3 / 3.0, 1 / (0.1 + u % 11));
        for (int i = 0; i < 3; i++)
            gt_maxmin_add_demand(&share, (uint32_t)((u * 3 + i * 7) % 10), (0.1 + u % 11) / (3 + i));
    }
    gt_maxmin_solve(&share);
    double used[10] = { 0 }, highest[10] = { 0 };
    for (uint32_t u = 0; u < 40; u++) {
        const struct gt_maxmin_consumer *consumer = &share.consumers[u];

        for (uint32_t i = consumer->first_demand; i < consumer->first_demand + consumer->demands; i++) {
            uint32_t r = share.demands[i].resource;

            used[r] += share.demands[i].amount * consumer->rate;
            if (consumer->rate / consumer->speed > highest[r])
                highest[r] = consumer->rate / consumer->speed;
        }
    }
    for (uint32_t u = 0; u < 40; u++) {
        const struct gt_maxmin_consumer *consumer = &share.consumers[u];
        int held = 0;

        for (uint32_t i = consumer->first_demand; i < consumer->first_demand + consumer->demands; i++) {
            uint32_t r = share.demands[i].resource;

            assert_true(used[r] <= share.resources[r].capacity * (1 + 1e-9));
            held += used[r] >= share.resources[r].capacity * (1 - 1e-9) &&
                    consumer->rate / consumer->speed >= highest[r] * (1 - 1e-9);
        }
        assert_true(consumer->rate <= consumer->bound);
        assert_true(held > 0 || consumer->rate == consumer->bound);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_alike_have_half_each, fresh, end),
        cmocka_unit_test_setup_teardown(who_wants_little_has_it_all, fresh, end),
        cmocka_unit_test_setup_teardown(three_ways, fresh, end),
        cmocka_unit_test_setup_teardown(who_is_not_held_back_goes_on, fresh, end),
        cmocka_unit_test_setup_teardown(speeds_are_weights, fresh, end),
        cmocka_unit_test_setup_teardown(limits_and_nothing, fresh, end),
        cmocka_unit_test_setup_teardown(awkward_numbers, fresh, end),
    };

    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
