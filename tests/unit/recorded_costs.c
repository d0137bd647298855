/* Times of tasks out of a recording: what a task adds to its worker's time, first tasks apart, gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/base/sort.h"
#include "traces/tasks/recorded_costs.h"

#define NS UINT64_C(1000)

/* The next `count` times of a kind, rising. */
static void draw(struct gt_recorded_costs *costs, uint32_t kind, bool first, uint64_t *times, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        times[i] = gt_recorded_costs_draw(costs, kind, first);
    qsort(times, count, sizeof *times, gt_by_u64);
}

/* Worker 0: kind 0 from 0 to 50, from 60 to 80 and, where that is still running, from 70 to 95, of which it adds 15.  Worker 1: kind
 * 1 from 0 to 30, kind 0 from 35 to 65 with kind 1 within it, which adds nothing, and kind 0 from 70 to 77.  So kind 0 has 50 as
 * a first task and 20, 15, 30 and 7 later; kind 1 has 30 and 0.  Gaps: 10 and 0; 5, 0 and 5. */
static void times_are_what_tasks_add(void **state)
{
    struct gt_task_slice list[] = { { 0, 50, 0, 0 },  { 60, 80, 0, 0 }, { 70, 95, 0, 0 }, { 0, 30, 1, 1 },
                                    { 35, 65, 1, 0 }, { 40, 60, 1, 1 }, { 70, 77, 1, 0 } };
    const struct gt_task_slices slices = { .slices = list, .count = 7, .kind_count = 3 };
    struct gt_recorded_costs *costs = gt_recorded_costs_new(&slices);
    uint64_t times[4];

    (void)state;
    draw(costs, 0, true, times, 2); /* the one there is, again */
    assert_int_equal(times[0], 50 * NS);
    assert_int_equal(times[1], 50 * NS);
    for (int round = 0; round < 2; round++) {
        draw(costs, 0, false, times, 4);
        assert_int_equal(times[0], 7 * NS);
        assert_int_equal(times[1], 15 * NS);
        assert_int_equal(times[2], 20 * NS);
        assert_int_equal(times[3], 30 * NS);
    }
    assert_int_equal(gt_recorded_costs_draw(costs, 1, true), 30 * NS);
    assert_int_equal(gt_recorded_costs_draw(costs, 1, false), 0);
    assert_true(gt_recorded_costs_draw(costs, 2, false) == GT_TIME_NONE);
    assert_int_equal(gt_recorded_costs_between(costs), 4 * NS);
    gt_recorded_costs_free(costs);
}

/* No second task, so no gap; later tasks are as first ones. */
static void a_single_task_stands_for_all(void **state)
{
    struct gt_task_slice list[] = { { 5, 12, 3, 0 } };
    const struct gt_task_slices slices = { .slices = list, .count = 1, .kind_count = 1 };
    struct gt_recorded_costs *costs = gt_recorded_costs_new(&slices);

    (void)state;
    assert_int_equal(gt_recorded_costs_draw(costs, 0, false), 7 * NS);
    assert_true(gt_recorded_costs_between(costs) == GT_TIME_NONE);
    gt_recorded_costs_free(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_what_tasks_add),
        cmocka_unit_test(a_single_task_stands_for_all),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
