/* A run's statistics against numbers worked out by hand (tests/data/stats-golden.sql). */
#include "tests/unit/stats_golden.h"

#include <math.h>

static void assert_refused(sqlite3 *database, const char *change, const char *why)
{
    struct gt_error error = { "" };

    run_sql(database, "SAVEPOINT before");
    run_sql(database, change);
    assert_null(gt_stats_compute(wrap(database), 1, NULL, &error));
    if (strstr(error.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
    run_sql(database, "ROLLBACK TO before; RELEASE before");
}

static void summary_is_right(void **state)
{
    struct gt_stats *stats = compute(*state, "");
    const struct gt_stats_summary *summary = &stats->summary;

    assert_int_equal(summary->operations, 7);
    assert_int_equal(summary->kernels, 3);
    assert_int_equal(summary->copies, 3);
    assert_int_equal(summary->memsets, 1);
    assert_int_equal(summary->makespan_ps, 41 * US); /* 4 .. 45 */
    assert_int_equal(summary->busy_ps, 34 * US);     /* 4 .. 32 and 39 .. 45 */
    assert_int_equal(summary->idle_ps, 7 * US);
    assert_int_equal(summary->kernel_ps, 22 * US); /* 10 .. 26 and 39 .. 45 */
    assert_int_equal(summary->copy_ps, 14 * US);   /* 4 .. 10 and 24 .. 32 */
    assert_int_equal(summary->overlap_ps, 2 * US); /* 24 .. 26 */
    assert_float_equal(summary->mean_running, 50.0 / 41, 1e-9);
    assert_int_equal(summary->peak_running, 2);
    assert_int_equal(summary->threads, 2);
    assert_true(summary->blocked_known);
    assert_int_equal(summary->blocked_ps, 24 * US);
    assert_true(summary->waits_known);
    assert_int_equal(summary->idle_wait_ps[GT_WAIT_HOST], 19 * US);
    assert_int_equal(stats->note_count, 0);
    assert_string_equal(stats->run.trace, "golden");
    gt_stats_free(stats);
}

/* busy, before, after, then host, stream, event, queue, engine, resource, unknown, in us */
static void check_stream(const struct gt_stats *stats, size_t index, const uint64_t expected[10])
{
    const struct gt_stats_stream *stream = &stats->streams[index];
    gt_time_ps sum_ps = stream->busy_ps + stream->idle_before_ps + stream->idle_after_ps + stream->idle_unknown_ps;

    assert_int_equal(stream->busy_ps, expected[0] * US);
    assert_int_equal(stream->idle_before_ps, expected[1] * US);
    assert_int_equal(stream->idle_after_ps, expected[2] * US);
    for (int i = 0; i < GT_WAITS; i++) {
        assert_int_equal(stream->idle_wait_ps[i], expected[3 + i] * US);
        sum_ps += stream->idle_wait_ps[i];
    }
    assert_int_equal(stream->idle_unknown_ps, expected[9] * US);
    assert_int_equal(sum_ps, stats->summary.makespan_ps);
}

static void streams_add_up_to_the_makespan(void **state)
{
    struct gt_stats *stats = compute(*state, "");

    assert_int_equal(stats->stream_count, 3); /* the unused one is left out */
    check_stream(stats, 0, (uint64_t[]){ 28, 0, 0, 12, 0, 0, 0, 0, 1, 0 });
    check_stream(stats, 1, (uint64_t[]){ 18, 8, 2, 7, 1, 0, 4, 1, 0, 0 });
    check_stream(stats, 2, (uint64_t[]){ 4, 24, 13, 0, 0, 0, 0, 0, 0, 0 });
    assert_int_equal(stats->streams[1].id, 13);
    assert_string_equal(stats->streams[1].name, "second");
    gt_stats_free(stats);
}

static void waits_that_do_not_add_up_leave_no_hole(void **state)
{
    /* Too little (2 of 11 us): the rest has no reason; too much (20 us of 2): cut to what there was. */
    struct gt_stats *stats =
        compute(*state, "UPDATE run_op SET wait_host_ps = 2e6, wait_queue_ps = 0 WHERE run_id = 1 AND op_no = 6;"
                        "UPDATE run_op SET wait_stream_ps = 20e6 WHERE run_id = 1 AND op_no = 3");
    check_stream(stats, 1, (uint64_t[]){ 18, 8, 2, 2, 2, 0, 0, 0, 0, 9 });
    gt_stats_free(stats);
}

/* A stream's operations may overlap (programmatic launches): its busy time is their union. */
static void overlap_within_a_stream_counts_once(void **state)
{
    struct gt_stats *stats = compute(*state, "UPDATE run_op SET start_ps = 9e6 WHERE run_id = 1 AND op_no = 1");

    check_stream(stats, 0, (uint64_t[]){ 28, 0, 0, 12, 0, 0, 0, 0, 1, 0 });
    assert_int_equal(stats->summary.overlap_ps, 3 * US);
    gt_stats_free(stats);
}

static void kernels_by_name(void **state)
{
    struct gt_stats *stats = compute(*state, "");
    const struct gt_stats_kernel *a = &stats->kernels[0], *b = &stats->kernels[1];

    assert_int_equal(stats->kernel_count, 2);
    assert_string_equal(a->name, "A");
    assert_int_equal(a->count, 2);
    assert_int_equal(a->total_ps, 22 * US);
    assert_int_equal(a->min_ps, 6 * US);
    assert_int_equal(a->max_ps, 16 * US);
    assert_float_equal(a->mean_ps, 11.0 * US, 1e-6);
    assert_float_equal(a->share, 22.0 / 32, 1e-9);
    assert_float_equal(a->mean_wait_resource_ps, 0.5 * US, 1e-6);
    assert_int_equal(a->shapes, 2);
    assert_int_equal(a->blocks, 8); /* of the shape that took most time */
    assert_int_equal(a->blocks_per_sm, 4);
    assert_float_equal(a->waves, 1, 1e-9);
    assert_float_equal(a->occupancy, 0.5, 1e-9);
    assert_string_equal(a->limiter, "blocks");
    assert_string_equal(b->name, "B");
    assert_int_equal(b->blocks_per_sm, 1);
    assert_float_equal(b->occupancy, 2.0 / 32, 1e-9);
    assert_string_equal(b->limiter, "shared memory");
    gt_stats_free(stats);
}

static void a_shape_that_fits_no_sm_has_no_occupancy(void **state)
{
    struct gt_stats *stats = compute(*state, "UPDATE kernel SET static_shared_bytes = 70000 WHERE kernel_no = 1");

    assert_int_equal(stats->kernels[1].blocks_per_sm, 0);
    assert_null(stats->kernels[1].limiter);
    assert_true(isnan(stats->kernels[1].occupancy));
    gt_stats_free(stats);
}

static void check_copy(const struct gt_stats_copy *copy, const char *direction, const char *memory,
                       const uint64_t expected[5], double gbps)
{
    assert_string_equal(copy->direction, direction);
    assert_string_equal(copy->memory, memory);
    assert_int_equal(copy->count, expected[0]);
    assert_int_equal(copy->bytes, expected[1]);
    assert_int_equal(copy->busy_ps, expected[2] * US);
    assert_int_equal(copy->kernel_overlap_ps, expected[3] * US);
    assert_int_equal(copy->other_direction_overlap_ps, expected[4] * US);
    assert_float_equal(copy->gbps, gbps, 1e-9);
}

static void copies_by_direction_and_memory(void **state)
{
    struct gt_stats *stats = compute(*state, "");

    assert_int_equal(stats->copy_count, 3);
    /* 30 kB in 10 us are 3 GB/s. */
    check_copy(&stats->copies[0], "h2d", "pinned", (uint64_t[]){ 2, 30000, 10, 0, 2 }, 3);
    check_copy(&stats->copies[1], "d2h", "pageable", (uint64_t[]){ 1, 30000, 6, 2, 2 }, 5);
    check_copy(&stats->copies[2], "", "device", (uint64_t[]){ 1, 1000, 2, 2, 0 }, 0.5);
    assert_string_equal(stats->copies[2].kind, "memset");
    gt_stats_free(stats);
}

static void sms_from_blocks(void **state)
{
    struct gt_stats *stats = compute(*state, "");

    assert_int_equal(stats->sm_count, 2);
    assert_false(stats->sms_estimated);
    assert_int_equal(stats->sms[0].busy_ps, 22 * US); /* 10 .. 26 and 39 .. 45 */
    assert_int_equal(stats->sms[1].busy_ps, 12 * US); /* 10 .. 22 */
    assert_int_equal(stats->sms[0].blocks, 6);
    assert_int_equal(stats->sms[1].blocks, 5);
    assert_float_equal(stats->sms[0].mean_warps, 282.0 / 41, 1e-9);
    assert_float_equal(stats->sms[1].occupancy, 148.0 / 41 / 32, 1e-9);
    gt_stats_free(stats);
}

static void sms_estimated_where_blocks_were_dropped(void **state)
{
    struct gt_stats *stats = compute(*state, "UPDATE counter SET value = 1 WHERE name = 'blocks_dropped'");

    assert_true(stats->sms_estimated);
    assert_int_equal(stats->sms[0].busy_ps, 26 * US); /* full bins 1 and 2, 1 and 5 us of the others */
    assert_int_equal(stats->sms[1].busy_ps, 12 * US); /* bin 1 full, 2 us of bin 2 */
    assert_false(stats->sms[0].blocks_known);
    assert_string_equal(stats->notes[0].section, "sms");
    gt_stats_free(stats);
}

static void occupancy_over_time(void **state)
{
    /* 0, (176 + 144) / 10, (100 + 4) / 10, 1 / 10, 5 / 5 */
    static const double warps[] = { 0, 32, 10.4, 0.1, 1 };
    struct gt_stats *stats = compute(*state, "");

    assert_int_equal(stats->interval_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_float_equal(stats->intervals[i].mean_warps, warps[i], 1e-9);
        assert_float_equal(stats->intervals[i].occupancy, warps[i] / 64, 1e-9);
    }
    assert_int_equal(stats->intervals[0].from_ps, 4 * US);
    assert_int_equal(stats->intervals[0].to_ps, 10 * US);
    assert_int_equal(stats->intervals[4].to_ps, 45 * US);
    gt_stats_free(stats);
}

/* More bins than intervals: 41 us in bins of 0.5 us are 82, two to an interval. */
static void many_bins_share_intervals(void **state)
{
    struct gt_stats *stats = compute(*state, "DELETE FROM run_bin;"
                                             "INSERT INTO run_bin VALUES (1, 0, 1, 40, 3e6, 1e6);"
                                             "UPDATE counter SET value = 0.5e6 WHERE name = 'bin_ps'");

    assert_int_equal(stats->interval_count, 41);
    assert_float_equal(stats->intervals[16].mean_warps, 3, 1e-9); /* bins 40, 41: 20 .. 21 us */
    assert_int_equal(stats->intervals[16].from_ps, 20 * US);
    gt_stats_free(stats);
}

/* op4 as a host function, 28 .. 50: outside the GPU's busy time and makespan, inside its stream's. */
static void host_functions_are_not_the_gpus(void **state)
{
    struct gt_stats *stats = compute(*state, "UPDATE op SET kind = 'host_function' WHERE op_no = 4;"
                                             "UPDATE run_op SET end_ps = 50e6 WHERE run_id = 1 AND op_no = 4");

    assert_int_equal(stats->summary.makespan_ps, 41 * US);
    assert_int_equal(stats->summary.busy_ps, 32 * US);                      /* 4 .. 30 and 39 .. 45 */
    check_stream(stats, 2, (uint64_t[]){ 17, 24, 0, 0, 0, 0, 0, 0, 0, 0 }); /* 28 .. 45 */
    gt_stats_free(stats);
}

static void measured_runs_say_what_they_cannot_know(void **state)
{
    struct gt_error error = { "" };
    int64_t run_id = gt_stats_find_run(wrap(*state), "measured", &error);
    struct gt_stats *stats = gt_stats_compute(wrap(*state), run_id, NULL, &error);

    assert_int_equal(run_id, 2);
    assert_non_null(stats);
    assert_false(stats->run.simulated);
    assert_int_equal(stats->summary.makespan_ps, 22 * US);
    assert_int_equal(stats->summary.busy_ps, 21 * US);
    assert_false(stats->summary.waits_known);
    assert_false(stats->summary.blocked_known);
    check_stream(stats, 0, (uint64_t[]){ 21, 0, 0, 0, 0, 0, 0, 0, 0, 1 });
    assert_true(isnan(stats->kernels[0].mean_wait_resource_ps));
    assert_int_equal(stats->sm_count + stats->interval_count + stats->path_count, 0);
    assert_int_equal(stats->note_count, 5); /* summary, streams, sms, occupancy, critical_path */
    gt_stats_free(stats);
}

static void one_operation(void **state)
{
    struct gt_stats *stats = compute(*state, "DELETE FROM run_op WHERE op_no <> 1; DELETE FROM run_call;"
                                             "DELETE FROM run_block; DELETE FROM run_bin");

    assert_int_equal(stats->summary.makespan_ps, 16 * US);
    assert_int_equal(stats->summary.busy_ps, 16 * US);
    assert_int_equal(stats->summary.peak_running, 1);
    check_stream(stats, 0, (uint64_t[]){ 16, 0, 0, 0, 0, 0, 0, 0, 0, 0 });
    assert_int_equal(stats->path_count, 1); /* the kernel: what let it start has no record */
    gt_stats_free(stats);
}

static void an_operation_without_length(void **state)
{
    struct gt_stats *stats = compute(*state, "DELETE FROM run_op WHERE op_no <> 1; DELETE FROM run_block;"
                                             "DELETE FROM run_bin; UPDATE run_op SET end_ps = start_ps");

    assert_int_equal(stats->summary.makespan_ps, 0);
    assert_int_equal(stats->summary.peak_running, 0);
    assert_true(isnan(stats->summary.mean_running));
    gt_stats_free(stats);
}

static void an_empty_run(void **state)
{
    struct gt_stats *stats = compute(*state, "DELETE FROM run_op; DELETE FROM run_call;"
                                             "DELETE FROM run_block; DELETE FROM run_bin");

    assert_int_equal(stats->summary.operations + stats->stream_count + stats->kernel_count, 0);
    assert_int_equal(stats->copy_count + stats->sm_count + stats->path_count, 0);
    gt_stats_free(stats);
}

static void an_empty_store_has_no_run(void **state)
{
    struct gt_error error = { "" };
    sqlite3 *database = *state;

    assert_int_equal(gt_stats_find_run(wrap(database), "simulated", &error), 1);
    run_sql(database, "DELETE FROM run WHERE kind = 'simulated'");
    assert_int_equal(gt_stats_find_run(wrap(database), "simulated", &error), -1);
    assert_non_null(strstr(error.text, "contains no simulated run, only a measured one"));
    run_sql(database, "DELETE FROM run");
    assert_int_equal(gt_stats_find_run(wrap(database), "simulated", &error), -1);
    assert_non_null(strstr(error.text, "contains no run"));
    run_sql(database, "DROP TABLE run");
    assert_int_equal(gt_stats_find_run(wrap(database), "simulated", &error), -1);
    assert_non_null(strstr(error.text, "no such table"));
}

static void damaged_stores_are_refused(void **state)
{
    sqlite3 *database = *state;

    assert_refused(database, "UPDATE run_op SET end_ps = 11e6 WHERE run_id = 1 AND op_no = 2",
                   "operation 2 ends before it starts");
    assert_refused(database, "UPDATE run_op SET start_ps = -5 WHERE run_id = 1 AND op_no = 2", "start_ps is -5");
    assert_refused(database, "UPDATE run_op SET end_ps = 9e18 WHERE run_id = 1 AND op_no = 2", "end_ps is");
    assert_refused(database, "UPDATE run_op SET end_ps = 'soon' WHERE run_id = 1 AND op_no = 2", "end_ps is soon");
    assert_refused(database, "UPDATE run_op SET wait_host_ps = -1 WHERE run_id = 1 AND op_no = 2",
                   "wait_host_ps is -1");
    assert_refused(database, "DELETE FROM op WHERE op_no = 2", "operation 2 is not in the trace");
    assert_refused(database, "UPDATE op SET kind = 'dance' WHERE op_no = 2", "operation 2: unknown kind 'dance'");
    assert_refused(database, "UPDATE op SET direction = 'up' WHERE op_no = 3", "unknown direction 'up'");
    assert_refused(database, "UPDATE op SET kernel_no = 9 WHERE op_no = 2", "operation 2: no such kernel");
    assert_refused(database, "UPDATE op SET stream_no = 9 WHERE op_no = 2", "operation 2: no stream 9");
    assert_refused(database, "DELETE FROM stream WHERE stream_no = 1", "stream 1 is missing");
    assert_refused(database, "DELETE FROM kernel WHERE kernel_no = 1", "kernel 1 is missing");
    assert_refused(database, "DELETE FROM call WHERE call_no = 3", "call 3 is missing");
    assert_refused(database, "UPDATE run_bin SET sm = 2 WHERE sm = 1", "sm is 2");
    assert_refused(database, "UPDATE run_block SET gpu_no = 7", "gpu_no is 7");
    assert_refused(database, "UPDATE device_key SET value = 'many' WHERE key = 'sm.blocks'", "sm.blocks");
    assert_refused(database, "UPDATE run_call SET blocked_ps = 9223372036854775807", "overflow");
    assert_refused(database, "DROP TABLE run_bin", "no such table: run_bin");
}

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        GOLDEN(summary_is_right), GOLDEN(streams_add_up_to_the_makespan),
        GOLDEN(waits_that_do_not_add_up_leave_no_hole), GOLDEN(overlap_within_a_stream_counts_once),
        GOLDEN(kernels_by_name), GOLDEN(a_shape_that_fits_no_sm_has_no_occupancy),
        GOLDEN(copies_by_direction_and_memory), GOLDEN(sms_from_blocks),
        GOLDEN(sms_estimated_where_blocks_were_dropped), GOLDEN(occupancy_over_time),
        GOLDEN(many_bins_share_intervals), GOLDEN(host_functions_are_not_the_gpus),
        GOLDEN(measured_runs_say_what_they_cannot_know), GOLDEN(one_operation),
        GOLDEN(an_operation_without_length), GOLDEN(an_empty_run), GOLDEN(an_empty_store_has_no_run),
        GOLDEN(damaged_stores_are_refused),
    };
    /* clang-format on */

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
