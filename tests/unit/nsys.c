/* Nsight Systems exports: what every table means, by schema. */
#include <string.h>

#include "tests/unit/imported.h"
#include "tests/unit/sqlite_database.h"
#include "traces/nsys/nsys.h"

static struct gt_workload *import(const char *schema, const char *more)
{
    struct gt_workload *workload;

    make(schema, more);
    workload = gt_importer_nsys.read(path, NULL, &error);
    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static const struct gt_op *op_of(const struct gt_workload *workload, uint32_t call)
{
    assert_true(workload->calls[call].ops > 0);
    return &workload->ops[workload->calls[call].first_op];
}

static const char *kernel_of(const struct gt_workload *workload, const struct gt_op *op)
{
    return gt_name_text(workload, workload->kernels[op->kernel].name);
}

/* By its launchType: the call may be any function that takes attributes. */
static void a_cooperative_launch_is_one_whatever_called_it(void **state)
{
    struct gt_workload *w =
        import("nsys-2.9", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET launchType = 1 + (correlationId = 8)");
    uint32_t cooperative = 0;

    (void)state;
    assert_non_null(w);
    for (uint32_t i = 0; i < w->op_count; i++)
        if (w->ops[i].kind == GT_OP_KERNEL && w->kernels[w->ops[i].kernel].cooperative) {
            assert_int_equal(w->kernels[w->ops[i].kernel].grid[0], 80);
            cooperative++;
        }
    assert_int_equal(cooperative, 1);
    gt_workload_free(w);
}

static void schema_2_9_reads_with_known_numbers(void **state)
{
    struct gt_workload *w = import("nsys-2.9", NULL);
    const struct gt_kernel *kernel;

    (void)state;
    assert_int_equal(w->call_count, 10);
    assert_int_equal(w->op_count, 3);
    /* cudaMalloc is the earliest: the origin */
    assert_int_equal(w->calls[0].kind, GT_CALL_OTHER);
    assert_int_equal(w->calls[0].start_ps, 0);
    assert_int_equal(w->calls[0].duration_ps, 500000);
    assert_int_equal(w->threads[0].process, 1);
    assert_int_equal(w->threads[0].id, 9);
    assert_string_equal(gt_name_text(w, w->calls[1].name), "cudaMemcpy");
    assert_int_equal(w->calls[1].flags, GT_CALL_SYNCHRONOUS);
    assert_int_equal(op_of(w, 1)->direction, GT_H2D);
    assert_int_equal(op_of(w, 1)->memory, GT_MEMORY_PAGEABLE);
    assert_int_equal(op_of(w, 1)->bytes, 65536);
    assert_int_equal(op_of(w, 1)->start_ps, 2000000);
    assert_int_equal(op_of(w, 1)->duration_ps, 5000000);
    kernel = &w->kernels[op_of(w, 2)->kernel];
    assert_string_equal(gt_name_text(w, kernel->name), "scale(float *)");
    assert_int_equal(kernel->grid[1], 2);
    assert_int_equal(kernel->block[0], 256);
    assert_int_equal(kernel->registers_per_thread, 32);
    assert_int_equal(kernel->static_shared_bytes, 512);
    assert_int_equal(kernel->dynamic_shared_bytes, 1024);
    assert_string_equal(kernel_of(w, op_of(w, 7)), "scale"); /* demangledName 99 is not there */
    assert_int_equal(w->streams[w->calls[2].stream].flags, GT_STREAM_LEGACY_DEFAULT);
    assert_int_equal(w->streams[w->calls[7].stream].flags, 0);
    assert_int_equal(warnings(w, "device-unknown"), 1);
    assert_int_equal(w->warning_count, 1);
    gt_workload_free(w);
}

static void without_sync_ids_a_wait_means_the_last_record_before(void **state)
{
    struct gt_workload *w = import("nsys-2.9", NULL);

    (void)state;
    assert_int_equal(w->event_count, 3);
    assert_int_equal(w->calls[5].kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(w->calls[5].event, w->calls[4].event); /* not calls[3]'s, not calls[6]'s */
    assert_int_equal(w->calls[5].stream, w->calls[7].stream);
    assert_int_equal(w->calls[4].stream, w->calls[2].stream);
    assert_int_equal(w->calls[8].kind, GT_CALL_EVENT_SYNC);
    assert_int_equal(w->calls[8].event, w->calls[6].event);
    assert_int_equal(w->calls[9].kind, GT_CALL_DEVICE_SYNC);
    assert_int_equal(w->calls[9].flags, 0);
    gt_workload_free(w);
}

static void schema_3_13_takes_meanings_from_enum_tables(void **state)
{
    struct gt_workload *w = import("nsys-3.13", NULL);

    (void)state;
    assert_int_equal(op_of(w, 2)->direction, GT_D2H); /* 22, not the usual 2 */
    assert_int_equal(op_of(w, 2)->memory, GT_MEMORY_PINNED);
    assert_int_equal(op_of(w, 3)->kind, GT_OP_MEMSET);
    assert_int_equal(op_of(w, 3)->memory, GT_MEMORY_DEVICE);
    assert_int_equal(w->calls[4].kind, GT_CALL_STREAM_SYNC);
    assert_int_equal(w->calls[4].stream, w->calls[2].stream);
    assert_int_equal(w->streams[w->calls[2].stream].priority, -5);
    assert_int_equal(w->streams[w->calls[2].stream].flags, GT_STREAM_NON_BLOCKING);
    assert_string_equal(w->device, "a100");
    assert_string_equal(setting(w, "chip.sms"), "108");
    assert_string_equal(setting(w, "chip.clock_mhz"), "1410");
    assert_string_equal(setting(w, "sm.threads"), "2048");
    assert_string_equal(setting(w, "copy.engines"), "3");
    assert_string_equal(gt_name_text(w, w->gpus[0].name), "NVIDIA A100-SXM4-80GB");
    assert_string_equal(gt_name_text(w, w->threads[0].name), "main loop");
    gt_workload_free(w);
}

static void nested_calls_go_into_the_outer_one(void **state)
{
    struct gt_workload *w = import("nsys-3.13", NULL);

    (void)state;
    assert_int_equal(w->call_count, 6); /* of 8: two driver calls lie within */
    assert_string_equal(gt_name_text(w, w->calls[0].name), "cudaLaunchKernel");
    assert_int_equal(w->calls[0].ops, 1); /* though the kernel has the inner's number */
    assert_string_equal(gt_name_text(w, w->calls[5].name), "cudaFree");
    assert_int_equal(w->calls[5].kind, GT_CALL_DEVICE_SYNC); /* as the cuCtxSynchronize within */
    /* Calls that overlap are cut. */
    assert_int_equal(w->calls[2].start_ps + w->calls[2].duration_ps, w->calls[3].start_ps);
    assert_int_equal(warnings(w, "overlapping-calls"), 1);
    gt_workload_free(w);
}

static void processes_are_kept_apart(void **state)
{
    struct gt_workload *w = import("nsys-3.13", NULL);
    const struct gt_call *other = &w->calls[1];

    (void)state;
    assert_int_equal(w->threads[other->thread].process, 2);
    assert_int_equal(op_of(w, 1)->start_ps, 3500000); /* its own kernel, of the same correlation */
    assert_int_not_equal(other->stream, w->calls[0].stream);
    assert_int_equal(w->streams[other->stream].id, 7);
    assert_int_not_equal(w->streams[other->stream].context, w->streams[w->calls[0].stream].context);
    gt_workload_free(w);
}

static void schema_3_24_joins_waits_by_sync_id(void **state)
{
    struct gt_workload *w = import("nsys-3.24", NULL);

    (void)state;
    assert_int_equal(w->calls[3].kind, GT_CALL_EVENT_RECORD);
    assert_int_equal(w->calls[5].kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(w->calls[5].event, w->calls[3].event); /* not the later record of the same event */
    assert_int_not_equal(w->calls[4].event, w->calls[3].event);
    assert_int_equal(w->calls[6].event, GT_NONE); /* recorded before the recording began */
    assert_int_equal(w->calls[6].flags, GT_CALL_TARGET_UNKNOWN);
    assert_int_equal(warnings(w, "event-waits-unknown"), 1);
    /* The device in rows of events and waits is wrong: these are the streams of the kernels. */
    assert_int_equal(w->stream_count, 2);
    assert_int_equal(w->calls[3].stream, w->calls[2].stream);
    /* Below all described streams of its context: the NULL stream. */
    assert_int_equal(w->streams[w->calls[2].stream].flags, GT_STREAM_LEGACY_DEFAULT);
    assert_int_equal(w->streams[w->calls[5].stream].priority, -1);
    gt_workload_free(w);
}

static void schema_3_24_has_clusters(void **state)
{
    struct gt_workload *w = import("nsys-3.24", NULL);
    uint32_t clustered = 0;

    (void)state;
    for (uint32_t i = 0; i < w->kernel_count; i++)
        clustered += gt_kernel_cluster_blocks(&w->kernels[i]) == 2;
    assert_int_equal(clustered, 1); /* a 0 is none */
    gt_workload_free(w);
}

static void graphs_own_their_operations(void **state)
{
    struct gt_workload *w = import("nsys-3.24", NULL);

    (void)state;
    assert_int_equal(w->calls[7].kind, GT_CALL_GRAPH_LAUNCH);
    assert_int_equal(w->calls[7].ops, 3);
    assert_int_equal(op_of(w, 7)[0].kind, GT_OP_MEMSET); /* by start, whatever their tables */
    assert_int_equal(w->kernels[op_of(w, 7)[1].kernel].grid[0], 2);
    assert_int_equal(w->kernels[op_of(w, 7)[2].kernel].grid[0], 1);
    assert_int_equal(warnings(w, "graph-edges-unknown"), 1);
    assert_int_equal(w->calls[8].kind, GT_CALL_GRAPH_LAUNCH);
    assert_int_equal(w->calls[8].ops, 1);
    assert_string_equal(kernel_of(w, op_of(w, 8)), "graph 8");
    assert_int_equal(op_of(w, 8)->duration_ps, 9000000);
    assert_int_equal(warnings(w, "graph-nodes-hidden"), 1);
    assert_string_equal(gt_name_text(w, w->calls[8].executable), "9");
    assert_int_equal(w->calls[7].executable, GT_NONE); /* no column says it */
    gt_workload_free(w);
}

static void nodes_say_which_executable_graph_they_are_of(void **state)
{
    struct gt_workload *w =
        import("nsys-3.24", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphExecId INTEGER;"
                            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphExecId = 5 WHERE graphId = 7");

    (void)state;
    assert_string_equal(gt_name_text(w, w->calls[7].executable), "5");
    for (uint32_t i = 0; i < w->call_count; i++)
        assert_true((w->calls[i].executable == GT_NONE) == (w->calls[i].kind != GT_CALL_GRAPH_LAUNCH));
    gt_workload_free(w);
}

static void operations_without_call_keep_their_place_in_the_stream(void **state)
{
    struct gt_workload *w = import("nsys-3.24", NULL);

    (void)state;
    assert_int_equal(warnings(w, "calls-missing"), 2);
    assert_string_equal(kernel_of(w, op_of(w, 0)), "early");
    assert_string_equal(kernel_of(w, op_of(w, 1)), "early");
    assert_string_equal(kernel_of(w, op_of(w, 2)), "late");
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(w->calls[i].flags, GT_CALL_INFERRED);
        assert_int_equal(w->calls[i].duration_ps, 0);
        assert_int_not_equal(w->calls[i].thread, w->calls[2].thread);
    }
    assert_int_equal(w->calls[0].start_ps, op_of(w, 0)->start_ps);
    assert_true(w->calls[1].start_ps < w->calls[2].start_ps);
    gt_workload_free(w);
}

static void what_was_not_recorded_is_counted(void **state)
{
    struct gt_workload *w = import("nsys-3.24", NULL);

    (void)state;
    assert_int_equal(op_of(w, 9)->direction, GT_P2P);
    assert_int_equal(w->gpus[op_of(w, 9)->peer_gpu].id, 1);
    assert_int_equal(w->calls[10].kind, GT_CALL_OTHER); /* cudaLaunchHostFunc */
    assert_int_equal(w->calls[12].kind, GT_CALL_OTHER); /* a launch without a kernel */
    assert_int_equal(w->calls[12].duration_ps, 0);
    assert_int_equal(warnings(w, "calls-without-operation"), 2);
    assert_int_equal(warnings(w, "calls-without-end"), 1);
    assert_int_equal(w->calls[11].flags, GT_CALL_TARGET_UNKNOWN);
    assert_int_equal(warnings(w, "stream-queries-unknown"), 1);
    gt_workload_free(w);
}

static void columns_of_other_schemas_may_be_missing(void **state)
{
    struct gt_workload *w =
        import("nsys-2.9", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN staticSharedMemory;"
                           "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName;"
                           "ALTER TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION DROP COLUMN syncType;"
                           "DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT");

    (void)state;
    assert_int_equal(w->op_count, 2);
    assert_string_equal(kernel_of(w, &w->ops[0]), "scale");
    assert_int_equal(warnings(w, "calls-without-operation"), 1);
    assert_int_equal(warnings(w, "event-records-unknown"), 3);
    assert_int_equal(warnings(w, "event-waits-unknown"), 1);
    assert_int_equal(warnings(w, "event-syncs-unknown"), 1);
    gt_workload_free(w);
    w = import("nsys-2.9", "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; DROP TABLE StringIds");
    assert_int_equal(w->op_count, 3);
    assert_int_equal(warnings(w, "calls-missing"), 3);
    assert_int_equal(warnings(w, "names-missing"), 2);
    gt_workload_free(w);
}

/* Process 1, thread 9 (281474993487881); 281474993487882 is a thread without calls. */
static const char nvtx[] =
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,"
    " globalTid INTEGER, textId INTEGER, domainId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES"
    " (0, NULL, 75, 'NCCL', 281474993487881, NULL, 4),"
    " (1500, 30000, 59, 'iteration', 281474993487881, NULL, 0),"
    " (2000, 9000, 59, NULL, 281474993487881, 8, 4)," /* a registered string in a domain */
    " (9200, 40000, 60, 'anywhere', 281474993487881, NULL, 0),"
    " (9500, 9650, 59, 'aten::mm, seq = 7, op_id = 31, sizes = [[1, 2]]', 281474993487881, NULL, 0),"
    " (9700, 9760, 59, 'aten::mm, op_id = 32', 281474993487881, NULL, NULL),"
    " (9700, 9760, 34, 'a mark', 281474993487881, NULL, 0),"
    " (9800, 9900, 59, 'elsewhere', 281474993487882, NULL, 7)," /* a domain without a name */
    " (9800, NULL, 59, 'not over', 281474993487881, NULL, 0),"
    " (9800, 9700, 59, 'backwards', 281474993487881, NULL, 0);";

static void nvtx_ranges_have_names_kinds_and_calls(void **state)
{
    static const struct {
        const char *name, *parent;
        uint8_t kind, flags;
        uint32_t first_call, end_call;
        gt_time_ps start_ps;
    } expected[] = {
        { "iteration", NULL, GT_RANGE_NVTX, 0, 1, 10, 500000 },
        { "NCCL:scale", "iteration", GT_RANGE_NVTX, 0, 1, 2, 1000000 },
        { "anywhere", NULL, GT_RANGE_NVTX, GT_RANGE_UNNESTED, 2, 10, 8200000 },
        { "aten::mm", "iteration", GT_RANGE_OPERATOR, 0, 2, 3, 8500000 },
        { "aten::mm", "iteration", GT_RANGE_OPERATOR, 0, 3, 6, 8700000 },
        { "elsewhere", NULL, GT_RANGE_NVTX, 0, 10, 10, 8800000 },
    };
    struct gt_workload *workload = import("nsys-2.9", nvtx);

    (void)state;
    assert_int_equal(workload->range_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        const struct gt_range *range = &workload->ranges[i];

        assert_string_equal(gt_name_text(workload, range->name), expected[i].name);
        assert_int_equal(range->kind, expected[i].kind);
        assert_int_equal(range->flags, expected[i].flags);
        assert_int_equal(range->start_ps, expected[i].start_ps);
        assert_int_equal(range->first_call, expected[i].first_call);
        assert_int_equal(range->end_call, expected[i].end_call);
        assert_int_equal(range->parent == GT_NONE, expected[i].parent == NULL);
        if (expected[i].parent != NULL)
            assert_string_equal(gt_name_text(workload, workload->ranges[range->parent].name), expected[i].parent);
    }
    assert_int_equal(workload->thread_count, 2);
    assert_int_equal(workload->calls[1].correlation, 2);
    for (uint32_t i = 0; i < workload->warning_count; i++)
        if (strcmp(workload->warnings[i].kind, "ranges-unreadable") == 0)
            assert_int_equal(workload->warnings[i].count, 2);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_2_9_reads_with_known_numbers),
        cmocka_unit_test(a_cooperative_launch_is_one_whatever_called_it),
        cmocka_unit_test(without_sync_ids_a_wait_means_the_last_record_before),
        cmocka_unit_test(schema_3_13_takes_meanings_from_enum_tables),
        cmocka_unit_test(nested_calls_go_into_the_outer_one),
        cmocka_unit_test(processes_are_kept_apart),
        cmocka_unit_test(schema_3_24_joins_waits_by_sync_id),
        cmocka_unit_test(schema_3_24_has_clusters),
        cmocka_unit_test(graphs_own_their_operations),
        cmocka_unit_test(nodes_say_which_executable_graph_they_are_of),
        cmocka_unit_test(operations_without_call_keep_their_place_in_the_stream),
        cmocka_unit_test(what_was_not_recorded_is_counted),
        cmocka_unit_test(columns_of_other_schemas_may_be_missing),
        cmocka_unit_test(nvtx_ranges_have_names_kinds_and_calls),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
