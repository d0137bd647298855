/* Task graphs: scenarios whose times are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/task_scenario.h"

/* Two workers, three tasks of 4 us; an atomic takes 1 us, the second on its address 0.1 longer; 0.5 us more until a
 * task is read.  Worker 0 asks at 0, 5.5 and 11; worker 1, 0.1 us behind, at 0 and 5.6, when nothing is left. */
static void test_shared(void **state)
{
    struct task_machine m;
    gt_task_kind_index kind;

    (void)state;
    machine_costs(&m, "queue_us=1 queue_serial_ns=100 overhead_us=0.5");
    kind = machine_kind(&m, 4 * US);
    for (int i = 0; i < 3; i++)
        gt_task_graph_add_task(m.graph, kind);
    machine_launch(&m, "shared", 2, 32);
    run(&m);
    expect(&m, 0, 0, 0, 0, 1000, 1500, 5500);
    expect(&m, 0, 1, 1, 0, 1100, 1600, 5600);
    expect(&m, 0, 2, 0, 5500, 6500, 7000, 11000);
    assert_int_equal(m.op_end_ps[0], 12 * US);
    assert_int_equal(m.summary.tasks, 3);
    assert_int_equal(m.summary.blocks, 2);
    m.options.blocks = false; /* as a bar: as long as alone on the device */
    run(&m);
    assert_int_equal(m.op_end_ps[0], 12 * US);
    machine_free(&m);
}

/* Worker 0 does a (4 us), which signals; worker 1 waits for it with b (2 us).  Each loads its list until 0.2 and has read its
 * task at 0.7.  a ends at 4.7; its worker goes on at 5.2, its counter is there at 5.5.  Worker 1 loads what b waits for
 * until 0.9 and then looks, 1 us a look: the one with its middle at 5.4 does not see it, the next is over at 6.9, and it
 * goes on at 7.  A block ends 0.4 behind its list. */
static void test_static(void **state)
{
    struct task_machine m;
    gt_task_counter_index counter;
    gt_task_index a, b;

    (void)state;
    machine_costs(&m, "overhead_us=0.5 signal_us=0.5 flight_us=0.3 load_us=0.2 found_us=0.1 poll_us=1 end_us=0.4");
    counter = gt_task_graph_add_counter(m.graph, GT_NONE, 0);
    a = gt_task_graph_add_task(m.graph, machine_kind(&m, 4 * US));
    m.graph->tasks[a].worker = 0;
    gt_task_graph_add_signal(m.graph, counter);
    b = gt_task_graph_add_task(m.graph, machine_kind(&m, 2 * US));
    m.graph->tasks[b].worker = 1;
    gt_task_graph_add_wait(m.graph, counter, 1);
    machine_launch(&m, "static", 2, 32);
    run(&m);
    expect(&m, 0, a, 0, 0, 200, 700, 4700);
    expect(&m, 0, b, 1, 0, 200, 7000, 9000);
    assert_int_equal(machine_record(&m, 0, b)->cause_task, a);
    assert_int_equal(m.op_end_ps[0], 9400 * NS);
    machine_free(&m);
}

/* A worker's first task is read at 0.6, when the list has been loaded until 0.1; what was recorded between tasks, 0.3, takes the
 * place of both from then on: without it the second task would begin 0.05 + 0.5 behind the first one's end. */
static void test_static_as_recorded(void **state)
{
    struct task_machine m;
    gt_task_index a, b;

    (void)state;
    machine_costs(&m, "overhead_us=0.5 load_us=0.1");
    a = add(&m, 4 * US, 0);
    b = add(&m, 2 * US, 0);
    machine_launch(&m, "static", 1, 32);
    run(&m);
    expect(&m, 0, a, 0, 0, 100, 600, 4600);
    expect(&m, 0, b, 0, 4600, 4650, 5150, 7150);
    m.graph->between_ps = 300 * NS;
    run(&m);
    expect(&m, 0, a, 0, 0, 100, 600, 4600);
    expect(&m, 0, b, 0, 4600, 4600, 4900, 6900);
    machine_free(&m);
}

/* a and x are there from the start; worker 0's ticket, the first, is for a, worker 1's, 0.1 later, for x.  A ticket takes
 * 1, a look at its place 1 and 0.1, reading the task 0.5.  x ends at 3.7; the last ticket, from 4.7 on, is for b, which a
 * lets go: a ends at 6.6, signals until 7.2, has the answer at 7.7, has looked up who that lets go at 8.7 and who they
 * are at 9.7, has counted down what b lacks at 11 and pushed it at 12.3, with a fence of 0.3 each.  Worker 1's look with
 * its middle at 13.2 sees that and is over at 13.7.  Worker 0's next ticket is beyond the last task: it goes at 13.7, 0.4
 * after it knows. */
static void test_ready(void **state)
{
    struct task_machine m;
    gt_task_index a, b, x;
    gt_task_counter_index c;

    (void)state;
    machine_costs(&m, "queue_us=1 queue_serial_ns=100 overhead_us=0.5 signal_us=0.6 poll_us=1 found_us=0.1 "
                      "fence_us=0.3 end_us=0.4");
    c = counter(&m);
    a = add(&m, 4 * US, GT_NONE);
    gt_task_graph_add_signal(m.graph, c);
    b = add(&m, 2 * US, GT_NONE);
    gt_task_graph_add_wait(m.graph, c, 1);
    x = add(&m, 1 * US, GT_NONE);
    machine_launch(&m, "ready", 2, 32);
    run(&m);
    expect(&m, 0, a, 0, 0, 2100, 2600, 6600);
    expect(&m, 0, x, 1, 0, 2200, 2700, 3700);
    expect(&m, 0, b, 1, 3700, 13800, 14300, 16300);
    assert_int_equal(machine_record(&m, 0, b)->cause_task, a);
    assert_int_equal(machine_record(&m, 0, x)->cause_task, GT_NONE);
    assert_int_equal(m.op_end_ps[0], 17700 * NS);
    machine_free(&m);
}

/* p is worker 1's, q and r are anybody's: an atomic of 1 us gets worker 0 q at 1 and r at 4; worker 1 does p until 3.5,
 * and an atomic tells it that nothing is left. */
static void test_mixed(void **state)
{
    struct task_machine m;
    gt_task_index p, q, r;

    (void)state;
    machine_costs(&m, "queue_us=1");
    q = add(&m, 2 * US, GT_NONE);
    p = add(&m, 3500 * NS, 1);
    r = add(&m, 2 * US, GT_NONE);
    machine_launch(&m, "mixed", 2, 32);
    run(&m);
    expect(&m, 0, q, 0, 0, 1000, 1000, 3000);
    expect(&m, 0, p, 1, 0, 0, 0, 3500);
    expect(&m, 0, r, 0, 3000, 4000, 4000, 6000);
    assert_int_equal(m.op_end_ps[0], 7 * US);
    machine_free(&m);
}

/* a (2 us) makes b (3 us), b makes c (1 us): one after the other, whoever does them. */
static void test_made(void **state)
{
    static const char *const policies[] = { "ready", "steal" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct task_machine m;
        gt_task_index a, b, c;

        machine_make(&m);
        a = add(&m, 2 * US, GT_NONE);
        gt_task_graph_add_made(m.graph, 1);
        b = add(&m, 3 * US, GT_NONE);
        gt_task_graph_add_made(m.graph, 2);
        c = add(&m, 1 * US, GT_NONE);
        machine_launch(&m, policies[i], 2, 32);
        run(&m);
        assert_int_equal(machine_record(&m, 0, a)->end_ps, 2 * US);
        assert_int_equal(machine_record(&m, 0, b)->end_ps, 5 * US);
        assert_int_equal(machine_record(&m, 0, b)->cause_task, a);
        assert_int_equal(machine_record(&m, 0, c)->end_ps, 6 * US);
        assert_int_equal(m.op_end_ps[0], 6 * US);
        machine_free(&m);
    }
}

/* Eight workers ask at once; the queue serves one a microsecond. */
static void test_contention(void **state)
{
    struct task_machine m;

    (void)state;
    machine_costs(&m, "queue_serial_ns=1000");
    for (int i = 0; i < 8; i++)
        add(&m, 9 * US, GT_NONE);
    machine_launch(&m, "shared", 8, 256);
    run(&m);
    for (gt_task_index i = 0; i < 8; i++)
        assert_int_equal(machine_record(&m, 0, i)->start_ps, (gt_time_ps)i * US);
    machine_free(&m);
}

/* Three workers signal one counter at once, each 1 us behind the other; who waits for all of them sees it 2 us later. */
static void test_contention_of_signals(void **state)
{
    struct task_machine m;
    gt_task_counter_index all;
    gt_task_index last;

    (void)state;
    machine_costs(&m, "queue_serial_ns=1000");
    all = counter(&m);
    for (gt_worker_index i = 0; i < 3; i++) {
        add(&m, 4 * US, i);
        gt_task_graph_add_signal(m.graph, all);
    }
    last = add(&m, 1 * US, 0);
    gt_task_graph_add_wait(m.graph, all, 3);
    machine_launch(&m, "static", 3, 32);
    run(&m);
    expect(&m, 0, last, 0, 4000, 4000, 6000, 7000);
    machine_free(&m);
}

/* Eight tasks of 2 us: eight workers on two SMs take 2 us; on one SM four take two each, and the other four blocks
 * come when there is nothing left.  With a list each the later blocks do theirs then. */
static void test_fewer_sms(void **state)
{
    static const char *const policies[] = { "shared", "ready", "steal", "static" };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct task_machine m;

        machine_make(&m);
        for (gt_worker_index worker = 0; worker < 8; worker++)
            add(&m, 2 * US, worker);
        machine_launch(&m, policies[i], 8, 256);
        run(&m);
        assert_int_equal(m.op_end_ps[0], 2 * US);
        machine_set(&m, "chip.sms", "1");
        run(&m);
        assert_int_equal(m.op_end_ps[0], 4 * US);
        assert_int_equal(m.summary.blocks, 8);
        assert_int_equal(m.summary.tasks, 8);
        assert_int_equal(machine_record(&m, 0, 7)->worker < 4, i != 3);
        m.options.blocks = false;
        run(&m);
        assert_int_equal(m.op_end_ps[0], 4 * US);
        machine_free(&m);
    }
}

/* Two kernels of four blocks that fit side by side do 3 us of tasks at once; two that each fill both SMs one after the
 * other, for blocks stay until their workers have nothing more to do. */
static void test_two_kernels(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        struct task_machine m;

        machine_make(&m);
        for (int i = 0; i < 4; i++)
            add(&m, 3 * US, GT_NONE);
        machine_launch(&m, "shared", 4, full ? 512 : 256);
        machine_launch(&m, "ready", 4, full ? 512 : 256);
        run(&m);
        assert_int_equal(m.op_end_ps[0], 3 * US);
        assert_int_equal(m.op_end_ps[1], full ? 6 * US : 3 * US);
        assert_int_equal(machine_record(&m, 1, 2)->start_ps, full ? 3 * US : 0);
        machine_free(&m);
    }
}

/* A kernel needs as much as the most of its kinds: 64 registers a thread of 1,024 threads are all of an SM, so that
 * two blocks are resident, one an SM; without them one more would be. */
static void test_resources(void **state)
{
    struct task_machine m;

    (void)state;
    machine_make(&m);
    for (int i = 0; i < 4; i++)
        add(&m, 1 * US, GT_NONE);
    m.graph->kinds[2].registers_per_thread = 64;
    m.graph->kinds[3].static_shared_bytes = 40000;
    machine_launch(&m, "shared", 4, 512);
    run(&m);
    assert_int_equal(m.op_end_ps[0], 2 * US);
    m.graph->kinds[3].static_shared_bytes = 0;
    run(&m);
    assert_int_equal(m.op_end_ps[0], 1 * US);
    m.graph->kinds[2].registers_per_thread = 128;
    run(&m);
    assert_int_equal(m.op_end_ps[0], 2 * US);
    machine_free(&m);
}

/* The memory gives 100,000 bytes a us, an SM's port takes 64,000, and an SM does 100,000 operations.  a moves 100,000
 * bytes, b on the other SM 50,000 and does 300,000 operations.  Each has 50,000 a us until b's are there at 1; what a
 * lacks then takes 50,000 / 64,000 us.  b's operations take 3 us. */
static void test_roofline(void **state)
{
    struct task_machine m;
    gt_task_index a, b;

    (void)state;
    machine_make(&m);
    machine_set(&m, "memory.dram_efficiency", "1");
    a = add(&m, GT_TIME_NONE, 0);
    m.graph->tasks[a].bytes = 100000;
    b = add(&m, GT_TIME_NONE, 1);
    m.graph->kinds[1].bytes = 50000;
    m.graph->tasks[b].operations = 300000;
    machine_launch(&m, "static", 2, 32);
    run(&m);
    assert_int_equal(machine_record(&m, 0, a)->end_ps, 1781250);
    assert_int_equal(machine_record(&m, 0, b)->end_ps, 3 * US);
    machine_free(&m);
}

/* One task of 128,000 bytes on its SM's port, 64,000 a us, has 2 us to go.  From 0.5 to 1.5 us a copy in takes 60 of the
 * memory's 100 GB/s: the task then moves 40,000 a us, so that 56,000 are left at 1.5, for 0.875 us. */
static void test_roofline_beside_a_copy(void **state)
{
    struct task_machine m;
    gt_stream_index stream;
    gt_call_index call;
    gt_op_index op;

    (void)state;
    machine_make(&m);
    machine_set(&m, "memory.dram_efficiency", "1");
    machine_set(&m, "copy.h2d_pinned_gbps", "60");
    machine_set(&m, "copy.duplex_gbps", "120");
    machine_set(&m, "host.copy_call_us", "0.5");
    add(&m, GT_TIME_NONE, 0);
    m.graph->tasks[0].bytes = 128000;
    machine_launch(&m, "static", 1, 32);
    stream = gt_workload_add_stream(m.workload);
    call = gt_workload_add_call(m.workload);
    op = gt_workload_add_op(m.workload);
    m.workload->streams[stream].id = 9;
    m.workload->streams[stream].flags = GT_STREAM_NON_BLOCKING;
    m.workload->calls[call].kind = GT_CALL_COPY;
    m.workload->calls[call].ops = 1;
    m.workload->calls[call].first_op = op;
    m.workload->calls[call].stream = m.workload->ops[op].stream = stream;
    m.workload->ops[op].call = call;
    m.workload->ops[op].kind = GT_OP_COPY;
    m.workload->ops[op].direction = GT_H2D;
    m.workload->ops[op].memory = GT_MEMORY_PINNED;
    m.workload->ops[op].bytes = 60000;
    run(&m);
    assert_int_equal(m.op_start_ps[1], 500 * NS);
    assert_int_equal(m.op_end_ps[1], 1500 * NS);
    assert_int_equal(machine_record(&m, 0, 0)->end_ps, 2375 * NS);
    machine_free(&m);
}

/* 100,000 operations each: workers 0 and 2 are on one SM and take 2 us, worker 1 has the other for itself. */
static void test_roofline_of_an_sm(void **state)
{
    struct task_machine m;

    (void)state;
    machine_make(&m);
    for (gt_worker_index worker = 0; worker < 3; worker++) {
        gt_task_index task = add(&m, GT_TIME_NONE, worker);

        m.graph->tasks[task].operations = 100000;
    }
    machine_launch(&m, "static", 3, 32);
    run(&m);
    assert_int_equal(machine_record(&m, 0, 0)->end_ps, 2 * US);
    assert_int_equal(machine_record(&m, 0, 1)->end_ps, 1 * US);
    assert_int_equal(machine_record(&m, 0, 2)->end_ps, 2 * US);
    machine_free(&m);
}

/* A task that waits for 33 counters, which are all there, looks at 32 of them and then at one. */
static void test_many_waits(void **state)
{
    struct task_machine m;
    gt_task_index task;

    (void)state;
    machine_costs(&m, "poll_us=1");
    for (int i = 0; i < 33; i++)
        gt_task_graph_add_counter(m.graph, GT_NONE, 1);
    task = add(&m, 1 * US, GT_NONE);
    for (gt_task_counter_index i = 0; i < 33; i++)
        gt_task_graph_add_wait(m.graph, i, 1);
    machine_launch(&m, "shared", 1, 32);
    run(&m);
    expect(&m, 0, task, 0, 0, 0, 2000, 3000);
    machine_free(&m);
}

/* a has its ticket at 1 and takes no time.  Its worker knows half an atomic later, at 1.5, that it lets 40 tasks go: 32 of
 * them are counted down at 2.5 and published at 3.5, the other 8 behind them at 4.5 and 5.5.  All other workers wait with
 * their tickets. */
static void test_let_go_many(void **state)
{
    struct task_machine m;
    gt_task_counter_index c;

    (void)state;
    machine_costs(&m, "queue_us=1");
    c = counter(&m);
    add(&m, 0, GT_NONE);
    gt_task_graph_add_signal(m.graph, c);
    for (int i = 0; i < 40; i++) {
        add(&m, 1 * US, GT_NONE);
        gt_task_graph_add_wait(m.graph, c, 1);
    }
    machine_launch(&m, "ready", 41, 1);
    machine_set(&m, "sm.blocks", "32");
    run(&m);
    assert_int_equal(machine_record(&m, 0, 1)->start_ps, 3500 * NS);
    assert_int_equal(machine_record(&m, 0, 32)->start_ps, 3500 * NS);
    assert_int_equal(machine_record(&m, 0, 33)->start_ps, 5500 * NS);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_as_recorded),
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_contention),
        cmocka_unit_test(test_contention_of_signals),
        cmocka_unit_test(test_fewer_sms),
        cmocka_unit_test(test_two_kernels),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_roofline_of_an_sm),
        cmocka_unit_test(test_roofline_beside_a_copy),
        cmocka_unit_test(test_many_waits),
        cmocka_unit_test(test_let_go_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
