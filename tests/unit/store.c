/* The store: whole runs or none, exact rows, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "traces/compare/verdict.h"
#include "traces/store/store.h"

static char folder[64], path[96];
static struct gt_error error;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gridtide-store-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/run.db", folder);
    error.text[0] = '\0';
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails where anything was left behind */
}

/* Two streams; on each a launch and its kernel, then a copy; the copy was not measured. */
static struct gt_workload *make_workload(void)
{
    struct gt_workload *workload = gt_workload_new();
    struct gt_kernel kernel = { .runs = GT_NONE,
                                .arguments = GT_NONE,
                                .name = gt_name(workload, "saxpy", 5),
                                .grid = { 4, 1, 1 },
                                .block = { 64, 1, 1 },
                                .duration_ps = GT_TIME_NONE };

    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_thread(workload);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call] = (struct gt_call){ .buffer = GT_NONE,
                                                  .start_ps = 1000 * i,
                                                  .duration_ps = 100,
                                                  .name = GT_NONE,
                                                  .stream = i & 1,
                                                  .event = GT_NONE,
                                                  .first_op = op,
                                                  .ops = 1,
                                                  .kind = i < 2 ? GT_CALL_LAUNCH : GT_CALL_COPY };
        workload->ops[op].call = call;
        workload->ops[op].stream = i & 1;
        workload->ops[op].kind = i < 2 ? GT_OP_KERNEL : GT_OP_COPY;
        if (i < 2) {
            workload->ops[op].kernel = gt_workload_kernel(workload, &kernel);
            workload->ops[op].start_ps = 5000000 + 2000000 * i;
            workload->ops[op].duration_ps = 4000000;
        } else {
            workload->ops[op].bytes = 4096;
        }
    }
    gt_workload_warn(workload, "wait-target-unknown", 3, "event waits do not say on which event");
    return workload;
}

/* Operations start at the times given and last 4 us, blocks of operation 0 on SMs 0 and 1. */
static void send_run(struct gt_run_writer *writer, const gt_time_ps *starts_ps, uint32_t count)
{
    const struct gt_probe *probe = gt_run_writer_probe(writer);

    for (uint32_t i = 0; i < count; i++) {
        struct gt_op_record record = { .op = i,
                                       .submit_ps = 7,
                                       .start_ps = starts_ps[i],
                                       .end_ps = starts_ps[i] + 4000000,
                                       .wait_ps = { starts_ps[i] },
                                       .cause = GT_CAUSE_CALL,
                                       .cause_index = i };

        assert_int_equal(probe->op(probe->user, &record, &error), 0);
    }
    for (uint32_t sm = 0; sm < 2; sm++) {
        struct gt_block_record record = { .sm = sm,
                                          .blocks = 2,
                                          .first_block = 2 * sm,
                                          .warps_per_block = 2,
                                          .start_ps = starts_ps[0],
                                          .end_ps = starts_ps[0] + 4000000 };

        assert_int_equal(probe->blocks(probe->user, &record, &error), 0);
    }
}

/* Device, trace, the measured run and one simulated run. */
static struct gt_store *fill(const struct gt_workload *workload)
{
    static const gt_time_ps starts_ps[] = { 1000000, 4000000, 9000000 };
    struct gt_store *store = gt_store_create(path, &error);
    struct gt_device device;
    struct gt_run_writer *writer;
    int64_t device_id, trace_id;

    assert_non_null(store);
    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, &error);
    trace_id = gt_store_put_trace(store, workload, "toy", &error);
    assert_true(device_id > 0 && trace_id > 0);
    writer = gt_run_writer_begin(store, trace_id, device_id, "measured", "", 0, workload);
    assert_int_equal(gt_measured_play(workload, gt_run_writer_probe(writer), &error), 2);
    assert_int_equal(gt_run_writer_end(writer, &error), 1);
    writer = gt_run_writer_begin(store, trace_id, device_id, "simulated", "blocks=on", 0, workload);
    send_run(writer, starts_ps, 3);
    gt_run_writer_counter(writer, "blocks", 4, &error);
    assert_int_equal(gt_run_writer_end(writer, &error), 2);
    return store;
}

/* The first column of the first row as text; malloced. */
static char *ask(struct gt_store *store, const char *sql)
{
    sqlite3_stmt *query;
    char *answer = NULL;

    assert_int_equal(sqlite3_prepare_v2(gt_store_database(store)->sqlite, sql, -1, &query, NULL), SQLITE_OK);
    if (sqlite3_step(query) == SQLITE_ROW)
        answer = strdup(sqlite3_column_type(query, 0) == SQLITE_NULL ? "null"
                                                                     : (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
    return answer;
}

static void answers(struct gt_store *store, const char *sql, const char *expected)
{
    char *answer = ask(store, sql);

    assert_non_null(answer);
    if (strcmp(answer, expected) != 0)
        fprintf(stderr, "# %s\n", sql);
    assert_string_equal(answer, expected);
    free(answer);
}

static void keeps_what_it_was_told(void **state)
{
    struct gt_workload *workload = make_workload();
    struct gt_store *store = fill(workload);

    (void)state;
    answers(store, "SELECT count(*) FROM device_key WHERE device_id = 1 AND key = 'chip.sms'", "1");
    answers(store, "SELECT group_concat(name, ',') FROM (SELECT name FROM op_named ORDER BY op_no)",
            "saxpy,saxpy,copy h2d unknown");
    answers(store, "SELECT count(*) || ' ' || sum(whole) FROM run", "2 2");
    answers(store,
            "SELECT group_concat(op_no || ':' || start_ps || '-' || end_ps) FROM run_op"
            " WHERE run_id = 1",
            "0:5000000-9000000,1:7000000-11000000");
    answers(store, "SELECT wait_host_ps FROM run_op WHERE run_id = 1", "null");
    answers(store, "SELECT submit_ps FROM run_op WHERE run_id = 1 AND op_no = 1", "1000");
    answers(store, "SELECT wait_host_ps || ' ' || cause_call FROM run_op WHERE run_id = 2 AND op_no = 1",
            "4000000 1");
    answers(store, "SELECT group_concat(sm || ':' || first_block || '+' || blocks) FROM run_block", "0:0+2,1:2+2");
    answers(store, "SELECT sum(warp_ps) || ' ' || sum(block_ps) FROM run_bin", "32000000 16000000");
    answers(store, "SELECT value FROM counter WHERE run_id = 2 AND name = 'blocks_dropped'", "0");
    answers(store, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    answers(store, "SELECT 1.0 * start_error_us FROM op_error WHERE op_no = 1", "1.0");
    answers(store, "SELECT makespan_us FROM run_summary WHERE run_id = 2", "12.0");
    answers(store, "SELECT gpu_busy_us FROM run_summary WHERE run_id = 2", "11.0");
    assert_int_equal(gt_store_commit(store, &error), 0);
    assert_int_equal(access(path, F_OK), 0);
    gt_workload_free(workload);
}

static void is_nowhere_before_the_commit(void **state)
{
    struct gt_workload *workload = make_workload();
    struct gt_store *store = fill(workload);

    (void)state;
    assert_int_not_equal(access(path, F_OK), 0);
    gt_store_abandon(store);
    assert_int_not_equal(access(path, F_OK), 0);
    gt_workload_free(workload);
}

static void takes_more_runs_whole(void **state)
{
    static const gt_time_ps starts_ps[] = { 1, 2, 3 };
    struct gt_workload *workload = make_workload();
    struct gt_store *store = fill(workload);
    struct gt_device device;
    struct gt_run_writer *writer;

    (void)state;
    gt_device_init(&device);
    assert_int_equal(gt_store_commit(store, &error), 0);
    store = gt_store_open(path, true, &error);
    assert_non_null(store);
    writer = gt_run_writer_begin(store, 1, 1, "simulated", "a", 0, workload);
    send_run(writer, starts_ps, 3);
    gt_run_writer_free(writer);
    answers(store, "SELECT count(*) FROM run", "2");
    writer = gt_run_writer_begin(store, 99, 1, "simulated", "no such trace", 0, workload);
    send_run(writer, starts_ps, 3);
    assert_int_equal(gt_run_writer_end(writer, &error), -1);
    assert_non_null(strstr(error.text, "FOREIGN KEY"));
    answers(store, "SELECT count(*) || ' ' || (SELECT count(DISTINCT run_id) FROM run_op) FROM run", "2 2");
    writer = gt_run_writer_begin(store, 1, 1, "simulated", "b", 1, workload);
    send_run(writer, starts_ps, 3);
    assert_int_equal(gt_run_writer_end(writer, &error), 3);
    gt_store_close(store);
    store = gt_store_open(path, false, &error);
    answers(store, "SELECT count(*) FROM run", "3");
    assert_int_not_equal(sqlite3_exec(gt_store_database(store)->sqlite, "DELETE FROM run", NULL, NULL, NULL),
                         SQLITE_OK);
    gt_store_close(store);
    gt_workload_free(workload);
}

static void refused(const char *name, const char *why)
{
    assert_null(gt_store_open(name, false, &error));
    if (strstr(error.text, why) == NULL)
        fprintf(stderr, "# %s\n", error.text);
    assert_non_null(strstr(error.text, why));
    assert_ptr_equal(strstr(error.text, name), error.text);
}

static void refuses_what_is_no_store(void **state)
{
    sqlite3 *database;
    FILE *file;

    (void)state;
    refused(path, "No such file");
    refused(folder, "is a directory");
    refused("/dev/null", "not a regular file");
    file = fopen(path, "w");
    fclose(file);
    refused(path, "not a Gridtide store");
    file = fopen(path, "w");
    for (int i = 0; i < 20; i++)
        fputs("Text that is longer than the header of a database.\n", file);
    fclose(file);
    refused(path, "it is no SQLite database");
    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "CREATE TABLE t (x)", NULL, NULL, NULL);
    sqlite3_close(database);
    refused(path, "not a Gridtide store");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA application_id = -5", NULL, NULL, NULL);
    sqlite3_close(database);
    refused(path, "not a Gridtide store");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA application_id = 1196708164; PRAGMA user_version = -1", NULL, NULL, NULL);
    sqlite3_close(database);
    refused(path, "version -1");
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA user_version = 77", NULL, NULL, NULL);
    sqlite3_close(database);
    refused(path, "version 77");
}

static void refuses_bad_targets(void **state)
{
    char inside[128];

    (void)state;
    assert_null(gt_store_create(folder, &error));
    assert_non_null(strstr(error.text, "is a directory"));
    assert_null(gt_store_create("/dev/full", &error));
    assert_non_null(strstr(error.text, "not a regular file"));
    assert_null(gt_store_create("-", &error));
    snprintf(inside, sizeof inside, "%s/none/run.db", folder);
    assert_null(gt_store_create(inside, &error));
    assert_non_null(strstr(error.text, "folder does not exist"));
}

static void a_stale_journal_goes_with_the_old_file(void **state)
{
    struct gt_workload *workload = make_workload();
    char journal[128];

    (void)state;
    snprintf(journal, sizeof journal, "%s-journal", path);
    fclose(fopen(journal, "w"));
    assert_int_equal(gt_store_commit(fill(workload), &error), 0);
    assert_int_not_equal(access(journal, F_OK), 0);
    gt_workload_free(workload);
}

static void damage_is_said(void **state)
{
    struct gt_workload *workload = make_workload();
    struct gt_comparison comparison;
    struct gt_store *store;
    int64_t simulated, measured;

    (void)state;
    assert_int_equal(gt_store_commit(fill(workload), &error), 0);
    assert_int_equal(truncate(path, 8192), 0);
    store = gt_store_open(path, false, &error);
    if (store != NULL) {
        assert_true(gt_verdict_find_runs(store, &simulated, &measured, &error) != 0 ||
                    gt_compare(store, 2, 1, &comparison, &error) != 0);
        gt_store_close(store);
    }
    assert_non_null(strstr(error.text, path));
    gt_workload_free(workload);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_what_it_was_told), TEST(is_nowhere_before_the_commit),
        TEST(takes_more_runs_whole),  TEST(refuses_what_is_no_store),
        TEST(refuses_bad_targets),    TEST(a_stale_journal_goes_with_the_old_file),
        TEST(damage_is_said),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
