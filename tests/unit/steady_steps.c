/* The steady state of a recorded run: which steps are set aside, and what is repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sim/baseline/steady.h"
#include "sim/baseline/steps.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"

enum { US = 1000000 };

static struct gt_workload *begin(void)
{
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    gt_workload_add_stream(w);
    return w;
}

static struct gt_call *call(struct gt_workload *w, enum gt_call_kind kind, gt_time_ps before_us,
                            gt_time_ps duration_us)
{
    gt_call_index index = gt_workload_add_call(w);
    struct gt_call *added = &w->calls[index];

    added->kind = (uint8_t)kind;
    added->flags = GT_CALL_STATED;
    added->stream = GT_NONE;
    added->before_ps = before_us * US;
    added->duration_ps = duration_us * US;
    return added;
}

/* A launch of a kernel of that name, 10 us long, 5 us behind the call before it. */
static void launch(struct gt_workload *w, const char *name, gt_time_ps before_us)
{
    struct gt_kernel kernel = {
        .name = gt_name(w, name, strlen(name)),
        .grid = { 1, 1, 1 },
        .block = { 32, 1, 1 },
        .cluster = { 1, 1, 1 },
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
    };
    gt_kernel_index index = gt_workload_kernel(w, &kernel);
    gt_op_index op;

    call(w, GT_CALL_LAUNCH, before_us, 5)->stream = 0;
    op = gt_workload_add_op(w);
    w->calls[w->call_count - 1].first_op = op;
    w->calls[w->call_count - 1].ops = 1;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].stream = 0;
    w->ops[op].call = w->call_count - 1;
    w->ops[op].kernel = index;
    w->ops[op].duration_ps = 10 * (gt_time_ps)US;
}

/* Three kernels and a wait; `cold`: memory is allocated and code loaded on the way. */
static void iterate(struct gt_workload *w, bool cold)
{
    static const char *const names[] = { "gemm", "norm", "act" };

    for (int i = 0; i < 3; i++) {
        if (cold)
            call(w, GT_CALL_ALLOC, 100, 200)->buffer = GT_NONE;
        launch(w, names[i], cold ? 20000 : 5);
    }
    call(w, GT_CALL_DEVICE_SYNC, 5, 2);
}

static struct gt_device device;
static struct gt_framework framework;

static int load_device(void **state)
{
    struct gt_error error;

    (void)state;
    return gt_device_load("toy", &device, &error) == 0 ? gt_framework_load(NULL, &framework, &error) : -1;
}

static void a_cold_iteration_is_set_aside(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steady steady;

    (void)state;
    iterate(w, true);
    iterate(w, false);
    iterate(w, false);
    assert_int_equal(gt_steps_find(w).count, 3);
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_int_equal(steady.regular, 2);
    assert_int_equal(steady.irregular, 1);
    assert_false(steady.recorded[0].regular);
    assert_true(steady.irregular_us > 60000);
    /* Eight steps at least: the two regular ones four times, four calls each. */
    assert_int_equal(steady.steps, 8);
    assert_int_equal(steady.workload->call_count, 8 * 4);
    for (gt_call_index i = 0; i < steady.workload->call_count; i++)
        assert_true(steady.workload->calls[i].kind != GT_CALL_ALLOC);
    gt_steady_free(&steady);
    gt_workload_free(w);
}

/* Without an iteration to compare with, start-up is what takes many times longer than most. */
static void one_cold_iteration_is_estimated(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steady steady;
    gt_time_ps host_ps = 0;

    (void)state;
    call(w, GT_CALL_ALLOC, 0, 500000)->buffer = GT_NONE;
    for (int i = 0; i < 9; i++) {
        char name[] = "kernel0";

        name[6] = (char)('0' + i);
        launch(w, name, i == 4 ? 90000 : 5);
    }
    call(w, GT_CALL_DEVICE_SYNC, 5, 2);
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_true(steady.single);
    assert_true(steady.cold);
    assert_int_equal(steady.steps, 8);
    for (gt_call_index i = 0; i < steady.workload->call_count / 8; i++)
        host_ps += steady.workload->calls[i].before_ps + steady.workload->calls[i].duration_ps;
    /* Nine launches of 5 us, 5 us apart but for one of 5 times that, and the wait of 7. */
    assert_true(host_ps < 130 * (gt_time_ps)US);
    gt_steady_free(&steady);
    w->calls[0].before_ps = w->calls[0].kept_ps =
        20000 * (gt_time_ps)US; /* the batch was loaded before memory was allocated */
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_int_equal(steady.workload->calls[0].kept_ps, 20000 * (gt_time_ps)US);
    assert_int_equal(steady.workload->calls[0].before_ps, 20000 * (gt_time_ps)US);
    gt_steady_free(&steady);
    gt_steady_find(&steady, w, &device, &framework, false); /* a typed run is no loop */
    assert_null(steady.workload);
    gt_steady_free(&steady);
    gt_workload_free(w);
}

/* Of a framework's operators it is known what a warm host takes: where all are cold, no call of the step tells. */
static void operators_limit_a_cold_iteration(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steady steady;
    gt_time_ps host_ps = 0;

    (void)state;
    call(w, GT_CALL_ALLOC, 0, 500000)->buffer = GT_NONE;
    for (int i = 0; i < 9; i++) {
        char name[] = "kernel0";
        gt_range_index range = gt_workload_add_range(w);

        name[6] = (char)('0' + i);
        launch(w, name, 7000);
        w->ranges[range].kind = GT_RANGE_OPERATOR;
        w->ranges[range].name = gt_name(w, "aten::relu", 10);
        w->ranges[range].first_call = w->call_count - 1;
        w->ranges[range].end_call = w->call_count;
        w->ranges[range].parent = GT_NONE;
    }
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_true(steady.cold);
    for (gt_call_index i = 0; i < steady.workload->call_count / 8; i++)
        host_ps += steady.workload->calls[i].before_ps + steady.workload->calls[i].duration_ps;
    /* Nine launches of 5 us at most, each behind 2.2 us and 1 us for either end of an operator. */
    assert_true(host_ps < 9 * 10 * (gt_time_ps)US);
    assert_true(host_ps > 9 * 3 * (gt_time_ps)US);
    gt_steady_free(&steady);
    gt_workload_free(w);
}

/* Three rows and a wait, twice: two steps of three rows, not six of one. */
static void a_wait_ends_a_step_of_several_rows(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steps steps;

    (void)state;
    for (int step = 0; step < 2; step++) {
        for (int row = 0; row < 3; row++) {
            launch(w, "gemm", 5);
            launch(w, "norm", 5);
        }
        call(w, GT_CALL_DEVICE_SYNC, 5, 2);
    }
    steps = gt_steps_find(w);
    assert_int_equal(steps.count, 2);
    assert_int_equal(steps.rows, 3);
    gt_workload_free(w);
}

/* A process makes its model first: other kernels stand before the rows, but the host waits behind each third. */
static void set_up_makes_no_layers_of_steps_that_end_with_a_wait(void **state)
{
    struct gt_workload *w = begin();

    (void)state;
    launch(w, "weights", 5);
    launch(w, "data", 5);
    for (int step = 0; step < 3; step++) {
        for (int row = 0; row < 3; row++) {
            launch(w, "gemm", 5);
            launch(w, "norm", 5);
        }
        call(w, GT_CALL_DEVICE_SYNC, 5, 2);
    }
    assert_int_equal(gt_steps_find(w).count, 3);
    gt_workload_free(w);
}

static void annotate(struct gt_workload *w, gt_call_index first)
{
    gt_range_index range = gt_workload_add_range(w);

    w->ranges[range].kind = GT_RANGE_NVTX;
    w->ranges[range].name = gt_name(w, "iteration", 9);
    w->ranges[range].first_call = first;
    w->ranges[range].end_call = w->call_count;
    w->ranges[range].parent = GT_NONE;
}

/* Annotations hold the work from the first of them on, not what made the model. */
static void annotations_behind_set_up_are_steps(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steady steady;
    struct gt_steps steps;

    (void)state;
    for (int i = 0; i < 40; i++)
        launch(w, "init", 5);
    for (int step = 0; step < 2; step++) {
        gt_call_index first = w->call_count;

        iterate(w, false);
        annotate(w, first);
    }
    steps = gt_steps_find(w);
    assert_int_equal(steps.by, GT_STEPS_ANNOTATED);
    assert_int_equal(steps.count, 2);
    gt_workload_free(w);

    w = begin();
    for (int i = 0; i < 10; i++)
        launch(w, "init", 5);
    iterate(w, false);
    annotate(w, 10);
    assert_int_equal(gt_steps_find(w).by, GT_STEPS_ANNOTATED);
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_true(steady.single);
    assert_int_equal(steady.workload->call_count, 8 * 4);
    gt_steady_free(&steady);
    gt_workload_free(w);
}

/* What a data loader takes differs from step to step, and makes none irregular. */
static void time_for_data_is_not_compared(void **state)
{
    struct gt_workload *w = begin();
    struct gt_steady steady;

    (void)state;
    for (int i = 0; i < 4; i++) {
        gt_call_index first = w->call_count;

        iterate(w, false);
        w->calls[first].kept_ps = i % 2 == 0 ? 30000 * (gt_time_ps)US : 0;
        w->calls[first].before_ps += w->calls[first].kept_ps;
    }
    assert_int_equal(gt_steps_find(w).count, 4);
    gt_steady_find(&steady, w, &device, &framework, true);
    assert_int_equal(steady.regular, 4);
    gt_steady_free(&steady);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_iteration_is_set_aside),
        cmocka_unit_test(one_cold_iteration_is_estimated),
        cmocka_unit_test(operators_limit_a_cold_iteration),
        cmocka_unit_test(a_wait_ends_a_step_of_several_rows),
        cmocka_unit_test(time_for_data_is_not_compared),
        cmocka_unit_test(annotations_behind_set_up_are_steps),
        cmocka_unit_test(set_up_makes_no_layers_of_steps_that_end_with_a_wait),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, load_device, NULL);
}
