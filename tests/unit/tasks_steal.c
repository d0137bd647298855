/* Workers that take each other's tasks: scenarios whose times are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/task_scenario.h"

static void set_steal_costs(struct task_machine *m)
{
    machine_set(m, "tasks.queue_us", "1");
    machine_set(m, "tasks.overhead_us", "0.5");
    machine_set(m, "tasks.signal_us", "0.5");
    machine_set(m, "tasks.poll_us", "0.4");
    machine_set(m, "tasks.found_us", "0.1");
    machine_set(m, "tasks.load_us", "0.2");
    machine_set(m, "tasks.fence_us", "0.3");
    machine_set(m, "tasks.steal_us", "2.6");
    machine_set(m, "tasks.look_us", "0.6");
    machine_set(m, "tasks.try_us", "0.8");
}

/* a is dealt to worker 0, x to worker 1: a look at their own takes 0.5, the atomic 0.5 to the deque, and 1 from there to
 * having the task.  x ends at 3.5; worker 1 has looked at its own until 4 and drawn where to begin until 4.6.  Its looks of
 * 0.6, in turn at worker 0's tasks and whether all have been taken, see what is there 0.4 after they begin: at 5, 6.2 and so
 * on worker 0's.  a ends at 6.5, has signalled at 7, has the answer at 7.5, knows at 9.6 that b and c are ready and has
 * put them on worker 0's deque at 10.9.  The look that sees both at 11 leads to an atomic at 12.2, but worker 0's own took c,
 * the newer, at 11.9: worker 1 tries again at 13.4 and has b at 14.4.  After c worker 0 asks at 15.4, looks at worker 1's
 * tasks from 16.5 on and knows at 17.7 that all are taken; worker 1, after b, from 16.9 on, at 19.2. */
static void test_steal(void **state)
{
    struct task_machine m;
    gt_task_index a, b, c, x;
    gt_task_counter_index ready;

    (void)state;
    machine_make(&m);
    set_steal_costs(&m);
    ready = counter(&m);
    a = add(&m, 4 * US, GT_NONE);
    gt_task_graph_add_signal(m.graph, ready);
    b = add(&m, 2 * US, GT_NONE);
    gt_task_graph_add_wait(m.graph, ready, 1);
    c = add(&m, 2 * US, GT_NONE);
    gt_task_graph_add_wait(m.graph, ready, 1);
    x = add(&m, 1 * US, GT_NONE);
    machine_launch(&m, "steal", 2, 32);
    run(&m);
    expect(&m, 0, a, 0, 0, 2000, 2500, 6500);
    expect(&m, 0, x, 1, 0, 2000, 2500, 3500);
    expect(&m, 0, b, 1, 3500, 14400, 14900, 16900);
    expect(&m, 0, c, 0, 10900, 12900, 13400, 15400);
    assert_true(machine_record(&m, 0, b)->stolen);
    assert_false(machine_record(&m, 0, c)->stolen);
    assert_int_equal(m.op_end_ps[0], 19200 * NS);
    machine_free(&m);
}

/* Workers 0 and 1 have two tasks each and do the newer ones first, 9 us; workers 2 and 3 are done at 3.5, and see both of the
 * others' deques at 5, and go for the same
 * one first, at 6.2: one has it at 7.2.  The
 * other finds it empty and tries the next deque 0.8 later: at 7, so that it has that task at 8. */
static void test_late_thieves(void **state)
{
    struct task_machine m;
    gt_time_ps first_ps, second_ps;

    (void)state;
    machine_make(&m);
    set_steal_costs(&m);
    m.options.seed = 2; /* their turns begin so that both come to the same deque first */
    for (int i = 0; i < 6; i++)
        add(&m, i == 2 || i == 3 ? 1 * US : 9 * US, GT_NONE);
    machine_launch(&m, "steal", 4, 32);
    run(&m);
    first_ps = machine_record(&m, 0, 0)->taken_ps;
    second_ps = machine_record(&m, 0, 1)->taken_ps;
    assert_true(machine_record(&m, 0, 0)->stolen && machine_record(&m, 0, 1)->stolen);
    assert_int_equal(first_ps < second_ps ? first_ps : second_ps, 7200 * NS);
    assert_int_equal(first_ps < second_ps ? second_ps : first_ps, 8 * US);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steal),
        cmocka_unit_test(test_late_thieves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
