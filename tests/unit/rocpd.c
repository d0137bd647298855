/* Databases of rocprofv3: what every table means, in both layouts; and errors that say what and where. */
#include "traces/rocpd/rocpd.h"
#include "tests/unit/imported.h"
#include "tests/unit/sqlite_database.h"

static struct gt_workload *import(const char *more)
{
    struct gt_workload *workload;

    make("rocpd", more);
    workload = gt_importer_rocpd.read(path, NULL, &error);
    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static const struct gt_op *op_of(const struct gt_workload *workload, uint32_t call)
{
    assert_int_equal(workload->calls[call].ops, 1);
    return &workload->ops[workload->calls[call].first_op];
}

/* Calls 0..8 are hipStreamCreateWithFlags, hipMemcpyAsync, hipLaunchKernel, hipEventRecord, hipStreamWaitEvent,
 * hipModuleLaunchKernel, hipStreamSynchronize, hipMemcpyWithStream, hipDeviceSynchronize.  The first marker begins at 900 ns and the first
 * call at 1000 ns, from which times count. */
static void check_calls(const struct gt_workload *w)
{
    static const uint8_t kinds[] = {
        GT_CALL_STREAM_CREATE, GT_CALL_COPY,        GT_CALL_LAUNCH, GT_CALL_EVENT_RECORD, GT_CALL_EVENT_WAIT,
        GT_CALL_LAUNCH,        GT_CALL_STREAM_SYNC, GT_CALL_COPY,   GT_CALL_DEVICE_SYNC,
    };

    assert_int_equal(w->call_count, 9);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(w->calls[i].kind, kinds[i]);
    assert_string_equal(gt_name_text(w, w->calls[2].name), "hipLaunchKernel");
    assert_int_equal(w->calls[2].start_ps, 2000000);
    assert_int_equal(w->calls[2].duration_ps, 400000);
    assert_int_equal(w->calls[7].flags & GT_CALL_SYNCHRONOUS, GT_CALL_SYNCHRONOUS);
    assert_int_equal(w->threads[0].process, 4242);
    assert_int_equal(w->threads[0].id, 4243);
    assert_int_equal(w->thread_count, 1); /* HSA's thread is not there */
}

static void check_ops(const struct gt_workload *w)
{
    const struct gt_kernel *kernel = &w->kernels[op_of(w, 2)->kernel];

    assert_int_equal(w->op_count, 4);
    assert_string_equal(gt_name_text(w, kernel->name), "scale(float*)");
    assert_int_equal(kernel->grid[0], 8); /* 2048 threads by 256 */
    assert_int_equal(kernel->static_shared_bytes, 1024);
    assert_int_equal(op_of(w, 2)->start_ps, 6000000);
    assert_int_equal(op_of(w, 2)->duration_ps, 5000000);
    kernel = &w->kernels[op_of(w, 5)->kernel];
    assert_string_equal(gt_name_text(w, kernel->name), "gemm.kd"); /* without a name to display */
    assert_int_equal(kernel->grid[0], 16);                         /* 1000 threads by 64, rounded up */
    assert_int_equal(kernel->grid[1], 2);
    assert_int_equal(op_of(w, 1)->direction, GT_H2D);
    assert_int_equal(op_of(w, 1)->bytes, 65536);
    assert_int_equal(op_of(w, 7)->direction, GT_D2H);
}

/* Pointer 0 is the default stream; 0x5581 the stream of the kernel whose launch got it. */
static void check_targets(const struct gt_workload *w, uint32_t streams)
{
    assert_int_equal(w->stream_count, streams);
    assert_int_equal(w->streams[op_of(w, 2)->stream].flags, GT_STREAM_LEGACY_DEFAULT);
    assert_int_equal(w->streams[op_of(w, 5)->stream].id, 1);
    assert_int_equal(w->calls[3].stream, op_of(w, 2)->stream);
    assert_int_equal(w->calls[4].stream, op_of(w, 5)->stream);
    assert_int_equal(w->calls[4].event, w->calls[3].event);
    assert_int_equal(w->calls[6].stream, op_of(w, 5)->stream);
}

static void every_table_is_read(void **state)
{
    struct gt_workload *w = import(NULL);

    (void)state;
    check_calls(w);
    check_ops(w);
    check_targets(w, 2);
    assert_int_equal(w->range_count, 2);
    assert_string_equal(gt_name_text(w, w->ranges[0].name), "step");
    assert_int_equal(w->ranges[0].kind, GT_RANGE_NVTX);
    assert_string_equal(gt_name_text(w, w->ranges[1].name), "aten::mul");
    assert_int_equal(w->ranges[1].kind, GT_RANGE_OPERATOR);
    assert_string_equal(gt_name_text(w, w->gpus[0].name), "AMD Instinct MI300X");
    assert_string_equal(setting(w, "chip.sms"), "304");
    assert_string_equal(setting(w, "sm.warp_threads"), "64");
    assert_string_equal(setting(w, "sm.threads"), "2048"); /* 8 waves of 64 threads on each of 4 SIMDs */
    assert_string_equal(setting(w, "sm.shared_bytes"), "65536");
    assert_int_equal(warnings(w, "gpu-not-modelled"), 1);
    assert_int_equal(warnings(w, "priorities-unknown"), 2); /* two streams with kernels on one GPU */
    assert_int_equal(warnings(w, "device-inconsistent"), 0);
    gt_workload_free(w);
}

/* The same rows in the layout where they name tracks and time stamps. */
static void rows_may_name_tracks_and_time_stamps(void **state)
{
    struct gt_workload *w = import(
        "CREATE TABLE rocpd_timestamp_a1 (id INTEGER PRIMARY KEY, value BIGINT);"
        "INSERT INTO rocpd_timestamp_a1 SELECT 100 + id, start FROM rocpd_region_a1 UNION SELECT 200 + id, end FROM "
        "rocpd_region_a1 UNION SELECT 300 + id, start FROM rocpd_kernel_dispatch_a1 UNION SELECT 400 + id, end FROM "
        "rocpd_kernel_dispatch_a1 UNION SELECT 500 + id, start FROM rocpd_memory_copy_a1 UNION SELECT 600 + id, end "
        "FROM rocpd_memory_copy_a1;"
        "CREATE TABLE rocpd_track_a1 (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, agent_id "
        "INTEGER, "
        "queue_id INTEGER, stream_id INTEGER);"
        "INSERT INTO rocpd_track_a1 VALUES (1, 1, 4242, 4243, NULL, NULL, NULL), (2, 1, 4242, 9999, NULL, NULL, "
        "NULL), "
        "(10, 1, 4242, 4243, 1, 1, 0), (11, 1, 4242, 4243, 1, 2, 1);"
        "CREATE TABLE r AS SELECT id, 1 + (tid = 9999) AS track_id, 100 + id AS start_id, 200 + id AS end_id, "
        "name_id, "
        "event_id FROM rocpd_region_a1;"
        "CREATE TABLE k AS SELECT id, 10 + stream_id AS track_id, kernel_id, 300 + id AS start_id, 400 + id AS "
        "end_id, "
        "group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
        "grid_size_z, event_id FROM rocpd_kernel_dispatch_a1;"
        "CREATE TABLE m AS SELECT id, 10 AS track_id, 500 + id AS start_id, 600 + id AS end_id, name_id, "
        "dst_agent_id, "
        "src_agent_id, size, event_id FROM rocpd_memory_copy_a1;"
        "DROP VIEW rocpd_kernel_dispatch; DROP TABLE rocpd_region_a1; DROP TABLE rocpd_kernel_dispatch_a1;"
        "DROP TABLE rocpd_memory_copy_a1; ALTER TABLE r RENAME TO rocpd_region_a1;"
        "ALTER TABLE k RENAME TO rocpd_kernel_dispatch_a1; ALTER TABLE m RENAME TO rocpd_memory_copy_a1");

    (void)state;
    check_calls(w);
    check_ops(w);
    check_targets(w, 2);
    gt_workload_free(w);
}

/* Without streams all is in stream 0; kernels of two queues may still have run at once. */
static void queues_stand_for_streams_that_are_not_there(void **state)
{
    struct gt_workload *w = import("UPDATE rocpd_kernel_dispatch_a1 SET stream_id = 0; DELETE FROM rocpd_arg_a1");

    (void)state;
    assert_int_equal(w->stream_count, 3); /* queues 1 and 2, and the copies' */
    assert_int_equal(w->streams[op_of(w, 2)->stream].id, 1);
    assert_int_equal(w->streams[op_of(w, 5)->stream].id, 2);
    assert_int_equal(warnings(w, "event-waits-unknown"), 1);
    assert_int_equal(warnings(w, "stream-syncs-unknown"), 1);
    gt_workload_free(w);
}

/* The stream of the operation that starts then. */
static const struct gt_stream *stream_at(const struct gt_workload *workload, int64_t start_ps)
{
    for (uint32_t i = 0; i < workload->op_count; i++)
        if ((int64_t)workload->ops[i].start_ps == start_ps)
            return &workload->streams[workload->ops[i].stream];
    fail_msg("no operation starts at %lld ps", (long long)start_ps);
    return NULL;
}

/* Agent 2 is GPU 1.  It runs a kernel in its own stream 0 from 7500 ns on (times count from 1000 ns), and gets a copy there at
 * 24600.  A copy from GPU 0 to GPU 1 at 24700 is in stream 1, which is one of GPU 0. */
static void each_gpu_has_a_stream_0(void **state)
{
    struct gt_workload *w = import(
        "INSERT INTO rocpd_info_agent_a1 SELECT 2, nid, pid, type, 2, 1, name, model_name, product_name, extdata "
        "FROM "
        "rocpd_info_agent_a1 WHERE id = 1;"
        "INSERT INTO rocpd_event_a1 (id, category_id, stack_id) VALUES (17, 3, 0), (18, 4, 0), (19, 4, 0);"
        "INSERT INTO rocpd_kernel_dispatch_a1 SELECT 3, nid, pid, tid, 2, kernel_id, 3, 3, 0, 7500, 12500, 0, 1024, "
        "256, 1, 1, 2048, 1, 1, 23, 17 FROM rocpd_kernel_dispatch_a1 WHERE id = 1;"
        "INSERT INTO rocpd_memory_copy_a1 VALUES (3, 1, 4242, 4243, 24600, 24650, 21, 2, 0, 4096, NULL, 0, NULL, "
        "18), "
        "(4, 1, 4242, 4243, 24700, 24800, 23, 2, 1, 4096, NULL, 1, NULL, 19)");
    const struct gt_stream *zero = stream_at(w, 6500000), *one = stream_at(w, 23700000);

    (void)state;
    assert_int_equal(w->stream_count, 3);
    assert_int_equal(zero->id, 0);
    assert_int_equal(w->gpus[zero->gpu].id, 1);
    assert_int_equal(zero->flags, GT_STREAM_LEGACY_DEFAULT);
    assert_ptr_equal(stream_at(w, 23600000), zero);
    assert_int_equal(w->gpus[w->streams[op_of(w, 2)->stream].gpu].id, 0);
    assert_ptr_equal(one, &w->streams[op_of(w, 5)->stream]);
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].direction == GT_P2P && w->ops[i].kind == GT_OP_COPY) {
            assert_int_equal(w->gpus[w->ops[i].peer_gpu].id, 1);
            assert_int_equal(w->ops[i].from_peer, false);
        }
    gt_workload_free(w);
}

/* Pointer 0x5581 is stream 1 until the launch of event 17 (call 9) runs its kernel in stream 2; call 10 waits for that one. */
static void a_pointer_may_become_another_stream(void **state)
{
    struct gt_workload *w = import(
        "INSERT INTO rocpd_event_a1 (id, category_id, stack_id) VALUES (17, 1, 17), (18, 3, 17), (19, 1, 19);"
        "INSERT INTO rocpd_region_a1 VALUES (13, 1, 4242, 4243, 25300, 25400, 15, 17), "
        "(14, 1, 4242, 4243, 25500, 25900, 16, 19);"
        "INSERT INTO rocpd_arg_a1 (event_id, position, type, name, value) VALUES "
        "(17, 8, 'ihipStream_t*', 'stream', '0x5581'), (19, 0, 'ihipStream_t*', 'stream', '0x5581');"
        "INSERT INTO rocpd_kernel_dispatch_a1 SELECT 3, nid, pid, tid, 1, kernel_id, 3, 3, 2, 25450, 25800, 0, 1024, "
        "256, 1, 1, 2048, 1, 1, 23, 18 FROM rocpd_kernel_dispatch_a1 WHERE id = 1");

    (void)state;
    check_targets(w, 3);
    assert_int_equal(w->call_count, 11);
    assert_int_equal(w->streams[w->calls[9].stream].id, 2);
    assert_int_equal(w->streams[w->calls[10].stream].id, 2);
    gt_workload_free(w);
}

/* A second process with the same numbers: tables of another suffix. */
static void sets_of_tables_are_kept_apart(void **state)
{
    static const char *const tables[] = { "string", "info_agent", "info_kernel_symbol", "event",
                                          "arg",    "region",     "kernel_dispatch",    "memory_copy" };
    struct gt_workload *w;
    char sql[2048] = "";

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql),
                 "CREATE TABLE rocpd_%s_b2 AS SELECT * FROM rocpd_%s_a1;", tables[i], tables[i]);
    strcat(sql, "UPDATE rocpd_region_b2 SET pid = 4300; UPDATE rocpd_kernel_dispatch_b2 SET pid = 4300;"
                "UPDATE rocpd_memory_copy_b2 SET pid = 4300");
    w = import(sql);
    assert_int_equal(w->call_count, 18);
    assert_int_equal(w->op_count, 8);
    assert_int_equal(w->stream_count, 4);
    assert_int_equal(w->thread_count, 2);
    assert_int_equal(w->gpu_count, 1);
    assert_int_equal(w->event_count, 2);
    gt_workload_free(w);
}

static void what_is_missing_is_counted(void **state)
{
    struct gt_workload *w =
        import("DROP TABLE rocpd_region_a1; DROP TABLE rocpd_arg_a1; DELETE FROM rocpd_info_kernel_symbol_a1;"
               "DELETE FROM rocpd_info_agent_a1");

    (void)state;
    assert_int_equal(w->op_count, 4);
    assert_int_equal(warnings(w, "calls-missing"), 4);
    assert_int_equal(warnings(w, "names-missing"), 2);
    assert_int_equal(warnings(w, "device-unknown"), 1);
    gt_workload_free(w);
}

static void wrong_values_name_table_row_and_column(void **state)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        { "UPDATE rocpd_kernel_dispatch_a1 SET start = 'soon' WHERE id = 2",
          "table rocpd_kernel_dispatch_a1, row 2: column start contains text" },
        { "UPDATE rocpd_kernel_dispatch_a1 SET end = 3 WHERE id = 2", "row 2: it ends at 3, before its start" },
        { "UPDATE rocpd_kernel_dispatch_a1 SET workgroup_size_x = 0", "column workgroup_size_x is 0" },
        { "UPDATE rocpd_kernel_dispatch_a1 SET grid_size_y = 4294967296", "column grid_size_y is 4294967296" },
        { "UPDATE rocpd_memory_copy_a1 SET size = -1", "table rocpd_memory_copy_a1, row 1: column size is -1" },
        { "UPDATE rocpd_region_a1 SET end = 9223372036854775807 WHERE id = 9", "days apart" },
        { "ALTER TABLE rocpd_region_a1 DROP COLUMN start", "row 1: it has no start time" },
        { "ALTER TABLE rocpd_kernel_dispatch_a1 DROP COLUMN grid_size_x", "is this a database of rocprofv3?" },
        { "DROP TABLE rocpd_string_a1", "no tables of rocprofv3" },
        { "DROP TABLE rocpd_event_a1", "rocpd_event_a1" },
        { "DROP VIEW rocpd_kernel_dispatch; DROP TABLE rocpd_kernel_dispatch_a1;"
          "CREATE VIEW rocpd_kernel_dispatch_a1 AS SELECT 1",
          "no tables of rocprofv3" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gt_workload *workload;

        make("rocpd", cases[i].sql);
        error.text[0] = '\0';
        workload = gt_importer_rocpd.read(path, NULL, &error);
        assert_null(workload);
        if (strncmp(error.text, path, strlen(path)) != 0 || strstr(error.text, cases[i].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_read),
        cmocka_unit_test(rows_may_name_tracks_and_time_stamps),
        cmocka_unit_test(queues_stand_for_streams_that_are_not_there),
        cmocka_unit_test(each_gpu_has_a_stream_0),
        cmocka_unit_test(a_pointer_may_become_another_stream),
        cmocka_unit_test(sets_of_tables_are_kept_apart),
        cmocka_unit_test(what_is_missing_is_counted),
        cmocka_unit_test(wrong_values_name_table_row_and_column),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
