/* Launches that loaded their kernel's code: such as the recording shows to have held later work back. */
#include "tests/unit/recording.h"

enum { LAZY_LOADING = 5 << 16, COMPILING = 1 << 16, STREAM = 13, OTHER_STREAM = 15, MORE_OPERATIONS = 500 };
static char folder[] = "/tmp/gridtide-test-XXXXXX";
static struct gt_workload *recorded;

static void write_overhead(uint32_t kind, uint32_t correlation, uint64_t start_ns)
{
    struct gt_record_overhead *overhead = begin(GT_RECORDED_OVERHEAD, sizeof *overhead);

    overhead->start_ns = start_ns;
    overhead->end_ns = start_ns + 100;
    overhead->kind = kind;
    overhead->correlation = correlation;
    gt_writer_end(overhead);
}

static void write_launch(uint32_t correlation, uint64_t call_ns, uint64_t stream, uint64_t start_ns, uint64_t end_ns)
{
    write_call(GT_DID_LAUNCH, correlation, call_ns, stream, 0, 0, 0);
    write_kernel(correlation, stream == STREAM_A ? STREAM : OTHER_STREAM, start_ns, end_ns, 0);
}

static int write_all(void **state)
{
    struct gt_error error;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(gt_writer_open(folder, UINT64_C(1) << 30), 0);
    write_context();
    write_stream(STREAM_A, STREAM, 0, 0);
    write_stream(STREAM_B, OTHER_STREAM, 0, 0);
    write_launch(10, 100000, STREAM_A, 110000, 210000);
    write_launch(11, 102000, STREAM_B, 212000, 220000); /* behind it, though in another stream */
    write_overhead(LAZY_LOADING, 11, 102200);
    write_launch(20, 300000, STREAM_A, 310000, 410000);
    write_launch(21, 302000, STREAM_B, 312000, 320000); /* beside it */
    write_overhead(LAZY_LOADING, 21, 302200);
    write_launch(30, 500000, STREAM_A, 510000, 520000);
    write_overhead(COMPILING, 30, 500200);
    write_launch(40, 600000, STREAM_A, 610000, 620000);
    write_overhead(LAZY_LOADING, 40, 600200);
    for (uint64_t i = 1; i <= MORE_OPERATIONS; i++) /* no launch has several: damaged, or from somebody else */
        write_kernel(40, STREAM, 610000 + 20000 * i, 620000 + 20000 * i, 0);
    recorded = read_back(folder, &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    return 0;
}

static int end_all(void **state)
{
    char *file = only_file(folder);

    (void)state;
    gt_workload_free(recorded);
    unlink(file);
    rmdir(folder);
    free(file);
    return 0;
}

static void a_load_holds_what_is_asked_for_later(void **state)
{
    (void)state;
    assert_int_equal(call_of(recorded, 10)->flags & GT_CALL_LOADS, 0);
    assert_int_equal(call_of(recorded, 11)->flags & GT_CALL_LOADS, GT_CALL_LOADS);
}

static void a_load_that_held_nothing_is_none(void **state)
{
    (void)state;
    assert_int_equal(call_of(recorded, 21)->flags & GT_CALL_LOADS, 0);
    assert_int_equal(call_of(recorded, 30)->flags & GT_CALL_LOADS, 0);
}

static void a_launch_of_many_operations_loads_once(void **state)
{
    (void)state;
    assert_int_equal(call_of(recorded, 40)->ops, 1 + MORE_OPERATIONS);
    assert_int_equal(call_of(recorded, 40)->flags & GT_CALL_LOADS, GT_CALL_LOADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_holds_what_is_asked_for_later),
        cmocka_unit_test(a_load_that_held_nothing_is_none),
        cmocka_unit_test(a_launch_of_many_operations_loads_once),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, write_all, end_all);
}
