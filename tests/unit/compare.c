/* Errors worked out by hand from hand-made runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "traces/compare/metrics.h"
#include "traces/store/placement.h"
#include "traces/store/store.h"

#define US UINT64_C(1000000)

static char path[64];
static struct gt_error error;

/* One operation: its kind, measured and simulated start and length, in microseconds; -1: none. */
struct row {
    enum gt_op_kind kind;
    double measured_us, measured_length_us, simulated_us, simulated_length_us;
};

static struct gt_workload *make_workload(const struct row *rows, uint32_t count)
{
    struct gt_workload *workload = gt_workload_new();

    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_thread(workload);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t call = gt_workload_add_call(workload), op = gt_workload_add_op(workload);

        workload->calls[call].ops = 1;
        workload->ops[op].call = call;
        workload->ops[op].stream = 0;
        workload->ops[op].kind = (uint8_t)rows[i].kind;
        if (rows[i].measured_us >= 0)
            workload->ops[op].start_ps = (gt_time_ps)(rows[i].measured_us * 1e6);
        if (rows[i].measured_length_us >= 0)
            workload->ops[op].duration_ps = (gt_time_ps)(rows[i].measured_length_us * 1e6);
    }
    return workload;
}

static void send(const struct gt_probe *probe, const struct row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gt_time_ps start_ps = (gt_time_ps)(rows[i].simulated_us * 1e6);
        struct gt_op_record record = { .op = i,
                                       .submit_ps = 0,
                                       .start_ps = start_ps,
                                       .end_ps = start_ps + (gt_time_ps)(rows[i].simulated_length_us * 1e6),
                                       .cause_index = GT_NONE };

        if (rows[i].simulated_us >= 0)
            assert_int_equal(probe->op(probe->user, &record, &error), 0);
    }
}

static void change(struct gt_store *store, const char *sql)
{
    assert_int_equal(sqlite3_exec(gt_store_database(store)->sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* A verdict that was kept is read from the store, whatever has become of the operations; until there is another
 * measured run, or a value is missing. */
static void computed_once(struct gt_store *store, int64_t simulated, int64_t measured,
                          struct gt_comparison *comparison)
{
    struct gt_verdict first, again;
    bool kept = measured > 0;

    assert_int_equal(gt_verdict_of(store, simulated, true, &first, &error), 0);
    assert_true(same(gt_verdict_value(&first, "makespan_error_pct"), first.comparison.makespan_error_pct));
    assert_true(isnan(gt_verdict_value(&first, "no_such_metric")));
    *comparison = first.comparison;
    change(store, "SAVEPOINT before; UPDATE run_op SET end_ps = end_ps + 1000000000 WHERE run_id ="
                  " (SELECT max(run_id) FROM run)");
    assert_int_equal(gt_verdict_of(store, simulated, false, &again, &error), 0);
    assert_int_equal(again.repeats.median_run, measured);
    assert_int_equal(again.within, first.within);
    for (size_t i = 0; i < gt_metric_count; i++)
        if (kept) {
            assert_true(same(first.values[i], again.values[i]));
            assert_true(gt_metrics[i].compute != NULL ||
                        same(first.values[i], gt_metric_get(&gt_metrics[i], &again)));
        }
    assert_int_equal(same(first.comparison.makespan_simulated_us, again.comparison.makespan_simulated_us), kept);
    change(store, "DELETE FROM comparison WHERE metric = 'matched'");
    assert_int_equal(gt_verdict_of(store, simulated, false, &again, &error), 0);
    assert_false(first.comparison.makespan_simulated_us == again.comparison.makespan_simulated_us);
    change(store, "ROLLBACK TO before; INSERT INTO run SELECT 9, trace_id, device_id, 'measured', '', 1, 1 FROM run"
                  " WHERE run_id = 1");
    assert_int_equal(gt_verdict_of(store, simulated, false, &again, &error), 0);
    assert_true(again.repeats.count == first.repeats.count + 1);
    change(store, "ROLLBACK TO before; RELEASE before");
}

static void compare(const struct row *rows, uint32_t count, struct gt_comparison *comparison)
{
    struct gt_workload *workload = make_workload(rows, count);
    int64_t simulated, measured, newest, its_measured;
    struct gt_store *store;
    struct gt_device device;
    struct gt_run_writer *writer;

    snprintf(path, sizeof path, "/tmp/gridtide-compare-%ld.db", (long)getpid());
    gt_device_init(&device);
    store = gt_store_create(path, &error);
    assert_non_null(store);
    assert_int_equal(gt_store_put_device(store, &device, &error), 1);
    assert_int_equal(gt_store_put_trace(store, workload, "t", &error), 1);
    writer = gt_run_writer_begin(store, 1, 1, "measured", "", 0, workload);
    measured = 0;
    if (gt_measured_play(workload, gt_run_writer_probe(writer), &error) > 0)
        measured = gt_run_writer_end(writer, &error);
    else
        gt_run_writer_free(writer);
    writer = gt_run_writer_begin(store, 1, 1, "simulated", "", 0, workload);
    send(gt_run_writer_probe(writer), rows, count);
    simulated = gt_run_writer_end(writer, &error);
    assert_true(simulated > 0);
    for (int time = 0; time < 2; time++) {
        assert_int_equal(gt_verdict_find_runs(store, &newest, &its_measured, &error), 0);
        assert_int_equal(newest, simulated);
        assert_int_equal(its_measured, measured);
        computed_once(store, simulated, measured, comparison);
    }
    gt_store_abandon(store);
    gt_workload_free(workload);
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

/* Measured starts 100 + {0, 10, 20, 40}, ends at 150: 50 us. Simulated starts 7 + {0, 12, 19, 44}, ends at
 * 62: 55 us. So the makespan is 10 % off; start errors are 0, 2, 1, 4: nearest rank makes the median
 * the 2nd of {0, 1, 2, 4}, the 95th percentile the 4th. Busy: 5 + 5 + 5 + 11 of 55. */
static void by_hand(void **state)
{
    static const struct row rows[] = {
        { GT_OP_COPY, 100, 5, 7, 5 },
        { GT_OP_KERNEL, 110, 5, 19, 5 },
        { GT_OP_KERNEL, 120, 5, 26, 5 },
        { GT_OP_MEMSET, 140, 10, 51, 11 },
    };
    struct gt_comparison comparison;

    (void)state;
    compare(rows, 4, &comparison);
    assert_int_equal(comparison.kernels, 2);
    assert_int_equal(comparison.copies, 1);
    assert_int_equal(comparison.memsets, 1);
    assert_int_equal(comparison.matched, 4);
    assert_int_equal(comparison.unmatched, 0);
    assert_near(comparison.makespan_measured_us, 50);
    assert_near(comparison.makespan_simulated_us, 55);
    assert_near(comparison.makespan_error_pct, 10);
    assert_near(comparison.start_error_us.median, 1);
    assert_near(comparison.start_error_us.p95, 4);
    assert_near(comparison.start_error_us.max, 4);
    assert_near(comparison.start_error_pct.median, 2);
    assert_near(comparison.start_error_pct.max, 8);
    assert_near(comparison.busy_simulated_pct, 100.0 * 26 / 55);
}

/* Only what has a time in both runs counts; host functions are not the GPU's. */
static void leaves_out_what_it_cannot_compare(void **state)
{
    static const struct row rows[] = {
        { GT_OP_HOST_FUNCTION, 0, 1000, 0, 1000 },
        { GT_OP_KERNEL, -1, 5, 1, 5 }, /* a stated duration is no measurement */
        { GT_OP_KERNEL, 10, 10, 20, 10 },
        { GT_OP_KERNEL, 20, 10, 30, 15 },
    };
    struct gt_comparison comparison;

    (void)state;
    compare(rows, 4, &comparison);
    assert_int_equal(comparison.kernels, 3);
    assert_int_equal(comparison.matched, 2);
    assert_int_equal(comparison.unmatched, 1);
    assert_near(comparison.makespan_measured_us, 20);
    assert_near(comparison.makespan_simulated_us, 25);
    assert_near(comparison.start_error_us.max, 0);
}

static void without_measurements_there_is_no_error(void **state)
{
    static const struct row rows[] = { { GT_OP_KERNEL, -1, 5, 1, 5 }, { GT_OP_KERNEL, -1, 5, 10, 5 } };
    struct gt_comparison comparison;

    (void)state;
    compare(rows, 2, &comparison);
    assert_int_equal(comparison.unmatched, 2);
    assert_near(comparison.makespan_simulated_us, 14);
    assert_true(isnan(comparison.makespan_measured_us) && isnan(comparison.makespan_error_pct) &&
                isnan(comparison.start_error_us.median) && isnan(comparison.start_error_pct.p95));
}

/* The order of starts may differ: each run is aligned at its own first. */
static void aligns_at_each_first_start(void **state)
{
    static const struct row rows[] = { { GT_OP_KERNEL, 5, 1, 9, 1 }, { GT_OP_KERNEL, 8, 2, 3, 1 } };
    struct gt_comparison comparison;

    (void)state;
    compare(rows, 2, &comparison);
    assert_near(comparison.start_error_us.median, 3); /* {0, 3} against {6, 0}: 6 and 3 */
    assert_near(comparison.start_error_us.max, 6);
}

static void an_instant_has_no_percentage(void **state)
{
    static const struct row rows[] = { { GT_OP_KERNEL, 5, 0, 5, 1 } };
    struct gt_comparison comparison;

    (void)state;
    compare(rows, 1, &comparison);
    assert_near(comparison.makespan_measured_us, 0);
    assert_true(isnan(comparison.makespan_error_pct) && isnan(comparison.start_error_pct.max));
}

/* Of 1..20 us the 95th percentile by nearest rank is the 19th, of 1..21 the 20th. */
static void percentiles_are_by_nearest_rank(void **state)
{
    struct row rows[22];
    struct gt_comparison comparison;

    (void)state;
    rows[0] = (struct row){ GT_OP_KERNEL, 0, 1, 0, 1 };
    for (int i = 1; i < 22; i++)
        rows[i] = (struct row){ GT_OP_KERNEL, 100.0 * i, 1, 101.0 * i, 1 };
    compare(rows, 20, &comparison); /* errors 0, 1, ... 19 */
    assert_near(comparison.start_error_us.p95, 18);
    assert_near(comparison.start_error_us.median, 9);
    compare(rows, 21, &comparison); /* 0 ... 20 */
    assert_near(comparison.start_error_us.p95, 19);
    assert_near(comparison.start_error_us.median, 10);
}

/* Measured records come in order of end, calls of an end before operations. */
static uint32_t order[8], ordered;

static int note_op(void *user, const struct gt_op_record *record, struct gt_error *unused)
{
    (void)user;
    (void)unused;
    order[ordered++] = 100 + record->op;
    return 0;
}

static int note_call(void *user, const struct gt_call_record *record, struct gt_error *unused)
{
    (void)user;
    (void)unused;
    order[ordered++] = record->call;
    return 0;
}

static void measured_records_come_as_they_ended(void **state)
{
    static const struct row rows[] = {
        { GT_OP_KERNEL, 5, 10, -1, -1 },
        { GT_OP_KERNEL, 6, 2, -1, -1 },
        { GT_OP_KERNEL, 6, -1, -1, -1 },
    };
    static const uint32_t expected[] = { 0, 101, 100 };
    const struct gt_probe probe = { .op = note_op, .call = note_call };
    struct gt_workload *workload = make_workload(rows, 3);

    (void)state;
    workload->calls[0].start_ps = 1 * US;
    workload->calls[0].duration_ps = 7 * US;
    workload->calls[1].start_ps = 1 * US;
    workload->calls[1].duration_ps = 1 * US;
    workload->calls[1].flags = GT_CALL_INFERRED;
    assert_int_equal(gt_measured_play(workload, &probe, &error), 2);
    assert_int_equal(ordered, 3);
    assert_memory_equal(order, expected, sizeof expected);
    gt_workload_free(workload);
}

/* The distance of two lists of blocks by SM; -1 where one cannot be read. */
static double distance_pct(struct gt_store *store, const char *left, const char *right)
{
    char sql[400];
    double pct;

    snprintf(sql, sizeof sql,
             "PRAGMA foreign_keys = OFF; DELETE FROM run_placement; DELETE FROM run_op;"
             "INSERT INTO run_op (run_id, op_no, start_ps, end_ps) VALUES (1, 0, 0, 1), (2, 0, 0, 1);"
             "INSERT INTO run_placement VALUES (1, 0, 0, '%s'), (2, 0, 0, '%s')",
             left, right);
    assert_int_equal(sqlite3_exec(gt_store_database(store)->sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
    return gt_placement_distance(gt_store_database(store), 1, 2, &pct, &error) == 0 ? pct : -1;
}

static void placements_are_compared_by_sm(void **state)
{
    static const char *const broken[] = { "[3", "3]", "[a]", "[1 2]", "[-1]", "[]x", "[99999999999]", "" };
    struct gt_store *store;

    (void)state;
    snprintf(path, sizeof path, "/tmp/gridtide-compare-%ld.db", (long)getpid());
    store = gt_store_create(path, &error);
    assert_non_null(store);
    assert_near(distance_pct(store, "[2,2,0,1]", "[1,2,2]"), 100.0 * 2 / 5);
    assert_near(distance_pct(store, "[3]", "[3]"), 0);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_near(distance_pct(store, broken[i], "[3]"), -1);
        assert_near(distance_pct(store, "[3]", broken[i]), -1);
    }
    assert_non_null(strstr(error.text, "the placement of operation 0 in the store is damaged"));
    gt_store_abandon(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placements_are_compared_by_sm),     cmocka_unit_test(by_hand),
        cmocka_unit_test(leaves_out_what_it_cannot_compare), cmocka_unit_test(without_measurements_there_is_no_error),
        cmocka_unit_test(aligns_at_each_first_start),        cmocka_unit_test(an_instant_has_no_percentage),
        cmocka_unit_test(percentiles_are_by_nearest_rank),   cmocka_unit_test(measured_records_come_as_they_ended),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
