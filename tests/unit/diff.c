/* Two runs side by side: matching, and differences worked out by hand on the golden store (tests/data/stats-golden.sql). */
#include "tests/unit/stats_golden.h"

#include "traces/diff/diff.h"
#include "traces/diff/matching.h"

enum { LONG = 100000 };

/* Sequences as letters; the partners of a's elements as letters too: 'a' is b's first, '.' none. */
static void check_match(const char *a, const char *b, const char *expected)
{
    uint32_t as[64] = { 0 }, bs[64] = { 0 }, of[64], a_count = (uint32_t)strlen(a), b_count = (uint32_t)strlen(b);
    char found[65] = "";

    for (uint32_t i = 0; i < a_count; i++)
        as[i] = (uint32_t)(a[i] - 'A');
    for (uint32_t i = 0; i < b_count; i++)
        bs[i] = (uint32_t)(b[i] - 'A');
    gt_match(as, a_count, bs, b_count, 26, of);
    for (uint32_t i = 0; i < a_count; i++)
        found[i] = of[i] == UINT32_MAX ? '.' : (char)('a' + of[i]);
    assert_string_equal(found, expected);
}

static void operations_are_matched_by_name_and_order(void **state)
{
    (void)state;
    check_match("", "", "");
    check_match("ABC", "", "...");
    check_match("", "ABC", "");
    check_match("ABC", "ABC", "abc");
    check_match("ABAB", "CABAB", "bcde");        /* one more in front: nobody else moves */
    check_match("ABABAB", "ABAAB", "abc.de");    /* one of the Bs is gone */
    check_match("ABCABBA", "CBABAC", ".bacd.e"); /* BABA (Myers has this pair), then the C that moved */
    check_match("AAB", "BAA", "bca");            /* moved, neither added nor removed */
    check_match("AAAB", "CCA", "c...");
}

/* So different that only names are left: each has its partner, and time stays short. */
static void long_sequences_too_different_are_matched_by_name(void **state)
{
    uint32_t *a = gt_calloc(LONG, sizeof *a), *b = gt_calloc(LONG, sizeof *b), *of = gt_calloc(LONG, sizeof *of);

    (void)state;
    for (uint32_t i = 0; i < LONG; i++) {
        a[i] = i;
        b[i] = LONG - 1 - i;
    }
    gt_match(a, LONG, b, LONG, LONG, of);
    for (uint32_t i = 0; i < LONG; i++)
        assert_int_equal(of[i], LONG - 1 - i);
    free(a);
    free(b);
    free(of);
}

static const struct gt_diff_row *row(const struct gt_diff_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, name) == 0)
            return &list->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void check_row(const struct gt_diff_list *list, const char *name, uint64_t a_us, uint64_t b_us,
                      uint64_t times_a, uint64_t times_b)
{
    const struct gt_diff_row *found = row(list, name);

    assert_int_equal(found->side[0].ps, a_us * US);
    assert_int_equal(found->side[1].ps, b_us * US);
    assert_int_equal(found->side[0].times, times_a);
    assert_int_equal(found->side[1].times, times_b);
}

static gt_time_ps sum(const struct gt_diff_list *list, int side)
{
    gt_time_ps sum_ps = 0;

    for (uint32_t i = 0; i < list->count; i++)
        sum_ps += list->rows[i].side[side].ps;
    return sum_ps;
}

static void load(sqlite3 *database, const char *kind, struct gt_diff_side *side)
{
    struct gt_error error = { "" };

    if (gt_diff_side_load(wrap(database), kind, side, &error) != 0)
        fail_msg("%s", error.text);
}

/* The last A (op 5, 39 .. 45) takes 2 us more, the memset (op 6, 41 .. 43) is gone, and a B (op 7) is new at 49 .. 52,
 * the last 2 us before which it waited for a connection.
 *
 * Makespan 4 .. 45 and 4 .. 52: +7.  Busy 34 and 28 + 8 + 3: +5.  Gaps: 32 .. 39 in both: the host's: synchronisation
 * until 34, its own work until 36, then the call and its way until 38, 2 us each; and 47 .. 49: +2. */
static const char change[] = "UPDATE run_op SET end_ps = 47e6 WHERE run_id = 1 AND op_no = 5;"
                             "DELETE FROM run_op WHERE run_id = 1 AND op_no = 6;"
                             "INSERT INTO op VALUES (1, 7, 8, 'kernel', 1, 1, NULL, NULL, NULL);"
                             "INSERT INTO run_op VALUES (1, 7, 37.5e6, 49e6, 52e6, 17e6, 0, 0, 2e6, 0, 0, 8, NULL)";

static void differences_are_as_worked_out(void **state)
{
    struct gt_diff_side a, b;
    struct gt_diff diff;

    load(*state, "simulated", &a);
    run_sql(*state, change);
    load(*state, "simulated", &b);
    gt_diff_make(&a, &b, &diff);
    assert_true(diff.causes);
    assert_int_equal(b.stats->summary.makespan_ps - a.stats->summary.makespan_ps, 7 * US);
    assert_int_equal(b.stats->summary.busy_ps - a.stats->summary.busy_ps, 5 * US);
    assert_int_equal(sum(&diff.gaps, 0), 7 * US);
    assert_int_equal(sum(&diff.gaps, 1), 9 * US);
    check_row(&diff.gaps, "queue", 0, 2, 0, 1);
    check_row(&diff.ops, "A", 22, 24, 2, 2);
    check_row(&diff.ops, "B", 10, 13, 1, 2);
    check_row(&diff.ops, "memset", 2, 0, 1, 0);
    check_row(&diff.ops, "copy h2d", 10, 10, 2, 2);
    check_row(&diff.ops, "copy d2h", 6, 6, 1, 1);
    assert_int_equal(sum(&diff.ops, 0), 50 * US);
    assert_int_equal(sum(&diff.ops, 1), 53 * US);
    assert_int_equal(row(&diff.ops, "A")->added + row(&diff.ops, "A")->removed, 0);
    assert_int_equal(row(&diff.ops, "B")->added, 1);
    assert_int_equal(row(&diff.ops, "B")->added_ps, 3 * US);
    assert_int_equal(row(&diff.ops, "memset")->removed_ps, 2 * US);
    assert_float_equal(diff.ops.changed_ps, 7.0 * US, 1);
    assert_string_equal(diff.ops.rows[0].name, "B"); /* adds most */
    /* Both directions: d2h 24 .. 30 beside A until 26; h2d 4 .. 10 alone, and 28 .. 32. */
    assert_int_equal(row(&diff.ops, "copy d2h")->side[0].part_ps, 4 * US);
    assert_int_equal(row(&diff.ops, "copy h2d")->side[0].part_ps, 10 * US);
    assert_int_equal(diff.matched, 6);
    assert_int_equal(diff.added, 1);
    assert_int_equal(diff.removed, 1);
    assert_int_equal(diff.changed_count, 3);
    assert_int_equal(diff.changed[0].op[0], GT_NONE);
    assert_int_equal(diff.changed[0].op[1], 7);
    check_row(&diff.calls, "cudaDeviceSynchronize", 25, 25, 1, 1);
    assert_int_equal(row(&diff.calls, "cudaDeviceSynchronize")->side[1].part_ps, 24 * US);
    gt_diff_free(&diff);
    gt_diff_side_free(&a);
    gt_diff_side_free(&b);
}

static void the_critical_path_adds_up(void **state)
{
    struct gt_diff_side sides[2];
    struct gt_diff diff;
    struct gt_stats *changed;

    load(*state, "simulated", &sides[0]);
    changed = compute(*state, change);
    load(*state, "simulated", &sides[1]);
    assert_int_equal(sides[1].limits.path_ps, changed->path_end_ps - changed->path_start_ps);
    gt_stats_free(changed);
    gt_diff_make(&sides[0], &sides[1], &diff);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(sides[side].limits.path_ps, (side == 0 ? 45 : 52) * US); /* from 0, the first call */
        assert_int_equal(sum(&diff.path, side), sides[side].limits.path_ps);
        assert_int_equal(sum(&diff.path_names, side), sides[side].limits.path_ps);
    }
    gt_diff_free(&diff);
    for (int side = 0; side < 2; side++)
        gt_diff_side_free(&sides[side]);
}

/* The two operations that were recorded: 5 .. 11 and 12 .. 27. */
static void measured_runs_have_no_causes(void **state)
{
    struct gt_diff_side a, b;
    struct gt_diff diff;

    load(*state, "measured", &a);
    run_sql(*state, "UPDATE run_op SET end_ps = 26e6 WHERE run_id = 2 AND op_no = 1");
    load(*state, "measured", &b);
    gt_diff_make(&a, &b, &diff);
    assert_false(diff.causes);
    assert_int_equal(diff.path.count, 0);
    check_row(&diff.gaps, "not recorded", 1, 1, 1, 1);
    check_row(&diff.ops, "A", 15, 14, 1, 1);
    assert_int_equal(diff.matched, 2);
    gt_diff_free(&diff);
    gt_diff_side_free(&a);
    gt_diff_side_free(&b);
}

static void damaged_stores_are_refused(void **state)
{
    struct gt_diff_side side;
    struct gt_error error = { "" };

    run_sql(*state, "UPDATE run_op SET wait_host_ps = -1 WHERE run_id = 1 AND op_no = 3");
    assert_int_equal(gt_diff_side_load(wrap(*state), "simulated", &side, &error), -1);
    assert_non_null(strstr(error.text, "golden.db: "));
    gt_diff_side_free(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_matched_by_name_and_order),
        cmocka_unit_test(long_sequences_too_different_are_matched_by_name),
        cmocka_unit_test_setup_teardown(differences_are_as_worked_out, open_golden, close_golden),
        cmocka_unit_test_setup_teardown(the_critical_path_adds_up, open_golden, close_golden),
        cmocka_unit_test_setup_teardown(measured_runs_have_no_causes, open_golden, close_golden),
        cmocka_unit_test_setup_teardown(damaged_stores_are_refused, open_golden, close_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
