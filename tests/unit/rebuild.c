/* A workload anew: what is dropped, inserted, moved and merged, and what becomes of edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/rewrite/rebuild.h"
#include "sim/simulate.h"
#include "traces/io/device_file.h"
#include "validate/random/draw.h"

#define HEADER "{\"gridtide\":1}\n{\"kernel\":\"ten\",\"block_us\":10}\n"
#define LAUNCH "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"s\"}\n"
#define AFTER  "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"t\",\"after\":[-1]}\n"

static struct gt_workload *read_text(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *workload = gt_draw_read(text, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static struct gt_workload *end_checked(struct gt_rebuild *rebuild)
{
    struct gt_workload *workload = gt_rebuild_end(rebuild);
    struct gt_error error = { "" };

    if (gt_workload_check(workload, &error) != 0)
        fail_msg("%s", error.text);
    return workload;
}

static void expect_after(const struct gt_workload *w, gt_op_index op, uint32_t count, gt_op_index before)
{
    assert_int_equal(w->ops[op].afters, count);
    if (count > 0)
        assert_int_equal(w->afters[w->ops[op].first_after], before);
}

/* s: 0, 1; t: 2 after 1. Without 1, operation 2 waits for what stood before it in its stream: 0. */
static void what_waits_for_a_dropped_operation_waits_for_what_that_waited_for(void **state)
{
    struct gt_workload *w = read_text(HEADER LAUNCH AFTER AFTER), *without;
    struct gt_rebuild rebuild;

    (void)state;
    gt_rebuild_begin(&rebuild, w);
    gt_rebuild_copy(&rebuild, 0);
    gt_rebuild_copy(&rebuild, 2);
    without = end_checked(&rebuild);
    assert_int_equal(without->op_count, 2);
    expect_after(without, 1, 1, 0);
    assert_int_equal(rebuild.lost_edges, 0);
    gt_workload_free(without);
    gt_workload_free(w);
}

/* t: 1 after 0 of s, then 2. Without 1 nobody would say that 2 comes after 0. */
static void what_follows_a_dropped_operation_in_its_stream_waits_for_what_that_waited_for(void **state)
{
    struct gt_workload *w =
        read_text(HEADER LAUNCH AFTER "{\"call\":\"launch\",\"kernel\":\"ten\",\"stream\":\"t\"}\n");
    struct gt_workload *without;
    struct gt_rebuild rebuild;

    (void)state;
    gt_rebuild_begin(&rebuild, w);
    gt_rebuild_copy(&rebuild, 0);
    gt_rebuild_copy(&rebuild, 2);
    without = end_checked(&rebuild);
    expect_after(without, 1, 1, 0);
    gt_workload_free(without);
    gt_workload_free(w);
}

static void what_is_moved_before_what_it_waited_for_waits_no_more(void **state)
{
    struct gt_workload *w = read_text(HEADER LAUNCH AFTER), *moved;
    struct gt_rebuild rebuild;

    (void)state;
    gt_rebuild_begin(&rebuild, w);
    gt_rebuild_copy(&rebuild, 1);
    gt_rebuild_copy(&rebuild, 0);
    moved = end_checked(&rebuild);
    expect_after(moved, 0, 0, GT_NONE);
    assert_int_equal(rebuild.lost_edges, 1);
    assert_int_equal(moved->ops[0].stream, w->ops[1].stream);
    gt_workload_free(moved);
    gt_workload_free(w);
}

/* s: 0 and 2; t: 1 and 3, each after the copy before it; and the host waits for 1, then for 3. */
static void what_is_copied_twice_waits_for_the_copy_before_it(void **state)
{
    struct gt_workload *w = read_text(HEADER LAUNCH AFTER "{\"call\":\"stream_sync\",\"stream\":\"t\"}\n"), *twice;
    struct gt_rebuild rebuild;

    (void)state;
    w->calls[2].awaited = 1;
    gt_rebuild_begin(&rebuild, w);
    for (int copy = 0; copy < 2; copy++)
        for (gt_call_index call = 0; call < 3; call++)
            gt_rebuild_copy(&rebuild, call);
    twice = end_checked(&rebuild);
    expect_after(twice, 1, 1, 0);
    expect_after(twice, 3, 1, 2);
    assert_int_equal(twice->calls[2].awaited, 1);
    assert_int_equal(twice->calls[5].awaited, 3);
    assert_int_equal(rebuild.lost_edges, 0);
    gt_workload_free(twice);
    gt_workload_free(w);
}

static void calls_become_one_graph_and_others_come_between(void **state)
{
    struct gt_workload *w = read_text(HEADER LAUNCH LAUNCH AFTER), *merged;
    struct gt_rebuild rebuild;
    gt_call_index graph, waiting;

    (void)state;
    gt_rebuild_begin(&rebuild, w);
    waiting = gt_rebuild_insert(&rebuild, GT_CALL_DEVICE_SYNC, 0);
    graph = gt_rebuild_insert(&rebuild, GT_CALL_GRAPH_LAUNCH, 0);
    rebuild.to->calls[graph].stream = w->calls[0].stream;
    for (gt_op_index op = 0; op < 3; op++)
        gt_rebuild_move_op(&rebuild, op);
    gt_rebuild_edge(&rebuild, 1, 0);
    merged = end_checked(&rebuild);
    assert_int_equal(merged->calls[waiting].ops, 0);
    assert_int_equal(merged->calls[graph].ops, 3);
    assert_int_equal(merged->ops[2].call, graph);
    expect_after(merged, 1, 1, 0);
    expect_after(merged, 2, 1, 1);
    gt_workload_free(merged);
    gt_workload_free(w);
}

struct times {
    gt_time_ps *start_ps;
};

static int see_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    (void)error;
    ((struct times *)user)->start_ps[record->op] = record->start_ps;
    return 0;
}

static gt_time_ps *starts_of(const struct gt_workload *w, const struct gt_device *device)
{
    struct times times = { gt_calloc(w->op_count + 1ull, sizeof(gt_time_ps)) };
    struct gt_probe probe = { .user = &times, .op = see_op };
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_summary summary;
    struct gt_error error = { "" };

    if (gt_simulate(w, device, &options, &probe, &summary, &error) != 0)
        fail_msg("%s", error.text);
    return times.start_ps;
}

static void a_copy_of_every_call_is_simulated_alike(void **state)
{
    struct gt_draws draws;
    struct gt_device device;
    struct gt_error error = { "" };

    (void)state;
    assert_int_equal(gt_device_load("h200", &device, &error), 0);
    assert_int_equal(gt_draws_of(&draws, NULL, 11, &error), 0);
    for (uint32_t i = 0; i < 70; i++) {
        char *text = gt_draw_text(&draws, i);
        struct gt_workload *w = read_text(text), *copy;
        struct gt_rebuild rebuild;
        gt_time_ps *before, *now;

        gt_rebuild_begin(&rebuild, w);
        for (uint32_t call = 0; call < w->call_count; call++)
            assert_int_equal(gt_rebuild_copy(&rebuild, call), call);
        copy = end_checked(&rebuild);
        before = starts_of(w, &device);
        now = starts_of(copy, &device);
        assert_int_equal(copy->op_count, w->op_count);
        assert_memory_equal(before, now, w->op_count * sizeof *now);
        free(before);
        free(now);
        gt_workload_free(copy);
        gt_workload_free(w);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_for_a_dropped_operation_waits_for_what_that_waited_for),
        cmocka_unit_test(what_follows_a_dropped_operation_in_its_stream_waits_for_what_that_waited_for),
        cmocka_unit_test(what_is_moved_before_what_it_waited_for_waits_no_more),
        cmocka_unit_test(what_is_copied_twice_waits_for_the_copy_before_it),
        cmocka_unit_test(calls_become_one_graph_and_others_come_between),
        cmocka_unit_test(a_copy_of_every_call_is_simulated_alike),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
