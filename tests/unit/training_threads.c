/* Whose threads are as good as one, and whose repeated rows are the steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/rewrite/repeats.h"
#include "sim/training/threads.h"

enum { US = 1000000, PROCESS = 4711 };

/* One GPU, one stream, three threads of one process, of which the second is its first. */
static struct gt_workload *begin(void)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    gt_workload_add_stream(w);
    for (uint64_t id = 5000; id < 5003; id++) {
        gt_thread_index thread = gt_workload_add_thread(w);

        w->threads[thread].process = PROCESS;
        w->threads[thread].id = id == 5001 ? PROCESS : id;
    }
    return w;
}

/* A thread launches `count` kernels, each 10 us behind the one before; the first, `handover_us` behind another thread's last. */
static void turn(struct gt_workload *w, gt_thread_index thread, uint32_t count, uint64_t handover_us)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[] = { 'k', (char)('a' + thread), (char)('a' + i), '\0' };
        gt_call_index call = gt_workload_add_call(w);
        gt_op_index op = gt_workload_add_op(w);
        struct gt_kernel kernel = {
            .name = gt_name(w, name, strlen(name)),
            .grid = { 1, 1, 1 },
            .block = { 32, 1, 1 },
            .runs = GT_NONE,
            .arguments = GT_NONE,
            .duration_ps = GT_TIME_NONE,
        };

        w->calls[call].kind = GT_CALL_LAUNCH;
        w->calls[call].thread = thread;
        w->calls[call].stream = 0;
        w->calls[call].ops = 1;
        w->calls[call].first_op = op;
        w->calls[call].before_ps = 5 * US;
        w->calls[call].duration_ps = 5 * US;
        w->ops[op].call = call;
        w->ops[op].kernel = gt_workload_kernel(w, &kernel);
        if (i == 0 && call > 0)
            w->calls[call].handover_ps = handover_us * US;
    }
}

/* Is thread 0 joined to thread 1 where they take three turns, of so many calls each? */
static bool joined(uint32_t own, uint32_t mains, uint64_t handover_us)
{
    struct gt_workload *w = begin();
    bool found[3] = { false };

    for (int i = 0; i < 3; i++) {
        turn(w, 1, mains, handover_us);
        turn(w, 0, own, handover_us);
    }
    gt_threads_join_alternating(w, 1, found);
    assert_false(found[2]);
    gt_workload_free(w);
    return found[0];
}

static void threads_that_take_long_turns_are_one(void **state)
{
    (void)state;
    assert_true(joined(20, 10, 30));
    assert_false(joined(20, 10, 0)); /* both are in a call at once */
    assert_false(joined(2, 10, 30)); /* fetches data */
    assert_false(joined(20, 2, 30)); /* looks after the other */
    /* Three turns of 19 calls behind their first take 570 us; between the turns are 5 times as many us as said here, the first has none. */
    assert_true(joined(20, 10, 113));
    assert_false(joined(20, 10, 115));
}

static void the_first_thread_has_the_steps(void **state)
{
    struct gt_workload *w = begin();
    struct gt_repeats repeats;

    (void)state;
    for (int i = 0; i < 4; i++) {
        turn(w, 1, 10, 30);
        turn(w, 0, 20, 30);
    }
    assert_int_equal(gt_repeats_busiest_thread(w), 0);
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.thread, 1);
    assert_int_equal(repeats.count, 4);
    assert_int_equal(repeats.first_call[0], 0);
    assert_int_equal(repeats.first_call[1], 30);
    free(repeats.first_call);
    assert_int_equal(gt_threads_asking(w, 0), 1);
    w->threads[1].id = 5001; /* now none is known to be the first */
    assert_true(gt_repeats_find(&repeats, w));
    assert_int_equal(repeats.thread, 0);
    free(repeats.first_call);
    assert_int_equal(gt_threads_asking(w, 0), 0);
    gt_workload_free(w);
}

/* Thread 0 makes gradients: the one that asked for them is the first, or asked for work before it. */
static void a_backward_pass_is_asked_for(void **state)
{
    struct gt_workload *w = begin();
    gt_range_index range;

    (void)state;
    turn(w, 2, 3, 0);
    turn(w, 0, 20, 30);
    turn(w, 1, 3, 30);
    range = gt_workload_add_range(w);
    w->ranges[range].thread = 0;
    w->ranges[range].name = gt_name(w, "torch::autograd::AccumulateGrad", 31);
    assert_int_equal(gt_threads_asking(w, 0), 1);
    assert_int_equal(gt_threads_asking(w, 2), 2); /* makes none */
    w->threads[1].id = 5001;
    assert_int_equal(gt_threads_asking(w, 0), 2);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_take_long_turns_are_one),
        cmocka_unit_test(the_first_thread_has_the_steps),
        cmocka_unit_test(a_backward_pass_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
