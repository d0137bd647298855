/* Validation without a GPU: a player of the tests' own, and measured runs made by hand. */
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

#include "tests/unit/two_kernels.h"
#include "validate/host_measure.h"
#include "validate/validate.h"

static char path[64];
static struct gt_error error;
static struct gt_device device;

/* The player: repetition i shifts all times after the first kernel by `late_us[i]`, and puts its blocks on
 * SM `sm[i]`; what it fails at, when somebody wants to stop, which operations it does not see (in the first
 * repetition) and who else is there, is chosen. */
static const double *late_us;
static const uint32_t *sms;
static uint32_t played, fail_at, stop_at, unseen_from = UINT32_MAX;
static struct gt_other_gpu_users somebody;

struct gt_player {
    const struct gt_workload *workload;
};

static struct gt_player *open_player(const struct gt_workload *workload, const struct gt_play_options *options,
                                     struct gt_error *why)
{
    struct gt_player *player = gt_calloc(1, sizeof *player);

    (void)options;
    (void)why;
    player->workload = workload;
    played = 0;
    return player;
}

/* Were the program killed now, what would a reader find? Simulated runs that nothing was measured for. */
static int left_by_a_kill(void)
{
    sqlite3 *database;
    sqlite3_stmt *query;
    int count;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database,
                                        "SELECT count(*) FROM run s WHERE kind = 'simulated' AND whole = 1"
                                        " AND NOT EXISTS (SELECT 1 FROM run m WHERE m.trace_id = s.trace_id"
                                        " AND m.kind = 'measured' AND m.whole = 1)",
                                        -1, &query, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    count = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(database);
    return count;
}

static int play(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                struct gt_error *why)
{
    uint32_t repetition = played == 0 ? 0 : played - 1; /* the first one warms up */

    assert_true((probe == NULL) == (played == 0));
    assert_int_equal(left_by_a_kill(), 0);
    if (played++ == fail_at)
        return gt_error_set(why, "the GPU is on fire");
    if (probe == NULL)
        return 0;
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        if (i >= unseen_from && repetition == 0)
            continue;
        gt_time_ps start_ps = (gt_time_ps)((5 + i * (10 + late_us[repetition])) * 1e6);
        struct gt_op_record op = {
            .op = i, .start_ps = start_ps, .end_ps = start_ps + 10000000, .cause_index = GT_NONE
        };
        struct gt_block_record blocks = { .op = i,
                                          .sm = sms[repetition],
                                          .blocks = 8,
                                          .warps_per_block = 2,
                                          .start_ps = start_ps,
                                          .end_ps = op.end_ps };

        assert_int_equal(probe->op(probe->user, &op, why), 0);
        assert_int_equal(probe->blocks(probe->user, &blocks, why), 0);
    }
    result->counters[0].name = "sm_clock_mhz";
    result->counters[0].value = 1980;
    result->counters[1].name = "operations_unseen";
    result->counters[1].value = unseen_from < player->workload->op_count && repetition == 0;
    result->counter_count = 2;
    return 0;
}

static const char *describe(const struct gt_player *player)
{
    (void)player;
    return "seed=1";
}

static void close_player(struct gt_player *player)
{
    free(player);
}

static void others(struct gt_other_gpu_users *there)
{
    *there = somebody;
}

static const struct gt_players players = { NULL, open_player, play, describe, close_player, others, NULL, NULL };

static bool stop(void *user)
{
    (void)user;
    return played > stop_at;
}

static struct gt_store *new_store(void)
{
    struct gt_store *store;

    snprintf(path, sizeof path, "/tmp/gridtide-validate-%ld.db", (long)getpid());
    unlink(path);
    store = gt_store_create(path, &error);
    assert_non_null(store);
    assert_int_equal(gt_store_commit(store, &error), 0);
    store = gt_store_open(path, true, &error);
    assert_non_null(store);
    return store;
}

static int64_t query(struct gt_store *store, const char *sql)
{
    sqlite3_stmt *statement;
    int64_t value;

    assert_int_equal(sqlite3_prepare_v2(gt_store_database(store)->sqlite, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int validate(struct gt_store *store, uint32_t repetitions, struct gt_validated *validated)
{
    struct gt_workload *workload = make_workload();
    /* clang-format off */
    struct gt_validation validation = {
        .players = &players, .store = store, .seed = 1, .repetitions = repetitions, .blocks = false,
        .recorded_on = &device, .stop = stop,
    };
    /* clang-format on */
    int64_t device_id;
    int result;

    gt_device_init(&device);
    played = 0;
    device_id = gt_store_put_device(store, &device, &error);
    assert_true(device_id > 0);
    result = gt_validate(&validation, workload, "t", &device, device_id, validated, &error);
    gt_workload_free(workload);
    return result;
}

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

/* Makespans 20 + {9, 1, 3, 2, 1}: the median is 22, the spread (29 - 21) / 22. */
static void the_median_repetition_is_compared(void **state)
{
    static const double late[] = { 9, 1, 3, 2, 1 };
    static const uint32_t sm[] = { 0, 0, 0, 0, 0 };
    struct gt_store *store = new_store();
    struct gt_validated validated;

    (void)state;
    late_us = late;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    assert_int_equal(validate(store, 5, &validated), 0);
    assert_int_equal(validated.measured, 5);
    assert_int_equal(validated.verdict.repeats.count, 5);
    assert_near(validated.verdict.repeats.spread_pct, 100.0 * 8 / 22);
    assert_near(validated.verdict.comparison.makespan_measured_us, 22);
    assert_int_equal(query(store, "SELECT repetition FROM run JOIN comparison ON run_id = measured_run_id"
                                  " WHERE metric = 'repetitions' AND value = 5"),
                     3);
    assert_int_equal(query(store, "SELECT count(*) FROM counter WHERE name = 'sm_clock_mhz' AND value = 1980"), 5);
    assert_int_equal(query(store, "SELECT count(*) FROM run_block"), 0);
    assert_int_equal(query(store, "SELECT count(*) FROM run_placement WHERE sm_blocks = '[8]'"), 10);
    gt_store_close(store);
    unlink(path);
}

/* A player whose host takes 30 us for each launch, where the device file's takes 4: its second kernel starts as
 * much later, which is the host's part of the error. What a simulation with its calls says is beside it; both
 * kernels start the launch's latency after their calls and end as simulated. */
static int play_slowly(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                       struct gt_error *why)
{
    if (probe == NULL)
        return 0;
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        const gt_time_ps call_ps = UINT64_C(1000000) * (5 + 30 * i), start_ps = call_ps + UINT64_C(31000000);
        struct gt_call_record call = { .call = i, .start_ps = call_ps, .end_ps = call_ps + UINT64_C(30000000) };
        struct gt_op_record op = {
            .op = i, .start_ps = start_ps, .end_ps = start_ps + 10000000, .cause_index = GT_NONE
        };

        assert_int_equal(probe->call(probe->user, &call, why), 0);
        assert_int_equal(probe->op(probe->user, &op, why), 0);
    }
    result->counter_count = 0;
    return 0;
}

static void the_gpu_alone_has_the_measured_host(void **state)
{
    static const struct gt_players slow = {
        .open = open_player, .play = play_slowly, .describe = describe, .close = close_player
    };
    struct gt_store *store = new_store();
    struct gt_workload *workload = make_workload();
    struct gt_validation validation = { .players = &slow, .store = store, .repetitions = 1, .recorded_on = &device };
    struct gt_validated validated;
    int64_t device_id;

    (void)state;
    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, &error);
    assert_int_equal(gt_validate(&validation, workload, "t", &device, device_id, &validated, &error), 0);
    assert_near(validated.verdict.comparison.makespan_measured_us, 40);
    assert_true(validated.verdict.comparison.makespan_error_pct < -20);
    assert_true(fabs(gt_verdict_value(&validated.verdict, "makespan_error_gpu_pct")) < 1);
    assert_int_equal(query(store, "SELECT count(*) FROM run WHERE options LIKE '%host=measured'"), 1);
    gt_workload_free(workload);
    gt_store_close(store);
    unlink(path);
}

static uint32_t opened, told;

static struct gt_player *open_for_the_host(const struct gt_workload *workload, const struct gt_play_options *options,
                                           struct gt_error *why)
{
    assert_non_null(options->recorded_on);
    opened++;
    return open_player(workload, options, why);
}

static int play_calls(struct gt_player *player, const struct gt_probe *probe, struct gt_play_result *result,
                      struct gt_error *why)
{
    (void)result;
    for (uint32_t i = 0; i < player->workload->call_count && probe != NULL; i++) {
        const gt_time_ps start_ps = UINT64_C(7000000) * i;
        struct gt_call_record call = { .call = i, .start_ps = start_ps, .end_ps = start_ps + UINT64_C(7000000) };

        assert_int_equal(probe->call(probe->user, &call, why), 0);
    }
    return 0;
}

static void tell_of_host(void *user, uint32_t done)
{
    (void)user;
    told = done;
}

/* Every call takes 7 us with this player, and nothing comes on top. */
static void the_host_is_measured_before(void **state)
{
    static const struct gt_players steady = {
        .open = open_for_the_host, .play = play_calls, .describe = describe, .close = close_player
    };
    struct gt_host_costs *costs = gt_host_costs_new();

    (void)state;
    played = 0;
    stop_at = UINT32_MAX;
    assert_int_equal(gt_host_measure(&steady, costs, stop, tell_of_host, NULL, &error), 0);
    assert_int_equal(opened, GT_HOST_TRACES);
    assert_int_equal(told, GT_HOST_TRACES);
    gt_device_init(&device);
    assert_true(gt_host_costs_apply(costs, &device) > 200);
    assert_int_equal(device.launch_call_ps, 7000000);
    assert_int_equal(device.copy_call_ps, 7000000);
    assert_int_equal(device.launch_extra.cold_ps, 0);
    gt_host_costs_free(costs);
}

/* Blocks all on SM 0 in two runs and on SM 1 in the third: of three pairs two differ wholly. Simulated,
 * they lie one an SM, so seven of eight are elsewhere. */
static void placement_has_a_floor(void **state)
{
    static const double late[] = { 1, 1, 1 };
    static const uint32_t sm[] = { 0, 1, 0 };
    struct gt_store *store = new_store();
    struct gt_validated validated;

    (void)state;
    late_us = late;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    assert_int_equal(validate(store, 3, &validated), 0);
    assert_near(validated.verdict.repeats.placement_floor_pct, 100);
    assert_near(validated.verdict.repeats.placement_pct, 87.5);
    assert_near(validated.verdict.placement_excess_pct, 0);
    gt_store_close(store);
    unlink(path);
}

/* The second kernel starts `late_us` after the first one's end; simulated it does so at once. */
static void the_order_is_that_of_all_repetitions(void **state)
{
    static const double as_simulated[] = { 1, 3 }, other_way[] = { -15, -13 }, now_so[] = { -15, 1 };
    static const double too_close[] = { -15, -11.5 };
    /* clang-format off */
    static const struct { const double *late; double pairs, wrong; } cases[] = {
        { as_simulated, 1, 0 }, { other_way, 1, 1 }, { now_so, 0, 0 }, { too_close, 0, 0 },
    };
    /* clang-format on */
    static const uint32_t sm[] = { 0, 0 };

    (void)state;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gt_store *store = new_store();
        struct gt_validated validated;
        struct gt_suite suite;

        late_us = cases[i].late;
        assert_int_equal(validate(store, 1, &validated), 0);
        assert_true(isnan(validated.verdict.repeats.order.pairs));
        gt_store_close(store);
        store = new_store();
        assert_int_equal(validate(store, 2, &validated), 0);
        assert_near(validated.verdict.repeats.order.pairs, cases[i].pairs);
        assert_near(validated.verdict.repeats.order.wrong, cases[i].wrong);
        assert_int_equal(query(store, "SELECT value FROM comparison WHERE metric = 'order_wrong'"), cases[i].wrong);
        assert_int_equal(gt_verdict_suite(store, &validated.verdict, 1, &suite, &error), 0);
        assert_near(suite.order_wrong, cases[i].wrong);
        gt_store_close(store);
        unlink(path);
    }
}

static void what_was_not_seen_is_told(void **state)
{
    static const double late[] = { 0, 0 };
    static const uint32_t sm[] = { 0, 0 };
    struct gt_store *store = new_store();
    struct gt_validated validated;

    (void)state;
    late_us = late;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    unseen_from = 1;
    assert_int_equal(validate(store, 1, &validated), 0);
    unseen_from = UINT32_MAX;
    assert_int_equal(validated.unseen, 1);
    assert_int_equal(validated.verdict.comparison.unmatched, 1);
    assert_false(validated.verdict.within);
    gt_store_close(store);
    unlink(path);
}

static void others_on_the_gpu_are_a_warning(void **state)
{
    static const double late[] = { 0, 0 };
    static const uint32_t sm[] = { 0, 0 };
    struct gt_store *store = new_store();
    struct gt_validated validated;

    (void)state;
    late_us = late;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    assert_int_equal(validate(store, 1, &validated), 0);
    assert_int_equal(query(store, "SELECT count(*) FROM warning"), 0);
    somebody = (struct gt_other_gpu_users){ 2, 0 };
    assert_int_equal(validate(store, 1, &validated), 0);
    somebody = (struct gt_other_gpu_users){ 0, 0 };
    assert_int_equal(validated.others.processes, 2);
    assert_int_equal(query(store, "SELECT count FROM warning WHERE kind = 'gpu-shared'"), 2);
    assert_int_equal(query(store, "SELECT max(value) FROM counter WHERE name = 'other_processes'"), 2);
    gt_store_close(store);
    unlink(path);
}

static void thresholds_give_the_verdict(void **state)
{
    static const double close[] = { 1.5 }, far[] = { 9 };
    static const uint32_t sm[] = { 0 };
    struct gt_store *store = new_store();
    struct gt_validated good, bad;
    struct gt_verdict both[2];
    struct gt_suite suite;

    (void)state;
    sms = sm;
    fail_at = stop_at = UINT32_MAX;
    late_us = close;
    assert_int_equal(validate(store, 1, &good), 0);
    late_us = far;
    assert_int_equal(validate(store, 1, &bad), 0);
    assert_true(isnan(good.verdict.repeats.spread_pct));
    assert_true(isnan(good.verdict.placement_excess_pct));
    assert_true(fabs(good.verdict.comparison.makespan_error_pct) < 3);
    assert_true(good.verdict.within);
    assert_false(bad.verdict.within);
    both[0] = good.verdict;
    both[1] = bad.verdict;
    assert_int_equal(gt_verdict_suite(store, both, 1, &suite, &error), 0);
    assert_true(suite.within);
    assert_int_equal(gt_verdict_suite(store, both, 2, &suite, &error), 0);
    assert_false(suite.within);
    assert_int_equal(suite.traces, 2);
    assert_near(suite.error_max_pct, fabs(bad.verdict.comparison.makespan_error_pct));
    assert_near(suite.error_median_pct, fabs(good.verdict.comparison.makespan_error_pct));
    assert_near(suite.mape_pct, (suite.error_max_pct + suite.error_median_pct) / 2);
    /* A looser threshold in the store is heeded. */
    sqlite3_exec(gt_store_database(store)->sqlite, "UPDATE metric SET threshold = 100 WHERE threshold IS NOT NULL",
                 NULL, NULL, NULL);
    assert_int_equal(gt_verdict_of(store, bad.verdict.simulated_run, false, &both[1], &error), 0);
    assert_true(both[1].within);
    gt_store_close(store);
    unlink(path);
}

static void what_was_measured_is_kept(void **state)
{
    static const double late[] = { 1, 1, 1, 1, 1 };
    static const uint32_t sm[] = { 0, 0, 0, 0, 0 };
    struct gt_store *store = new_store();
    struct gt_validated validated;

    (void)state;
    late_us = late;
    sms = sm;
    fail_at = 3;
    stop_at = UINT32_MAX;
    assert_int_equal(validate(store, 5, &validated), -1);
    assert_string_equal(error.text, "the GPU is on fire");
    assert_int_equal(validated.measured, 2);
    assert_int_equal(validated.verdict.repeats.count, 2);
    fail_at = UINT32_MAX;
    stop_at = 1;
    assert_int_equal(validate(store, 5, &validated), 0);
    assert_true(validated.stopped);
    assert_int_equal(validated.measured, 1);
    assert_int_equal(query(store, "SELECT count(*) FROM run WHERE kind = 'measured' AND whole = 1"), 3);
    gt_store_close(store);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_repetition_is_compared), cmocka_unit_test(the_gpu_alone_has_the_measured_host),
        cmocka_unit_test(the_host_is_measured_before),       cmocka_unit_test(placement_has_a_floor),
        cmocka_unit_test(thresholds_give_the_verdict),       cmocka_unit_test(the_order_is_that_of_all_repetitions),
        cmocka_unit_test(what_was_not_seen_is_told),         cmocka_unit_test(others_on_the_gpu_are_a_warning),
        cmocka_unit_test(what_was_measured_is_kept),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
