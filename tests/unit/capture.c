/* Graphs in place of recorded calls: what the host did between them, whose calls they are, where steps divide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sim/changes/change.h"
#include "traces/io/device_file.h"
#include "validate/random/draw.h"

#define HEADER "{\"gridtide\":1}\n{\"kernel\":\"ten\",\"block_us\":10}\n"
#define LAUNCH "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"s\"}\n"
#define WORKER "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"s\",\"thread\":\"worker\"}\n"
#define SYNC   "{\"call\":\"device_sync\"}\n"

static gt_time_ps us(uint64_t time_us)
{
    return time_us * 1000000;
}

static struct gt_workload *read_text(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(text, &error);

    if (w == NULL)
        fail_msg("%s", error.text);
    return w;
}

/* The workload, which is freed, with graphs. */
static struct gt_workload *capture_with(struct gt_workload *w, const char *argument, enum gt_unnamed_waits unnamed)
{
    const struct gt_whatif_host host = { .unnamed_waits = unnamed };
    struct gt_scenario scenario;
    struct gt_device device;
    struct gt_error error = { "" };
    struct gt_workload *changed;

    assert_int_equal(gt_device_load("toy", &device, &error), 0);
    gt_scenario_begin(&scenario, w, &device, &device, &host);
    gt_workload_free(w);
    if (gt_change_graph.apply(&scenario, argument, &error) != 0 || gt_workload_check(scenario.workload, &error) != 0)
        fail_msg("%s", error.text);
    changed = scenario.workload;
    scenario.workload = NULL;
    gt_scenario_free(&scenario);
    return changed;
}

static struct gt_workload *capture(struct gt_workload *w, const char *argument)
{
    return capture_with(w, argument, GT_UNNAMED_LAST);
}

static void expect_call(const struct gt_workload *w, gt_call_index call, enum gt_call_kind kind, uint32_t ops,
                        uint64_t before_us)
{
    assert_int_equal(w->calls[call].kind, kind);
    assert_int_equal(w->calls[call].ops, ops);
    assert_int_equal(w->calls[call].before_ps, us(before_us));
}

/* The host worked 100 us, then 10 and 20 us between launches, then 50 us.  Of what it did before and behind, 20 us are
 * taken to be of the same kind. */
static void work_between_launches_is_not_done(void **state)
{
    static const uint64_t before_us[] = { 100, 10, 20, 50 };
    struct gt_workload *w = read_text(HEADER LAUNCH LAUNCH LAUNCH SYNC);

    (void)state;
    for (int i = 0; i < 4; i++)
        w->calls[i].before_ps = us(before_us[i]);
    w = capture(w, "");
    assert_int_equal(w->call_count, 2);
    expect_call(w, 0, GT_CALL_GRAPH_LAUNCH, 3, 80);
    expect_call(w, 1, GT_CALL_DEVICE_SYNC, 0, 30);
    gt_workload_free(w);
}

/* In a step the worker's launch is part of the graph, and main, which waited 1000 us for it, does not wait any more; the 5
 * us between its own launches are all that is known to be for launching. */
static void threads_that_work_for_one_step_are_captured_together(void **state)
{
    static const uint64_t before_us[] = { 40, 5, 900, 1000, 25 };
    struct gt_workload *w = read_text(
        HEADER "{\"range\":\"ProfilerStep#1\",\"kind\":\"step\",\"calls\":5}\n" LAUNCH LAUNCH WORKER LAUNCH SYNC);

    (void)state;
    for (int i = 0; i < 5; i++)
        w->calls[i].before_ps = us(before_us[i]);
    w = capture(w, "");
    assert_int_equal(w->call_count, 2);
    expect_call(w, 0, GT_CALL_GRAPH_LAUNCH, 4, 35);
    expect_call(w, 1, GT_CALL_DEVICE_SYNC, 0, 20);
    gt_workload_free(w);
}

static void threads_outside_of_steps_are_not(void **state)
{
    struct gt_workload *w = capture(read_text(HEADER LAUNCH WORKER LAUNCH SYNC), "");

    (void)state;
    assert_int_equal(w->call_count, 3);
    expect_call(w, 0, GT_CALL_LAUNCH, 1, 0);
    expect_call(w, 1, GT_CALL_GRAPH_LAUNCH, 2, 0);
    gt_workload_free(w);
}

#define STEP "{\"range\":\"step\",\"kind\":\"step\",\"calls\":2}\n" LAUNCH LAUNCH

/* What the host does between steps is done. */
static void marked_steps_divide(void **state)
{
    struct gt_workload *w = read_text(HEADER STEP STEP SYNC);

    (void)state;
    w->calls[2].before_ps = us(300);
    w = capture(w, "");
    assert_int_equal(w->call_count, 3);
    expect_call(w, 0, GT_CALL_GRAPH_LAUNCH, 2, 0);
    expect_call(w, 1, GT_CALL_GRAPH_LAUNCH, 2, 300);
    gt_workload_free(w);
}

#define OTHER  "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"t\"}\n"
#define RECORD "{\"call\":\"event_record\",\"stream\":null,\"event\":null,\"target_unknown\":true}\n"
#define WAIT   "{\"call\":\"event_wait\",\"stream\":null,\"event\":null,\"target_unknown\":true}\n"

static void expect_afters(const struct gt_workload *w, const char *const afters[4])
{
    for (gt_op_index i = 0; i < 4; i++) {
        const struct gt_op *op = &w->ops[i];
        char text[16] = "";

        for (uint32_t j = 0; j < op->afters; j++)
            text[w->afters[op->first_after + j]] = (char)('0' + w->afters[op->first_after + j]);
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(strchr(afters[i], (int)('0' + j)) != NULL, text[j] != '\0');
    }
}

/* An event that is created anew is another one: nobody outside uses what was recorded before. */
static void an_event_lives_from_its_creation(void **state)
{
    static const char round_of_event[] = "{\"call\":\"event_create\",\"event\":\"e\"}\n" LAUNCH
                                         "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"s\"}\n"
                                         "{\"call\":\"event_wait\",\"event\":\"e\",\"stream\":\"t\"}\n"
                                         "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"t\"}\n"
                                         "{\"call\":\"event_record\",\"event\":\"f\",\"stream\":\"t\"}\n"
                                         "{\"call\":\"event_wait\",\"event\":\"f\",\"stream\":\"s\"}\n" LAUNCH SYNC;
    char text[4096];
    struct gt_workload *w;
    uint32_t graphs = 0;

    (void)state;
    snprintf(text, sizeof text, HEADER "%s%s", round_of_event, round_of_event);
    w = capture(read_text(text), "");
    for (gt_call_index i = 0; i < w->call_count; i++)
        graphs += w->calls[i].kind == GT_CALL_GRAPH_LAUNCH;
    assert_int_equal(graphs, 2);
    gt_workload_free(w);
}

/* 0 in s, a record, a wait, 1 in t, 2 in s, a wait, 3 in s.  Each wait holds back the next launch, for what was recorded, 0;
 * or nothing; or all, for all before it. */
static void waits_without_names_have_three_meanings(void **state)
{
    static const char *const afters[][4] = {
        [GT_UNNAMED_LAST] = { "", "0", "0", "02" },
        [GT_UNNAMED_NONE] = { "", "", "0", "2" },
        [GT_UNNAMED_ALL] = { "", "0", "0", "12" },
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct gt_workload *w = read_text(HEADER LAUNCH RECORD WAIT OTHER LAUNCH WAIT LAUNCH SYNC);

        w = capture_with(w, "", (enum gt_unnamed_waits)i);
        assert_int_equal(w->op_count, 4);
        expect_afters(w, afters[i]);
        gt_workload_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_between_launches_is_not_done),
        cmocka_unit_test(threads_that_work_for_one_step_are_captured_together),
        cmocka_unit_test(threads_outside_of_steps_are_not),
        cmocka_unit_test(marked_steps_divide),
        cmocka_unit_test(an_event_lives_from_its_creation),
        cmocka_unit_test(waits_without_names_have_three_meanings),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
