/* The critical path of the golden store (tests/data/stats-golden.sql), and of it with changes. */
#include "tests/unit/stats_golden.h"

struct expected_segment {
    enum gt_path_kind kind;
    const char *name;
    double from_us, to_us;
};

static int check_segment(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    const struct expected_segment **next = user, *expected = (*next)++;

    (void)error;
    assert_int_equal(segment->kind, expected->kind);
    assert_string_equal(segment->name, expected->name);
    assert_int_equal(segment->from_ps, (gt_time_ps)(expected->from_us * US));
    assert_int_equal(segment->to_ps, (gt_time_ps)(expected->to_us * US));
    return 0;
}

static void check_path(sqlite3 *database, const char *change, const struct expected_segment *expected, size_t count)
{
    struct gt_stats *stats = compute(database, change);
    const struct expected_segment *next = expected;
    struct gt_error error;
    gt_time_ps sum_ps = 0;

    assert_int_equal(stats->path_segments, count);
    assert_int_equal(gt_stats_path(stats, check_segment, &next, &error), 0);
    assert_ptr_equal(next, expected + count);
    for (size_t i = 0; i < stats->path_count; i++)
        sum_ps += stats->path[i].total_ps;
    assert_int_equal(sum_ps, stats->path_end_ps - stats->path_start_ps);
    gt_stats_free(stats);
}
#define CHECK_PATH(database, change, ...)                                             \
    do {                                                                              \
        static const struct expected_segment expected[] = { __VA_ARGS__ };            \
        check_path(database, change, expected, sizeof expected / sizeof expected[0]); \
    } while (0)

static void path_through_operations_and_calls(void **state)
{
    CHECK_PATH(*state, "", { GT_PATH_API, "cudaMemcpyAsync", 0, 1 }, { GT_PATH_LAUNCH, "", 1, 4 },
               { GT_PATH_COPY, "h2d", 4, 10 }, { GT_PATH_KERNEL, "A", 10, 26 }, { GT_PATH_GAP, "", 26, 28 },
               { GT_PATH_COPY, "h2d", 28, 32 }, { GT_PATH_API, "cudaDeviceSynchronize", 32, 34 },
               { GT_PATH_HOST_WORK, "", 34, 36 }, { GT_PATH_API, "cudaLaunchKernel", 36, 36.5 },
               { GT_PATH_LAUNCH, "", 36.5, 39 }, { GT_PATH_KERNEL, "A", 39, 45 });
}

static void path_parts_are_sorted(void **state)
{
    struct gt_stats *stats = compute(*state, "");

    assert_int_equal(stats->path_count, 8);
    assert_int_equal(stats->path[0].kind, GT_PATH_KERNEL);
    assert_string_equal(stats->path[0].name, "A");
    assert_int_equal(stats->path[0].segments, 2);
    assert_int_equal(stats->path[0].total_ps, 22 * US);
    assert_float_equal(stats->path[0].share, 22.0 / 45, 1e-9);
    assert_int_equal(stats->path[1].total_ps, 10 * US);
    assert_int_equal(stats->path[2].total_ps, 5500000);
    gt_stats_free(stats);
}

/* The memset's thread had called nothing before: until then it was at its own work. */
static void path_ends_at_a_threads_first_call(void **state)
{
    CHECK_PATH(*state, "UPDATE run_op SET end_ps = 50e6 WHERE run_id = 1 AND op_no = 6",
               { GT_PATH_HOST_WORK, "", 0, 37 }, { GT_PATH_API, "memset", 37, 37.5 },
               { GT_PATH_LAUNCH, "", 37.5, 41 }, { GT_PATH_MEMSET, "", 41, 50 });
}

static void path_along_a_thread(void **state)
{
    CHECK_PATH(*state,
               "UPDATE run_op SET end_ps = 60e6, cause_op = NULL, cause_call = 4"
               " WHERE run_id = 1 AND op_no = 3",
               { GT_PATH_API, "cudaMemcpyAsync", 0, 2 }, { GT_PATH_API, "cudaLaunchKernel", 2, 3 },
               { GT_PATH_HOST_WORK, "", 3, 5 }, { GT_PATH_HOST_WORK, "", 5, 6 },
               { GT_PATH_API, "cudaLaunchKernel", 6, 7 }, { GT_PATH_API, "cudaMemcpyAsync", 7, 7.5 },
               { GT_PATH_LAUNCH, "", 7.5, 24 }, { GT_PATH_COPY, "d2h", 24, 60 });
}

/* Damaged causes: none; and a circle, which must not be walked for ever. */
static void path_with_unknown_causes(void **state)
{
    CHECK_PATH(*state, "UPDATE run_op SET cause_call = NULL WHERE run_id = 1 AND op_no = 5",
               { GT_PATH_UNKNOWN, "", 0, 39 }, { GT_PATH_KERNEL, "A", 39, 45 });
}

static void path_survives_a_circle(void **state)
{
    CHECK_PATH(*state,
               "UPDATE run_op SET cause_call = NULL, cause_op = 4 WHERE run_id = 1 AND op_no = 5;"
               "UPDATE run_op SET cause_op = 5 WHERE run_id = 1 AND op_no = 4",
               { GT_PATH_UNKNOWN, "", 0, 28 }, { GT_PATH_COPY, "h2d", 28, 32 }, { GT_PATH_GAP, "", 32, 39 },
               { GT_PATH_KERNEL, "A", 39, 45 });
}

static void path_without_operations_follows_the_calls(void **state)
{
    CHECK_PATH(*state,
               "DELETE FROM run_op; DELETE FROM run_block; DELETE FROM run_bin;"
               "DELETE FROM run_call WHERE call_no > 2",
               { GT_PATH_API, "cudaMemcpyAsync", 0, 2 }, { GT_PATH_API, "cudaLaunchKernel", 2, 3 },
               { GT_PATH_HOST_WORK, "", 3, 5 });
}

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        GOLDEN(path_through_operations_and_calls), GOLDEN(path_parts_are_sorted),
        GOLDEN(path_ends_at_a_threads_first_call), GOLDEN(path_along_a_thread),
        GOLDEN(path_with_unknown_causes), GOLDEN(path_survives_a_circle),
        GOLDEN(path_without_operations_follows_the_calls),
    };
    /* clang-format on */

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
