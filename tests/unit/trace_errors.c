/* What is wrong with a trace is told with file and line; a wrong workload is refused. */
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

#include "traces/jsonl/trace.h"

#define HEADER "{\"gridtide\":1}\n"
#define KERNEL "{\"kernel\":\"k\",\"duration_us\":1}\n"
#define LAUNCH "{\"call\":\"launch\",\"kernel\":\"k\"}\n"

static char folder[] = "/tmp/gridtide-errors-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/wrong.jsonl", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void put_file(const char *text, size_t length)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

/* Reading fails; the message begins with the file and the line and holds `why`. */
static void must_fail(unsigned line, const char *why)
{
    struct gt_error error = { "" };
    struct gt_workload *workload = gt_trace_read(path, NULL, &error);
    char place[96];

    snprintf(place, sizeof place, "%s:%u: ", path, line);
    if (workload != NULL)
        fail_msg("read, but should fail with: %s", why);
    if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, why) == NULL)
        fail_msg("\"%s\" is not \"%s...%s\"", error.text, place, why);
}

/* clang-format off */
static const struct { unsigned line; const char *text, *why; } wrong[] = {
    { 1, "", "without a header" },
    { 3, "# only\n# comments\n", "without a header" },
    { 1, "{\"schemaVersion\":1}\n", "gridtide import" },
    { 1, "{\"gridtide\":2}\n", "this Gridtide reads version 1" },
    { 1, "{\"gridtide\":\"1\"}\n", "\"gridtide\" must be a whole number" },
    { 1, "PK\x03\x04", "not the header of a Gridtide trace: column 1: not JSON" },
    { 2, HEADER HEADER, "second header" },
    { 2, HEADER "[1]\n", "one JSON object" },
    { 3, HEADER KERNEL "x", "not JSON" },
    { 2, HEADER "{\"call\":\"launch\",\n", "ends inside" },
    { 2, HEADER "{} {}\n", "one JSON object" },
    { 2, HEADER "{\"x\":1}\n", "unknown kind of line" },
    { 2, HEADER "{\"kernel\":\"a\\u0000b\"}\n", "NUL" },
    { 2, HEADER "{\"kernel\":\"\xff\"}\n", "UTF8" },
    { 2, HEADER "{\"call\":\"jump\"}\n", "there are: host_work launch graph_launch" },
    { 2, HEADER "{\"call\":7}\n", "\"call\" must be a string" },
    { 2, HEADER LAUNCH, "no kernel k has been defined above this line; defined so far: none" },
    { 3, HEADER KERNEL "{\"call\":\"launch\","
      "\"kernel\":\"j\"}\n", "no kernel j has been defined above this line; "
      "defined so far: k" },
    { 3, HEADER KERNEL "{\"call\":\"launch\"}\n", "\"kernel\" is missing" },
    { 3, HEADER KERNEL KERNEL, "defined already, on line 2" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":null}\n", "cannot be null" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\","
      "\"stream\":1.5}\n", "\"stream\": 1.5 is not a whole number" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\","
      "\"stream\":[1]}\n", "must be a name or a number" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":1,\"stream\":1}\n", "occurs twice" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"new\":1,\"new\":1}\n", "occurs twice" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"start_ns\":1,"
      "\"start_us\":1}\n", "occurs twice" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"start\":1}\n", "has no unit" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"start_ns\":-1}\n", "is negative" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"start_s\":4611687}\n", "too large" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"start_s\":\"1\"}\n", "must be a number" },
    { 3, HEADER KERNEL "{\"call\":\"launch\",\"kernel\":\"k\",\"bytes\":1,\"nodes\":[]}\n", "cannot have" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":[1,0]}\n", "size of 0" },
    { 2, HEADER "{\"kernel\":\"k\",\"block\":0}\n", "size of 0" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":[]}\n", "one to three" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":[1,1,1,1]}\n", "one to three" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":2147483648}\n", "too large" },
    { 2, HEADER "{\"task_graph\":\"g\",\"counters\":1000000000}\n", "counts stand for more than" },
    { 2, HEADER "{\"task_graph\":\"g\",\"tasks\":[{\"task\":\"a\",\"worker\":2000000000}]}\n", "too large" },
    { 2, HEADER "{\"task_graph\":\"g\",\"tasks\":[{\"task\":\"a\",\"count\":5000000}]}\n", "counts stand for more than" },
    { 2, HEADER "{\"task_graph\":\"g\",\"tasks\":[{\"task\":\"a\",\"count\":1000000,\"signals\":[\"a\",\"b\",\"c\",\"d\"]}]}\n", "counts stand for more than" },
    { 2, HEADER "{\"task_graph\":\"g\",\"columns\":{\"count\":5000000,\"kind\":0}}\n", "counts stand for more than" },
    { 3, HEADER "{\"task_graph\":\"g\",\"counters\":3000000}\n{\"task_graph\":\"h\",\"counters\":3000000}\n",
      "counts stand for more than" },
    { 5, HEADER "{\"kernel\":\"k\",\"block_us\":1,\"launches\":[{\"kernel\":\"k\",\"count\":1000000,\"depth\":1}]}\n"
             "{\"call\":\"launch\",\"kernel\":\"k\"}\n{\"call\":\"launch\",\"kernel\":\"k\"}\n"
             "{\"call\":\"launch\",\"kernel\":\"k\"}\n", "launch more than 2097152 further ones" },
    { 2, HEADER "{\"kernel\":\"k\",\"block\":[65536,65536]}\n", "more than any GPU takes" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":8,\"cluster\":3,\"block_us\":1}\n", "must divide the grid's" },
    { 2, HEADER "{\"kernel\":\"k\",\"grid\":64,\"cluster\":32,\"block_us\":1}\n", "at most 16 blocks" },
    { 2, HEADER "{\"kernel\":\"k\",\"block_us\":[2,1]}\n", "the minimum exceeds the maximum" },
    { 2, HEADER "{\"kernel\":\"k\",\"block_us\":[1,2,3]}\n", "[least, most]" },
    { 2, HEADER "{\"kernel\":\"k\",\"runs\":7}\n", "must be" },
    { 2, HEADER "{\"kernel\":\"k\",\"arguments\":{\"cycles\":7}}\n", "without \"runs\"" },
    { 2, HEADER "{\"kernel\":\"k\",\"runs\":\"spin\",\"arguments\":[7]}\n", "must be" },
    { 2, HEADER "{\"kernel\":\"k\",\"runs\":\"spin\",\"arguments\":{\"cycles\":[7]}}\n", "a number or a word" },
    { 2, HEADER "{\"kernel\":\"k\",\"block_list_us\":[]}\n", "must be a list" },
    { 2, HEADER "{\"kernel\":\"k\",\"block_list_us\":[1],\"block_us\":1}\n", "exclude each other" },
    { 2, HEADER "{\"kernel\":\"k\",\"registers\":1e2}\n", "digits only" },
    { 2, HEADER "{\"kernel\":7}\n", "needs a name" },
    { 2, HEADER "{\"stream\":\"s\",\"flags\":[\"blocking\"]}\n", "\"non_blocking\"" },
    { 3, HEADER "{\"call\":\"stream_sync\",\"stream\":\"s\"}\n{\"stream\":\"s\"}\n", "on line 2" },
    { 2, HEADER "{\"stream\":\"s\",\"gpu\":4294967295}\n", "too large" },
    { 2, HEADER "{\"event\":null}\n", "not null" },
    { 2, HEADER "{\"call\":\"copy\",\"bytes\":1}\n", "needs a \"direction\"" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"h2d\"}\n", "needs \"bytes\"" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"h2d\",\"bytes\":1e6}\n", "digits only" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"h2d\",\"bytes\":-1}\n", "negative" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"h2d\","
      "\"bytes\":99999999999999999999}\n", "too large" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"h2d\","
      "\"bytes\":9223372036854775808}\n", "more than 2^63 bytes" },
    { 2, HEADER "{\"call\":\"copy\",\"direction\":\"up\",\"bytes\":1}\n", "there are: h2d d2h d2d p2p h2h" },
    { 2, HEADER "{\"call\":\"host_work\"}\n", "needs a duration" },
    { 2, HEADER "{\"call\":\"poll\",\"piece_us\":1}\n", "give one of them" },
    { 2, HEADER "{\"call\":\"poll\",\"piece_us\":1,\"event\":\"e\",\"stream\":\"s\"}\n", "give one of them" },
    { 2, HEADER "{\"call\":\"poll\",\"event\":\"e\"}\n", "needs the time of a piece" },
    { 2, HEADER "{\"call\":\"event_sync\",\"event\":\"e\",\"most_pieces\":3}\n", "are for calls of poll only" },
    { 2, HEADER "{\"call\":\"device_sync\",\"loads\":true}\n", "\"loads\" is for launch and graph_launch" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":4,\"programmatic\":true}\n", "is for kernels only" },
    { 2, HEADER "{\"kernel\":\"k\",\"trigger_pct\":101}\n", "0 to 100" },
    { 2, HEADER "{\"kernel\":\"k\",\"block_us\":1,\"grid_barriers\":2000000}\n", "at most" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_us\":[]}\n", "one more than the number of grid barriers" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_us\":3}\n", "one more than the number of grid barriers" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_us\":[0,0]}\n", "needs a time above 0" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_us\":[1,2],\"grid_barriers\":3}\n", "and 1 grid barriers" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_us\":[1,[2]]}\n", "phase" },
    { 2, HEADER "{\"kernel\":\"k\",\"phase_ps\":[4611686018427387904,4611686018427387904]}\n", "too long" },
    { 2, HEADER "{\"call\":\"host_function\"}\n", "a host function needs its duration," },
    { 2, HEADER "{\"call\":\"event_record\"}\n", "needs an \"event\"" },
    { 2, HEADER "{\"call\":\"event_record\",\"event\":null}\n", "target_unknown" },
    { 2, HEADER "{\"call\":\"stream_create\"}\n", "needs a \"stream\"" },
    { 2, HEADER "{\"call\":\"graph_launch\"}\n", "needs \"nodes\"" },
    { 2, HEADER "{\"call\":\"event_record\",\"event\":1,\"executable\":3}\n", "\"executable\" is for graph_launch" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"executable\":[3],\"nodes\":[]}\n", "a name or a number" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"nodes\":[{}]}\n", "node 0: the kind is missing" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"nodes\":[3]}\n", "list of objects" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"nodes\":[{\"kind\":\"memset\",\"bytes\":1,"
      "\"after\":[0]}]}\n", "node 0: \"after\"" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"nodes\":[{\"kind\":\"memset\",\"bytes\":1,"
      "\"after\":[-1]}]}\n", "\"after\"" },
    { 2, HEADER "{\"call\":\"graph_launch\",\"nodes\":[{\"kind\":\"memset\",\"bytes\":1,"
      "\"after\":[2]},{\"kind\":\"memset\",\"bytes\":1}]}\n", "node 0: \"after\"" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"after\":[1]}\n", "\"after\"" },
    { 3, HEADER "{\"call\":\"host_work\",\"start_us\":5,\"duration_us\":2}\n"
      "{\"call\":\"device_sync\",\"start_us\":6.9}\n", "before the call before it of the same thread ends" },
    { 2, HEADER "{\"call\":\"device_sync\",\"start_ps\":4611686018427387904,\"duration_ps\":1}\n", "53 days" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"op_start_ps\":1,"
      "\"op_duration_ps\":4611686018427387904}\n", "53 days" },
    { 2, HEADER "{\"call\":\"alloc\",\"bytes\":1}\n", "needs a \"buffer\"" },
    { 2, HEADER "{\"call\":\"alloc\",\"buffer\":\"x\"}\n", "needs \"bytes\"" },
    { 2, HEADER "{\"call\":\"free\",\"buffer\":7}\n", "the name of a buffer" },
    { 2, HEADER "{\"call\":\"free\",\"buffer\":\"x\",\"bytes\":7}\n", "no field of an operation" },
    { 2, HEADER "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":1,\"reads\":[]}\n", "no field of an operation" },
    { 3, HEADER "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":1}\n"
      "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":2}\n", "another size" },
    { 3, HEADER "{\"call\":\"free\",\"buffer\":\"x\"}\n{\"buffer\":\"x\"}\n", "on line 2" },
    { 2, HEADER "{\"buffer\":\"x\",\"bytes\":2,\"address\":18446744073709551614}\n", "beyond the last address" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"buffer\":\"x\"}\n", "of its own" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"destination\":\"x\"}\n", "are for copies only" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"writes\":[[\"x\",1]]}\n", "1 byte at least" },
    { 2, HEADER "{\"call\":\"memset\",\"bytes\":1,\"writes\":[[\"x\",1,0]]}\n", "1 byte at least" },
    { 3, HEADER "{\"buffer\":\"x\",\"bytes\":8}\n"
      "{\"call\":\"memset\",\"bytes\":1,\"writes\":[[\"x\",7,2]]}\n", "up to byte 9, and it has 8" },
    { 1, "{\"gridtide\":1,\"settings\":{\"a\":1,\"a\":2}}\n", "occurs twice" },
    { 1, "{\"gridtide\":1,\"warnings\":[{}]}\n", "needs a \"kind\"" },
};
/* clang-format on */

static void wrong_lines_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put_file(wrong[i].text, strlen(wrong[i].text));
        must_fail(wrong[i].line, wrong[i].why);
    }
}

static void touching_calls_are_fine(void **state)
{
    static const char text[] = HEADER "{\"call\":\"host_work\",\"start_us\":5,\"duration_us\":2}\n"
                                      "{\"call\":\"device_sync\",\"start_us\":7}\n"
                                      "{\"call\":\"device_sync\",\"start_us\":6,\"thread\":\"other\"}\n";
    struct gt_workload *workload;

    (void)state;
    put_file(text, sizeof text - 1);
    workload = gt_trace_read(path, NULL, NULL);
    assert_non_null(workload);
    gt_workload_free(workload);
}

static void hostile_files_end_soon(void **state)
{
    enum { DEEP = 100000, LONG = (64 << 20) + (1 << 20) };
    char *text = malloc(LONG);

    (void)state;
    memset(text, '[', DEEP);
    memcpy(text, "{\"gridtide\":", 12);
    put_file(text, DEEP);
    must_fail(1, "nested too deeply");
    memset(text, ' ', LONG);
    put_file(text, LONG);
    must_fail(1, "longer than 64 MiB");
    free(text);
    put_file("", 0);
    assert_int_equal(truncate(path, (off_t)5 << 30), 0); /* 5 GiB of nothing */
    must_fail(1, "NUL");
}

static void a_wrong_workload_is_refused(void **state)
{
    struct gt_workload *workload = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .runs = GT_NONE, .arguments = GT_NONE,
        .name = GT_NONE, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .duration_ps = 1,
    };
    /* clang-format on */
    struct gt_error error;

    (void)state;
    gt_workload_kernel(workload, &kernel);
    gt_workload_add_gpu(workload);
    gt_workload_add_stream(workload);
    gt_workload_add_thread(workload);
    gt_workload_add_call(workload);
    workload->calls[0].kind = GT_CALL_LAUNCH;
    workload->calls[0].ops = 1;
    gt_workload_add_op(workload);
    workload->ops[0].call = 0;
    workload->ops[0].stream = 0;
    workload->ops[0].kernel = 0;
    assert_int_equal(gt_workload_check(workload, &error), 0);

#define REFUSED(field, value)                                         \
    do {                                                              \
        __typeof__(field) kept = field;                               \
        field = value;                                                \
        assert_int_equal(gt_workload_check(workload, &error), -1);    \
        assert_int_equal(gt_trace_write(workload, path, &error), -1); \
        field = kept;                                                 \
    } while (0)
    REFUSED(workload->calls[0].kind, GT_CALL_KINDS);
    REFUSED(workload->calls[0].thread, 1);
    REFUSED(workload->calls[0].stream, 1);
    REFUSED(workload->calls[0].event, 0);
    REFUSED(workload->calls[0].name, 9);
    REFUSED(workload->calls[0].ops, 2);
    REFUSED(workload->calls[0].ops, 0);
    REFUSED(workload->calls[0].first_op, 1);
    REFUSED(workload->calls[0].start_ps, GT_TIME_LIMIT_PS + 1);
    REFUSED(workload->ops[0].call, 1);
    REFUSED(workload->ops[0].stream, 1);
    REFUSED(workload->ops[0].kernel, 1);
    REFUSED(workload->ops[0].kernel, GT_NONE);
    REFUSED(workload->ops[0].kind, GT_OP_MEMSET);
    REFUSED(workload->ops[0].direction, GT_DIRECTIONS);
    REFUSED(workload->ops[0].peer_gpu, 1);
    REFUSED(workload->ops[0].afters, 1);
    REFUSED(workload->ops[0].duration_ps, GT_TIME_LIMIT_PS + 1);
    REFUSED(workload->streams[0].gpu, 1);
    REFUSED(workload->kernels[0].block[1], 0);
    REFUSED(workload->kernels[0].grid[2], 0);
    REFUSED(workload->kernels[0].cost, GT_COST_LIST);
    gt_workload_add_after(workload, 0, 0);
    assert_int_equal(gt_workload_check(workload, &error), -1);
    gt_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(touching_calls_are_fine),
        cmocka_unit_test(hostile_files_end_soon),
        cmocka_unit_test(a_wrong_workload_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown);
}
