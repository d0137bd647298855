/* What kernels are played by, and simulated as. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/task_graph.h"
#include "tests/unit/two_kernels.h"
#include "validate/proxy_kernel.h"
#include "validate/strip_times.h"

static struct gt_error error;
static struct gt_device device;

/* Stood in for: alone, it lasts as long again on the simulated device. */
static void a_surrogate_lasts_as_long(void **state)
{
    struct gt_workload *workload = make_workload();
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .user = NULL };
    struct gt_summary summary;
    struct gt_kernel kernel = workload->kernels[0];
    struct gt_part part;

    (void)state;
    gt_device_init(&device);
    kernel.cost = GT_COST_NONE;
    kernel.grid[0] = 20000;
    kernel.duration_ps = 300000000;
    workload->ops[0].kernel = gt_workload_kernel(workload, &kernel);
    workload->calls[1].ops = workload->op_count = 1;
    workload->call_count = 1;
    assert_int_equal(gt_proxy_kernels_make(workload, &device, false, &error), 0);
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), 0);
    assert_string_equal(part.library, "spin");
    assert_int_equal(part.block_count, 1);
    assert_int_equal(workload->kernels[workload->ops[0].kernel].block_min_ps, part.block_ps[0]);
    assert_int_equal(gt_simulate(workload, &device, &options, &probe, &summary, &error), 0);
    assert_true(fabs((double)summary.end_ps - (double)device.launch_call_ps - (double)device.launch_latency_ps -
                     300e6) < 3e6);
    gt_part_free(&part);
    gt_workload_free(workload);
}

static void recorded_kernels_need_leave(void **state)
{
    struct gt_workload *workload = make_workload();

    (void)state;
    gt_device_init(&device);
    workload->source = strdup("kineto");
    assert_int_equal(gt_proxy_kernels_make(workload, &device, false, &error), -1);
    assert_non_null(strstr(error.text, "--surrogates"));
    assert_int_equal(gt_proxy_kernels_make(workload, &device, true, &error), 2);
    gt_workload_free(workload);
}

/* What lay between recorded calls is host work; waits and copies take what they will take. */
/* Registers that a trace leaves open are those of spin; what it asks for, and a library kernel's, stay. */
static void spinning_kernels_have_registers(void **state)
{
    struct gt_workload *workload = make_workload(), played;
    struct gt_kernel kernel = workload->kernels[0];

    (void)state;
    kernel.registers_per_thread = 40;
    gt_workload_kernel(workload, &kernel);
    kernel.registers_per_thread = 0;
    kernel.runs = gt_name(workload, "fma", 3);
    gt_workload_kernel(workload, &kernel);
    gt_proxy_kernels_as_played(workload, &played);
    assert_int_equal(played.kernel_count, 3);
    assert_int_equal(played.kernels[0].registers_per_thread, GT_PROXY_REGISTERS_LEAST);
    assert_int_equal(played.kernels[1].registers_per_thread, 40);
    assert_int_equal(played.kernels[2].registers_per_thread, 0);
    assert_int_equal(workload->kernels[0].registers_per_thread, 0);
    free(played.kernels);
    gt_workload_free(workload);
}

/* Kernels that blocks launch, and those that launch them, are played by other code, whoever launches them. */
static void kernels_in_trees_have_their_registers(void **state)
{
    struct gt_workload *workload = make_workload(), played;
    struct gt_launch_rule rule = { .kernel = 0, .count = 2, .depth = GT_ANY_DEPTH };
    struct gt_kernel kernel = workload->kernels[0];

    (void)state;
    kernel.launches = &rule;
    kernel.launch_count = 1;
    workload->ops[1].kernel = gt_workload_kernel(workload, &kernel);
    kernel.launch_count = 0;
    kernel.registers_per_thread = 16;
    gt_workload_kernel(workload, &kernel);
    assert_int_equal(gt_child_launches_expand(workload, 1, &error), 0);
    assert_int_equal(workload->calls[1].ops, 1 + 2 * 8);
    gt_proxy_kernels_as_played(workload, &played);
    assert_int_equal(played.kernels[0].registers_per_thread, GT_PROXY_TREE_REGISTERS);
    assert_int_equal(played.kernels[1].registers_per_thread, GT_PROXY_TREE_REGISTERS);
    assert_int_equal(played.kernels[2].registers_per_thread, GT_PROXY_REGISTERS_LEAST);
    free(played.kernels);
    gt_workload_free(workload);
}

static void a_recording_forgets_its_times(void **state)
{
    struct gt_workload *workload = make_workload();
    uint32_t first = workload->call_count;
    const struct gt_call *calls;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t call = gt_workload_add_call(workload);

        workload->calls[call].kind = i == 0 ? GT_CALL_OTHER : GT_CALL_DEVICE_SYNC;
        workload->calls[call].start_ps = 1000000 + i * 5000000;
        workload->calls[call].duration_ps = 3000000;
        workload->calls[call].first_op = workload->op_count;
    }
    workload->calls[1].first_op = 1;
    workload->ops[0].start_ps = workload->ops[0].duration_ps = 7;
    gt_strip_times(workload);
    calls = workload->calls;
    assert_int_equal(workload->call_count, first + 3);
    assert_int_equal(calls[first].kind, GT_CALL_HOST_WORK); /* the other call */
    assert_true(calls[first].duration_ps == 3000000);
    assert_int_equal(calls[first + 1].kind, GT_CALL_HOST_WORK); /* 4 to 6 us */
    assert_true(calls[first + 1].duration_ps == 2000000);
    assert_int_equal(calls[first + 2].kind, GT_CALL_DEVICE_SYNC);
    assert_true(calls[first + 2].duration_ps == GT_TIME_NONE && calls[first + 2].start_ps == GT_TIME_NONE);
    assert_true(workload->ops[0].start_ps == GT_TIME_NONE && workload->ops[0].duration_ps == GT_TIME_NONE);
    if (gt_workload_check(workload, &error) != 0)
        fail_msg("%s", error.text);
    gt_workload_free(workload);
}

static void kernels_that_meet_are_played_by_another(void **state)
{
    struct gt_workload *workload = make_workload();
    struct gt_kernel *kernel = &workload->kernels[workload->ops[0].kernel];
    struct gt_error error;
    struct gt_part part;

    (void)state;
    kernel->cost = GT_COST_FIXED;
    kernel->block_min_ps = kernel->block_max_ps = 5000000;
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), 0);
    assert_string_equal(part.library, "spin");
    gt_part_free(&part);
    kernel->grid_barriers = 1;
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), 0);
    assert_string_equal(part.library, "spin_phases");
    assert_int_equal(part.block_ps[0], 5000000);
    gt_part_free(&part);
    kernel->grid_barriers = 0;
    workload->ops[0].programmatic = true;
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), 0);
    assert_string_equal(part.library, "spin_phases");
    gt_part_free(&part);
    kernel->runs = gt_name(workload, "gemm_tiled", 10);
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), -1);
    assert_non_null(strstr(error.text, "spin alone"));
    gt_workload_free(workload);
}

static void kernels_with_tasks_are_played_by_the_executor(void **state)
{
    struct gt_workload *workload = make_workload(), played;
    struct gt_task_graph *graph = gt_task_graph_new(gt_name(workload, "g", 1));
    struct gt_kernel *kernel = &workload->kernels[workload->ops[0].kernel];
    struct gt_part part;

    (void)state;
    gt_device_init(&device);
    gt_workload_add_task_graph(workload, graph);
    kernel->tasks = graph;
    kernel->cost = GT_COST_NONE;
    kernel->registers_per_thread = 30;
    workload->calls[1].ops = workload->op_count = 1;
    assert_int_equal(gt_proxy_kernels_make(workload, &device, false, &error), 0);
    assert_int_equal(gt_part_of(workload, 0, 1, &part, &error), 0);
    assert_string_equal(part.library, "executor");
    assert_int_equal(part.block_count, 0);
    gt_proxy_kernels_as_played(workload, &played);
    assert_int_equal(played.kernels[workload->ops[0].kernel].registers_per_thread, GT_PROXY_TASKS_REGISTERS_LEAST);
    free(played.kernels);
    gt_part_free(&part);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_with_tasks_are_played_by_the_executor),
        cmocka_unit_test(a_surrogate_lasts_as_long),
        cmocka_unit_test(recorded_kernels_need_leave),
        cmocka_unit_test(spinning_kernels_have_registers),
        cmocka_unit_test(kernels_that_meet_are_played_by_another),
        cmocka_unit_test(kernels_in_trees_have_their_registers),
        cmocka_unit_test(a_recording_forgets_its_times),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
