/* Shrinking without a GPU: the one that plays is the simulator with another device, so that each trace is wrong for a
 * reason that is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulate.h"
#include "sim/workload/task_graph.h"
#include "traces/io/device_file.h"
#include "validate/random/draw.h"
#include "validate/random/reduce.h"
#include "validate/shrink_trace.h"

static struct gt_device device, gpu;
static struct gt_error error;

struct gt_player {
    const struct gt_workload *workload;
    uint64_t seed;
};

static bool lost;
static uint32_t opened, lost_at;

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *why)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);

    (void)why;
    *player = (struct gt_player){ workload, options->seed };
    lost = ++opened == lost_at;
    return player;
}

static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *why)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    const struct gt_probe nobody = { .user = NULL };
    struct gt_summary summary;

    assert_int_equal(result->counter_count, 0); /* it has room for those of one repetition */
    result->counters[result->counter_count].name = "sm_clock_mhz";
    result->counters[result->counter_count++].value = 1980;
    options.seed = player->seed;
    if (lost)
        return gt_error_set(why, "an illegal address");
    return gt_simulate(player->workload, &gpu, &options, probe != NULL ? probe : &nobody, &summary, why);
}

static void close_player(struct gt_player *player)
{
    free(player);
}

static bool is_lost(void)
{
    return lost;
}

static const struct gt_players players = {
    .open = open_player, .play = play, .close = close_player, .lost = is_lost
};

/* What the caller keeps: the smallest trace so far. */
static struct gt_workload *smallest;
static uint32_t kept, stop_at, fail_at;

static int keep(void *user, const struct gt_workload *workload, struct gt_error *why)
{
    (void)user;
    gt_workload_free(smallest);
    smallest = gt_reduce(workload, GT_REDUCE_CALLS, 0, 0);
    assert_int_equal(gt_workload_check(smallest, why), 0);
    return ++kept == fail_at ? gt_error_set(why, "the disk is full") : 0;
}

static bool stop(void *user)
{
    (void)user;
    return kept >= stop_at;
}

static struct gt_workload *read(const char *text)
{
    struct gt_workload *workload = gt_draw_read(text, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static int shrink(const struct gt_workload *workload, struct gt_shrunk *shrunk)
{
    const struct gt_validation validation = { .players = &players, .seed = 1, .recorded_on = &device };
    const struct gt_shrink_trace how = { &validation, &device, stop, keep, NULL };

    return gt_shrink_trace(&how, workload, shrunk, &error);
}

static int reset(void **state)
{
    (void)state;
    gt_workload_free(smallest);
    smallest = NULL;
    lost = false;
    opened = kept = 0;
    stop_at = fail_at = lost_at = UINT32_MAX;
    if (gt_device_load("h200", &device, &error) != 0)
        return -1;
    gpu = device;
    return 0;
}

static struct gt_workload *drawn(const char *family, uint32_t number)
{
    struct gt_draws draws;
    struct gt_workload *workload;
    char *text;

    assert_int_equal(gt_draws_of(&draws, family, 2026, &error), 0);
    text = gt_draw_text(&draws, number);
    workload = read(text);
    free(text);
    return workload;
}

/* A GPU on which blocks leave an SM 10 us apart: one small kernel is enough to see that, whatever else there was; that its
 * host's calls are off too does not lead astray. */
static void a_trace_shrinks_to_what_is_wrong(void **state)
{
    static const uint32_t numbers[] = { 3, 4, 5, 7 };

    (void)state;
    gpu.retire_ps = 10000000;
    gpu.launch_call_ps += 1500000;
    for (uint32_t i = 0; i < 4; i++) {
        struct gt_workload *workload = drawn("streams", numbers[i]);
        struct gt_shrunk shrunk;

        kept = 0;
        assert_int_equal(shrink(workload, &shrunk), 0);
        assert_true(shrunk.shows);
        assert_int_equal(shrunk.operations_before, workload->op_count);
        assert_true(shrunk.operations_before >= 10);
        assert_int_equal(shrunk.operations_after, 1);
        assert_int_equal(shrunk.calls_after, 1);
        assert_int_equal(smallest->op_count, 1);
        assert_int_equal(smallest->kernel_count, 1);
        assert_int_equal(smallest->event_count, 0);
        assert_true(gt_kernel_threads(&smallest->kernels[0]) == 1);
        assert_true(shrunk.gpu);
        assert_true(gt_trial_error_pct(&shrunk.after, shrunk.after.gpu_us) < -GT_SHRINK_BEYOND_PCT);
        assert_true(gt_trial_beyond_us(&shrunk.after, shrunk.after.simulated_us) < -GT_SHRINK_BEYOND_US);
        gt_workload_free(workload);
    }
}

/* Its program is that of one grid: blocks that leave 100 us apart show in one launch of two an SM, which keeps them all, and its program. */
static void a_profiled_kernel_keeps_its_grid(void **state)
{
    struct gt_workload *workload =
        read("{\"gridtide\":1,\"device\":\"h200\"}\n"
             "{\"program\":\"p\",\"compute_capability\":90,\"warps\":264,\"warps_per_block\":1,\"registers\":16,"
             "\"sass\":[\"NOP\",\"EXIT\"],\"control\":[1809,2037],\"executions\":[264,264]}\n"
             "{\"kernel\":\"k\",\"grid\":264,\"block\":32,\"registers\":16,\"runs\":\"fma\",\"arguments\":{},"
             "\"block_us\":20,\"program\":\"p\"}\n"
             "{\"call\":\"launch\",\"kernel\":\"k\"}\n"
             "{\"call\":\"launch\",\"kernel\":\"k\"}\n");
    struct gt_shrunk shrunk;

    (void)state;
    gpu.retire_ps = 100000000;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_true(shrunk.shows);
    assert_int_equal(smallest->op_count, 1);
    assert_int_equal(smallest->kernels[0].grid[0], 264);
    assert_int_equal(smallest->program_count, 1);
    assert_ptr_equal(smallest->kernels[0].program, workload->kernels[0].program);
    gt_workload_free(workload);
}

/* Found only by two operations that stand behind each other: both stay, and the event between them. */
static void what_belongs_together_stays_together(void **state)
{
    struct gt_workload *workload = read("{\"gridtide\":1,\"device\":\"h200\"}\n"
                                        "{\"kernel\":\"k\",\"grid\":8,\"block\":64,\"block_us\":10}\n"
                                        "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"a\"}\n"
                                        "{\"call\":\"memset\",\"bytes\":64,\"stream\":\"b\"}\n"
                                        "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"a\"}\n"
                                        "{\"call\":\"event_record\",\"event\":\"f\",\"stream\":\"b\"}\n"
                                        "{\"call\":\"event_wait\",\"event\":\"f\",\"stream\":\"a\"}\n"
                                        "{\"call\":\"event_wait\",\"event\":\"e\",\"stream\":\"c\"}\n"
                                        "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"c\"}\n"
                                        "{\"call\":\"device_sync\"}\n");
    struct gt_shrunk shrunk;

    (void)state;
    gpu.event_gap_ps += 30000000;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_true(shrunk.shows);
    assert_int_equal(shrunk.operations_after, 2);
    assert_int_equal(shrunk.calls_after, 4);
    assert_int_equal(smallest->event_count, 1);
    assert_int_equal(smallest->calls[1].kind, GT_CALL_EVENT_RECORD);
    assert_int_equal(smallest->calls[2].kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(smallest->kernels[0].grid[0], 1);
    gt_workload_free(workload);
}

static void a_trace_that_is_right_is_left_alone(void **state)
{
    struct gt_workload *workload = drawn("streams", 0);
    struct gt_shrunk shrunk;

    (void)state;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_false(shrunk.shows);
    assert_int_equal(shrunk.tries, 1);
    assert_int_equal(kept, 0);
    gt_workload_free(workload);
}

static void stopped_it_keeps_what_is_there(void **state)
{
    struct gt_workload *workload = drawn("streams", 5);
    struct gt_shrunk shrunk;

    (void)state;
    gpu.retire_ps = 10000000;
    stop_at = 3;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_int_equal(kept, 3);
    assert_int_equal(shrunk.calls_after, smallest->call_count);
    assert_true(shrunk.calls_after < shrunk.calls_before);
    gt_workload_free(workload);
}

static void a_lost_gpu_ends_it(void **state)
{
    struct gt_workload *workload = drawn("streams", 5);
    struct gt_shrunk shrunk;

    (void)state;
    gpu.retire_ps = 10000000;
    lost_at = 5;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_true(shrunk.lost);
    assert_true(shrunk.shows);
    assert_int_equal(opened, 5);
    gt_workload_free(workload);
}

static void what_cannot_be_kept_is_an_error(void **state)
{
    struct gt_workload *workload = drawn("streams", 5);
    struct gt_shrunk shrunk;

    (void)state;
    gpu.retire_ps = 10000000;
    fail_at = 2;
    assert_int_equal(shrink(workload, &shrunk), -1);
    assert_string_equal(error.text, "the disk is full");
    gt_workload_free(workload);
}

/* Of a chain of four nodes the second and third go: the last comes after the first. */
static void edges_lead_past_what_goes(void **state)
{
    struct gt_workload *workload = read("{\"gridtide\":1,\"device\":\"h200\"}\n"
                                        "{\"kernel\":\"k\",\"grid\":8,\"block\":64,\"block_us\":10}\n"
                                        "{\"stream\":\"idle\"}\n"
                                        "{\"call\":\"graph_launch\",\"stream\":\"s\",\"nodes\":[{\"kernel\":\"k\"},"
                                        "{\"kernel\":\"k\",\"after\":[0]},{\"kernel\":\"k\",\"after\":[0,1]},"
                                        "{\"kernel\":\"k\",\"after\":[1,2]}]}\n"
                                        "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"s\"}\n"
                                        "{\"call\":\"event_sync\",\"event\":\"e\"}\n");
    struct gt_workload *less = gt_reduce(workload, GT_REDUCE_NODES, 1, 2), *none;

    (void)state;
    assert_int_equal(gt_reduce_count(workload, GT_REDUCE_NODES), 4);
    assert_int_equal(gt_reduce_count(workload, GT_REDUCE_EDGES), 5);
    assert_int_equal(less->op_count, 2);
    assert_int_equal(less->ops[1].afters, 1);
    assert_int_equal(less->afters[less->ops[1].first_after], 0);
    assert_int_equal(gt_workload_check(less, &error), 0);
    none = gt_reduce(less, GT_REDUCE_EDGES, 0, 1);
    assert_int_equal(none->ops[1].afters, 0);
    gt_workload_free(none);
    assert_int_equal(gt_reduce_count(less, GT_REDUCE_STREAMS), 1);
    none = gt_reduce(less, GT_REDUCE_STREAMS, 0, 1);
    assert_int_equal(none->stream_count, 1);
    assert_string_equal(gt_name_text(none, none->streams[0].name), "s");
    gt_workload_free(none);
    none = gt_reduce(less, GT_REDUCE_CALLS, 1, 1); /* the record: its sync goes too */
    assert_int_equal(none->call_count, 1);
    assert_int_equal(none->event_count, 0);
    gt_workload_free(none);
    gt_workload_free(less);
    gt_workload_free(workload);
}

static void beyond_is_outside_of_the_range(void **state)
{
    const struct gt_trial trial = { .least_us = 98, .median_us = 100, .most_us = 104 };

    (void)state;
    assert_true(gt_trial_beyond_us(&trial, 99) == 0);
    assert_true(fabs(gt_trial_beyond_us(&trial, 110) - 6) < 1e-9);
    assert_true(fabs(gt_trial_beyond_us(&trial, 88) + 10) < 1e-9);
    assert_true(fabs(gt_trial_error_pct(&trial, 88) + 12) < 1e-9);
}

/* A GPU whose host takes longer for a call: what is left is calls, and the host is named. */
static void the_host_is_told_from_the_gpu(void **state)
{
    struct gt_workload *workload = drawn("streams", 5);
    struct gt_shrunk shrunk;

    (void)state;
    gpu.launch_call_ps += 40000000;
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_true(shrunk.shows);
    assert_false(shrunk.gpu);
    assert_int_equal(shrunk.operations_after, 2);
    gt_workload_free(workload);
}

/* Work that the GPU hands out itself: of all tasks, rules and barriers those stay that a slow GPU needs to be seen. */
static void tasks_go_one_by_one(void **state)
{
    static const uint32_t numbers[] = { 0, 2, 6 };

    (void)state;
    gpu.tasks.overhead_ps += 100000000;
    for (uint32_t i = 0; i < 3; i++) {
        struct gt_workload *workload = drawn("tasks", numbers[i]);
        struct gt_shrunk shrunk;

        assert_int_equal(shrink(workload, &shrunk), 0);
        assert_true(shrunk.shows);
        assert_int_equal(shrunk.operations_after, 1);
        assert_int_equal(smallest->task_graph_count, 1);
        assert_int_equal(smallest->task_graphs[0]->task_count, 1);
        assert_int_equal(gt_kernel_blocks(&smallest->kernels[0]), 1);
        gt_workload_free(workload);
    }
}

/* Tasks of a graph that go leave one in which each wait is for the signals that are left. */
static void a_graph_of_fewer_tasks_is_safe(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 40; number++) {
        struct gt_workload *workload = drawn("tasks", number);
        uint32_t tasks = gt_reduce_count(workload, GT_REDUCE_TASKS);

        for (uint32_t part = 2; part < 5; part++) {
            struct gt_workload *less = gt_reduce(workload, GT_REDUCE_TASKS, tasks / part, tasks / part);

            assert_int_equal(gt_reduce_count(less, GT_REDUCE_TASKS), tasks - tasks / part);
            if (gt_workload_check(less, &error) != 0)
                fail_msg("tasks-%u less 1/%u: %s", number, part, error.text);
            gt_workload_free(less);
        }
        gt_workload_free(workload);
    }
}

static void rules_go_with_what_follows_from_them(void **state)
{
    static const uint32_t numbers[] = { 0, 1, 2, 3 };

    (void)state;
    for (int into = 0; into < 4; into++)
        gpu.child_latency_ps[into] += 200000000;
    for (uint32_t i = 0; i < 4; i++) {
        struct gt_workload *workload = drawn("children", numbers[i]);
        struct gt_shrunk shrunk;

        assert_true(gt_reduce_count(workload, GT_REDUCE_NODES) == 0);
        assert_int_equal(shrink(workload, &shrunk), 0);
        assert_true(shrunk.shows);
        assert_int_equal(shrunk.calls_after, 1);
        assert_int_equal(shrunk.operations_after, 2);
        assert_int_equal(smallest->child_launch_count, 1);
        assert_int_equal(gt_reduce_count(smallest, GT_REDUCE_RULES), 1);
        gt_workload_free(workload);
    }
}

static void a_barrier_stays(void **state)
{
    struct gt_workload *workload = NULL;
    struct gt_shrunk shrunk;

    (void)state;
    gpu.barrier_ps += 50000000;
    for (uint32_t number = 0; workload == NULL; number++) { /* the first one with a meeting */
        workload = drawn("meetings", number);
        if (workload->kernels[0].grid_barriers > 0)
            break;
        gt_workload_free(workload);
        workload = NULL;
    }
    assert_int_equal(shrink(workload, &shrunk), 0);
    assert_true(shrunk.shows);
    assert_int_equal(shrunk.operations_after, 1);
    assert_int_equal(smallest->kernels[0].grid_barriers, 1);
    assert_false(smallest->kernels[0].cooperative);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_trace_shrinks_to_what_is_wrong, reset),
        cmocka_unit_test_setup(a_profiled_kernel_keeps_its_grid, reset),
        cmocka_unit_test_setup(what_belongs_together_stays_together, reset),
        cmocka_unit_test_setup(a_trace_that_is_right_is_left_alone, reset),
        cmocka_unit_test_setup(stopped_it_keeps_what_is_there, reset),
        cmocka_unit_test_setup(a_lost_gpu_ends_it, reset),
        cmocka_unit_test_setup(the_host_is_told_from_the_gpu, reset),
        cmocka_unit_test_setup(what_cannot_be_kept_is_an_error, reset),
        cmocka_unit_test_setup(tasks_go_one_by_one, reset),
        cmocka_unit_test_setup(a_graph_of_fewer_tasks_is_safe, reset),
        cmocka_unit_test_setup(rules_go_with_what_follows_from_them, reset),
        cmocka_unit_test_setup(a_barrier_stays, reset),
        cmocka_unit_test_setup(edges_lead_past_what_goes, reset),
        cmocka_unit_test_setup_teardown(beyond_is_outside_of_the_range, reset, reset),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
