/* Task graphs that cannot be done: deadlocks, with what each worker waits for, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/task_scenario.h"

static void expect_error(struct task_machine *m, const char *text)
{
    assert_int_equal(machine_run(m), -1);
    if (strstr(m->error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, m->error.text);
}

/* On one SM four of eight blocks are resident; worker 0 waits for what worker 4 would signal. */
static void test_deadlock(void **state)
{
    struct task_machine m;
    gt_task_counter_index c;

    (void)state;
    machine_make(&m);
    c = gt_task_graph_add_counter(m.graph, machine_name(&m, "done"), 0);
    for (gt_worker_index worker = 0; worker < 8; worker++) {
        add(&m, 1 * US, worker);
        if (worker < 4)
            gt_task_graph_add_wait(m.graph, c, 4);
        else
            gt_task_graph_add_signal(m.graph, c);
    }
    m.graph->tasks[0].name = machine_name(&m, "first");
    machine_launch(&m, "static", 8, 256);
    run(&m);
    assert_int_equal(m.op_end_ps[0], 2 * US);
    machine_set(&m, "chip.sms", "1");
    expect_error(&m, "deadlock");
    expect_error(&m, "kernel 'mega': worker 0 waits with task 'first' for counter 'done', at 0 of 4, which task 4 "
                     "signals of worker 4, whose block is not resident");
    expect_error(&m, "and 1 workers more; 4 of its 8 blocks are resident");
    m.options.blocks = false;
    expect_error(&m, "worker 4, whose block is not resident");
    machine_free(&m);
}

/* Two signals are asked for, one comes; in no policy does the task begin. */
static void test_deadlock_of_threshold(void **state)
{
    static const char *const policies[] = { "shared", "ready", "steal", "static", "mixed" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct task_machine m;
        gt_task_counter_index c;

        machine_make(&m);
        c = counter(&m);
        add(&m, 1 * US, 0);
        gt_task_graph_add_signal(m.graph, c);
        add(&m, 1 * US, 1);
        gt_task_graph_add_wait(m.graph, c, 2);
        machine_launch(&m, policies[i], 2, 256);
        expect_error(&m, "counter 0, at 1 of 2, which nobody is left to signal");
        machine_free(&m);
    }
}

/* One worker takes b first, in the order of the graph, and waits for a, which nobody takes. */
static void test_deadlock_of_order(void **state)
{
    struct task_machine m;
    gt_task_counter_index c;

    (void)state;
    machine_make(&m);
    c = counter(&m);
    add(&m, 1 * US, 0);
    gt_task_graph_add_wait(m.graph, c, 1);
    add(&m, 1 * US, 0);
    gt_task_graph_add_signal(m.graph, c);
    machine_launch(&m, "shared", 1, 256);
    expect_error(&m, "which task 1 signals that nobody has taken");
    machine_free(&m);
    machine_make(&m);
    c = counter(&m);
    add(&m, 1 * US, 0);
    gt_task_graph_add_wait(m.graph, c, 1);
    add(&m, 1 * US, 0);
    gt_task_graph_add_signal(m.graph, c);
    machine_launch(&m, "static", 1, 256);
    expect_error(&m, "which task 1 signals that is further down the list of worker 0");
    machine_free(&m);
}

static void test_refused(void **state)
{
    struct task_machine m;

    (void)state;
    machine_make(&m);
    add(&m, 1 * US, GT_NONE);
    machine_launch(&m, "fastest", 1, 32);
    expect_error(&m, "no policy 'fastest'; there are: shared (");
    machine_free(&m);
    machine_make(&m);
    add(&m, 1 * US, GT_NONE);
    machine_launch(&m, "static", 1, 32);
    expect_error(&m, "task 0 is in no worker's list");
    m.graph->tasks[0].worker = 1;
    expect_error(&m, "task 0 is in the list of worker 1, and the grid has 1 blocks");
    machine_free(&m);
    machine_make(&m);
    add(&m, 1 * US, GT_NONE);
    gt_task_graph_add_made(m.graph, 1);
    add(&m, 1 * US, GT_NONE);
    machine_launch(&m, "shared", 1, 32);
    expect_error(&m, "its tasks make others, which policy shared knows nothing of");
    machine_free(&m);
    machine_make(&m);
    add(&m, GT_TIME_NONE, GT_NONE);
    machine_launch(&m, "shared", 1, 32);
    expect_error(&m, "task 0 says no time, no bytes and no operations");
    m.graph->tasks[0].bytes = 0;
    run(&m);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_deadlock_of_threshold),
        cmocka_unit_test(test_deadlock_of_order),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
