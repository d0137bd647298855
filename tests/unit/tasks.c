/* Task graphs: scenarios whose times are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/task_machine.h"

/* When a task was asked for, known, started, ended, in ns. */
static void expect(const struct task_machine *m, gt_op_index op, gt_task_index task, gt_worker_index worker,
                   uint64_t asked_ns, uint64_t taken_ns, uint64_t start_ns, uint64_t end_ns)
{
    const struct gt_task_record *record = machine_record(m, op, task);

    assert_int_equal(record->worker, worker);
    assert_int_equal(record->asked_ps, asked_ns * NS);
    assert_int_equal(record->taken_ps, taken_ns * NS);
    assert_int_equal(record->start_ps, start_ns * NS);
    assert_int_equal(record->end_ps, end_ns * NS);
}

static void run(struct task_machine *m)
{
    if (machine_run(m) != 0)
        fail_msg("%s", m->error.text);
}

/* Two workers, three tasks of 4 us; an atomic takes 1 us, the second on its address 0.1 longer; 0.5 us more until a
 * task is read.  Worker 0 asks at 0, 5.5 and 11; worker 1, 0.1 us behind, at 0 and 5.6, when nothing is left. */
static void test_shared(void **state)
{
    struct task_machine m;
    gt_task_kind_index kind;

    (void)state;
    machine_make(&m);
    machine_set(&m, "tasks.queue_us", "1");
    machine_set(&m, "tasks.queue_serial_ns", "100");
    machine_set(&m, "tasks.overhead_us", "0.5");
    kind = machine_kind(&m, 4 * US);
    for (int i = 0; i < 3; i++)
        gt_task_graph_add_task(m.graph, kind);
    machine_launch(&m, "shared", 2, 32);
    run(&m);
    expect(&m, 0, 0, 0, 0, 1500, 1500, 5500);
    expect(&m, 0, 1, 1, 0, 1600, 1600, 5600);
    expect(&m, 0, 2, 0, 5500, 7000, 7000, 11000);
    assert_int_equal(m.op_end_ps[0], 12 * US);
    assert_int_equal(m.summary.tasks, 3);
    assert_int_equal(m.summary.blocks, 2);
    m.options.blocks = false; /* as a bar: as long as alone on the device */
    run(&m);
    assert_int_equal(m.op_end_ps[0], 12 * US);
    machine_free(&m);
}

/* Worker 0 does a (4 us), which signals; worker 1 waits for it with b (2 us).  Both have read their task at 0.5.  a
 * ends at 4.5, its counter is there at 5.  Worker 1 looks at it from 0.5 on, 1 us a look: the look that has its
 * middle at 5 sees it and is over at 5.5. */
static void test_static(void **state)
{
    struct task_machine m;
    gt_task_counter_index counter;
    gt_task_index a, b;

    (void)state;
    machine_make(&m);
    machine_set(&m, "tasks.overhead_us", "0.5");
    machine_set(&m, "tasks.signal_us", "0.5");
    machine_set(&m, "tasks.poll_us", "1");
    counter = gt_task_graph_add_counter(m.graph, GT_NONE, 0);
    a = gt_task_graph_add_task(m.graph, machine_kind(&m, 4 * US));
    m.graph->tasks[a].worker = 0;
    gt_task_graph_add_signal(m.graph, counter);
    b = gt_task_graph_add_task(m.graph, machine_kind(&m, 2 * US));
    m.graph->tasks[b].worker = 1;
    gt_task_graph_add_wait(m.graph, counter, 1);
    machine_launch(&m, "static", 2, 32);
    run(&m);
    expect(&m, 0, a, 0, 0, 500, 500, 4500);
    expect(&m, 0, b, 1, 0, 500, 5500, 7500);
    assert_int_equal(machine_record(&m, 0, b)->cause_task, a);
    assert_int_equal(m.op_end_ps[0], 7500 * NS);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_static),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
