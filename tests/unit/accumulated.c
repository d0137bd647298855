/* A training step that goes forward and backward several times: what becomes of its calls and ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/changes/changes.h"
#include "sim/training/training.h"
#include "traces/io/device_file.h"
#include "traces/io/framework_file.h"
#include "validate/random/draw.h"

#define LAUNCH "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"s\"}\n"
#define NODE   "\"autograd::engine::evaluate_function: "

/* Forward, backward, a gradient, the optimiser: a call each. */
static const char step[] =
    "{\"gridtide\":1}\n{\"kernel\":\"k\",\"block_us\":10}\n"
    "{\"range\":\"ProfilerStep#1\",\"kind\":\"step\",\"calls\":4}\n"
    "{\"range\":\"aten::mm\",\"calls\":1}\n" LAUNCH "{\"range\":" NODE "MmBackward0\",\"calls\":1}\n" LAUNCH
    "{\"range\":" NODE "torch::autograd::AccumulateGrad\",\"calls\":1}\n"
    "{\"range\":\"torch::autograd::AccumulateGrad\",\"calls\":1,\"gradient_bytes\":4096}\n" LAUNCH
    "{\"range\":\"Optimizer.step#SGD.step\",\"calls\":1}\n" LAUNCH;

static void expect_range(const struct gt_workload *w, gt_range_index index, const char *name, gt_call_index first,
                         gt_call_index behind)
{
    assert_true(index < w->range_count);
    assert_string_equal(gt_name_text(w, w->ranges[index].name), name);
    assert_int_equal(w->ranges[index].first_call, first);
    assert_int_equal(w->ranges[index].end_call, behind);
}

/* Three passes of three calls, from the second on a call more that adds the gradient up: 0 to 2, 3 to 6, 7 to 10; and the optimiser. */
static void ranges_of_a_pass_come_with_each_of_its_copies(void **state)
{
    static const gt_call_index starts[] = { 7, 0, 3 };
    static const char node[] = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
    struct gt_framework framework;
    const struct gt_whatif_host host = { .framework = &framework };
    struct gt_device device;
    struct gt_change change;
    struct gt_scenario scenario;
    struct gt_training training;
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(step, &error), *made;

    (void)state;
    assert_non_null(w);
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(gt_framework_load(NULL, &framework, &error), 0);
    assert_int_equal(gt_change_parse("accumulate=3", &change, &error), 0);
    gt_scenario_begin(&scenario, w, &device, &device, &host);
    assert_int_equal(gt_changes_apply(&change, 1, &scenario, &error), 0);
    made = scenario.workload;
    assert_int_equal(gt_workload_check(made, &error), 0);
    assert_int_equal(made->call_count, 12);
    assert_int_equal(made->range_count, w->range_count + 2 * 4);
    expect_range(made, 0, "ProfilerStep#1", 0, 12);
    expect_range(made, 5, "Optimizer.step#SGD.step", 11, 12);
    for (uint32_t copy = 0; copy < 3; copy++) { /* the last one has the ranges that were there */
        gt_range_index first = copy == 0 ? 1 : 6 + 4 * (copy - 1);

        expect_range(made, first, "aten::mm", starts[copy], starts[copy] + 1);
        expect_range(made, first + 1, "autograd::engine::evaluate_function: MmBackward0", starts[copy] + 1,
                     starts[copy] + 2);
        expect_range(made, first + 2, node, starts[copy] + 2, starts[copy] + 3);
        expect_range(made, first + 3, "torch::autograd::AccumulateGrad", starts[copy] + 2, starts[copy] + 3);
        assert_int_equal(made->ranges[first + 3].parent, first + 2);
    }
    assert_int_equal(gt_training_find(&training, &scenario, &error), 0);
    assert_int_equal(training.step_count, 1);
    assert_int_equal(training.steps[0].passes, 3);
    assert_int_equal(training.gradient_bytes, 4096);
    gt_training_free(&training);
    gt_scenario_free(&scenario);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_a_pass_come_with_each_of_its_copies),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
