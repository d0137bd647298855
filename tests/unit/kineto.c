/* Kineto profiles become the workloads they should: tests/data/kineto-NAME.json gives NAME.txt, worked
 * out by hand; and all that is wrong with a profile is told with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "traces/import/cuda_api.h"
#include "traces/kineto/internal.h"
#include "traces/kineto/kineto.h"

static const struct gt_import_options options;

static void add_time(FILE *out, gt_time_ps start_ps, gt_time_ps duration_ps)
{
    fprintf(out, "%llu+%llu", (unsigned long long)start_ps / 1000, (unsigned long long)duration_ps / 1000);
}

static void describe_op(FILE *out, const struct gt_workload *w, const struct gt_op *op)
{
    const struct gt_kernel *kernel = op->kernel == GT_NONE ? NULL : &w->kernels[op->kernel];

    fputs("    ", out);
    add_time(out, op->start_ps, op->duration_ps);
    fprintf(out, " %s stream %u", gt_op_kind_names[op->kind], op->stream);
    if (op->kind == GT_OP_COPY)
        fprintf(out, " %s", gt_direction_names[op->direction]);
    if (op->kind != GT_OP_KERNEL)
        fprintf(out, " %s %llu bytes", gt_memory_names[op->memory], (unsigned long long)op->bytes);
    if (op->peer_gpu != GT_NONE)
        fprintf(out, " peer %u", w->gpus[op->peer_gpu].id);
    if (kernel != NULL)
        fprintf(out, " %s <%u,%u,%u><%u,%u,%u> %u registers %u shared", gt_name_text(w, kernel->name),
                kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
                kernel->block[2], kernel->registers_per_thread, kernel->dynamic_shared_bytes);
    fputc('\n', out);
}

static void describe_call(FILE *out, const struct gt_workload *w, const struct gt_call *call)
{
    fprintf(out, "thread %u ", call->thread);
    add_time(out, call->start_ps, call->duration_ps);
    fprintf(out, " %s %s", gt_call_kind_names[call->kind], gt_name_text(w, call->name));
    if (call->stream != GT_NONE)
        fprintf(out, " stream %u", call->stream);
    if (call->event != GT_NONE)
        fprintf(out, " event %u", call->event);
    if (call->correlation != 0)
        fprintf(out, " correlation %u", call->correlation);
    if (call->external != 0)
        fprintf(out, " external %u", call->external);
    fprintf(out, "%s%s%s\n", call->flags & GT_CALL_SYNCHRONOUS ? " synchronous" : "",
            call->flags & GT_CALL_INFERRED ? " inferred" : "",
            call->flags & GT_CALL_TARGET_UNKNOWN ? " unknown" : "");
    for (uint32_t i = 0; i < call->ops; i++)
        describe_op(out, w, &w->ops[call->first_op + i]);
}

/* The calls by number, from the first to the last. */
static void describe_range(FILE *out, const struct gt_workload *w, const struct gt_range *range)
{
    fprintf(out, "range thread %u ", range->thread);
    add_time(out, range->start_ps, range->duration_ps);
    fprintf(out, " %s %s external %u calls %u..%u", gt_range_kind_names[range->kind], gt_name_text(w, range->name),
            range->external, range->first_call, range->end_call);
    if (range->parent != GT_NONE)
        fprintf(out, " within %s", gt_name_text(w, w->ranges[range->parent].name));
    fputc('\n', out);
}

/* All of a workload as text, malloced. */
static char *describe(const struct gt_workload *w)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    fprintf(out, "%s from %s on %s\n", w->name, w->source, w->device != NULL ? w->device : "-");
    for (uint32_t i = 0; i < w->setting_count; i++)
        fprintf(out, "setting %s = %s\n", w->settings[i].key, w->settings[i].value);
    for (uint32_t i = 0; i < w->warning_count; i++)
        fprintf(out, "warning %s %llu\n", w->warnings[i].kind, (unsigned long long)w->warnings[i].count);
    for (uint32_t i = 0; i < w->gpu_count; i++)
        fprintf(out, "gpu %u: %u %s\n", i, w->gpus[i].id, gt_name_text(w, w->gpus[i].name));
    for (uint32_t i = 0; i < w->stream_count; i++)
        fprintf(out, "stream %u: gpu %u context %u number %llu flags %u priority %d\n", i, w->streams[i].gpu,
                w->streams[i].context, (unsigned long long)w->streams[i].id, w->streams[i].flags,
                w->streams[i].priority);
    for (uint32_t i = 0; i < w->thread_count; i++)
        fprintf(out, "thread %u: process %llu number %llu %s\n", i, (unsigned long long)w->threads[i].process,
                (unsigned long long)w->threads[i].id, gt_name_text(w, w->threads[i].name));
    for (uint32_t i = 0; i < w->call_count; i++)
        describe_call(out, w, &w->calls[i]);
    for (uint32_t i = 0; i < w->range_count; i++)
        describe_range(out, w, &w->ranges[i]);
    fclose(out);
    return text;
}

static char *data_path(const char *name, const char *ending)
{
    char *path;

    assert_true(asprintf(&path, "%s/tests/data/kineto-%s.%s", getenv("GRIDTIDE_SOURCE"), name, ending) > 0);
    return path;
}

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 65536);

    assert_non_null(in);
    assert_true(fread(text, 1, 65535, in) > 0);
    fclose(in);
    return text;
}

static void check_file(const char *name)
{
    char *profile = data_path(name, "json"), *expected_path = data_path(name, "txt");
    char *expected = read_text(expected_path), *found;
    struct gt_error error = { "" };
    struct gt_workload *workload = gt_importer_kineto.read(profile, &options, &error);

    assert_string_equal(error.text, "");
    assert_non_null(workload);
    found = describe(workload);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    free(profile);
    free(expected_path);
    gt_workload_free(workload);
}

static void test_modern(void **state)
{
    (void)state;
    check_file("modern");
}

static void test_old(void **state)
{
    (void)state;
    check_file("old");
    check_file("rocm");
}

static void test_not_numbers(void **state)
{
    (void)state;
    check_file("nan");
}

static void test_ranks(void **state)
{
    (void)state;
    check_file("ranks");
}

/* Stream 20 waited for the default stream; 21 did not; an event and a full GPU kept back 22 and 23. */
static void test_blocking(void **state)
{
    (void)state;
    check_file("blocking");
}

/* What reading `text` as a file gives: NULL, and the error behind the file's name. */
static struct gt_workload *read_string(const char *text, size_t length, char *message)
{
    char path[] = "/tmp/gridtide-kineto-XXXXXX";
    int file = mkstemp(path);
    struct gt_error error = { "" };
    struct gt_workload *workload;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
    workload = gt_importer_kineto.read(path, &options, &error);
    unlink(path);
    if (workload == NULL) {
        assert_memory_equal(error.text, path, strlen(path));
        strcpy(message, error.text + strlen(path));
    }
    return workload;
}

#define KERNEL "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\""
#define KERNEL_ARGS                                              \
    "\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1," \
    "\"grid\":[1,1,1],\"block\":[1,1,1]"

#define RANGE(name, pid, tid, ts, dur)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts \
    ",\"dur\":" #dur "},"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
/* Behind the ranges given: the first call, at 1,000,000 us, of thread 2 of process 1. */
#define BEFORE_CALL(ranges)                                                                                       \
    "{\"traceEvents\":[" ranges "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1," \
    "\"tid\":2,\"ts\":1000000,\"dur\":5,"                                                                         \
    "\"args\":{\"correlation\":1}}," KERNEL ",\"ts\":1000010,\"dur\":3,\"args\":{" KERNEL_ARGS "}}]}"

/* When the first call is, in us: behind what counts of the loading before it. */
static void check_loading(const char *text, uint64_t start_us)
{
    char message[256];
    struct gt_workload *workload = read_string(text, strlen(text), message);

    assert_non_null(workload);
    assert_int_equal(workload->calls[0].start_ps, start_us * 1000000);
    gt_workload_free(workload);
}

static void test_loading(void **state)
{
    (void)state;
    check_loading(BEFORE_CALL(RANGE(LOADER, 1, 1, 990000, 5000)), 10000); /* of another thread, too */
    check_loading(BEFORE_CALL(RANGE("ProfilerStep#3", 1, 1, 980000, 60000) RANGE(LOADER, 1, 1, 990000, 5000)), 20000);
    check_loading(
        BEFORE_CALL(RANGE("[pl]train_dataloader_next", 1, 1, 985000, 9000) RANGE(LOADER, 1, 1, 990000, 2000)), 15000);
    check_loading(BEFORE_CALL(RANGE(LOADER, 1, 1, 100000, 5000) RANGE(LOADER, 1, 1, 990000, 5000)), 10000);
    check_loading(BEFORE_CALL(RANGE(LOADER, 3, 1, 990000, 5000)), 0);         /* somebody else's */
    check_loading(BEFORE_CALL(RANGE(LOADER, 1, 1, -9000000000000000, 1)), 0); /* of no clock */
}

/* One graph launched twice: whichever branch begins first, it was launched into the stream that was there before. */
static void test_graph_stream(void **state)
{
#define GRAPH(number, ts)                                                                                \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":1,\"tid\":1,\"ts\":" ts \
    ",\"dur\":2,\"args\":{\"correlation\":" number "}},"
#define NODE(number, stream, ts)                                                              \
    KERNEL ",\"ts\":" ts ",\"dur\":5,\"args\":{\"device\":0,\"context\":1,\"stream\":" stream \
           ",\"correlation\":" number ",\"grid\":[1,1,1],\"block\":[1,1,1]}}"
    static const char text[] =
        "{\"traceEvents\":[" GRAPH("1", "0") NODE("1", "7", "9") "," NODE("1", "30", "10") "," GRAPH("2", "20")
            NODE("2", "30", "29") "," NODE("2", "7", "30") "]}";
    char message[256];
    struct gt_workload *workload = read_string(text, strlen(text), message);

    (void)state;
    assert_non_null(workload);
    assert_int_equal(workload->call_count, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(workload->streams[workload->calls[i].stream].id, 7);
    gt_workload_free(workload);
#undef GRAPH
#undef NODE
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", ": byte 0: the file is empty" },
        { "{}", ": byte 2: contains no list of events (traceEvents); not a Kineto trace" },
        { "17", ": byte 2: contains no list of events (traceEvents); not a Kineto trace" },
        { "{\"traceEvents\": [", ": byte 17: the JSON text ends too early; is the file complete?" },
        { "{\"traceEvents\": [}", ": byte 18: not JSON: " },
        { "{\"traceEvents\": []} x", ": byte " },
        { "NaN", ": byte 1: not JSON: " },
        { "[" KERNEL ",\"args\":{" KERNEL_ARGS "}}]", ": byte 127: 'k' has no numeric start time (ts)" },
        { "[" KERNEL ",\"ts\":1,\"dur\":1,\"args\":{\"stream\":7,\"grid\":[4294967296]}}]",
          ": byte 92: grid 4294967296 is out of range" },
        { "[" KERNEL ",\"ts\":1,\"dur\":1,\"args\":{\"device\":-3}}]", ": byte 73: device -3 is out of range" },
        { "[" KERNEL ",\"ts\":1e300,\"args\":{" KERNEL_ARGS "}}]", ": byte 138: 'k' has no numeric start time (ts)" },
    };
    char message[GT_ERROR_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(read_string(cases[i].text, strlen(cases[i].text), message));
        message[strlen(cases[i].message)] = '\0';
        assert_string_equal(message, cases[i].message);
    }
}

/* Every beginning of a profile is refused, with a place that is not behind its end. */
static void test_truncations(void **state)
{
    char *path = data_path("nan", "json"), *text = read_text(path), message[GT_ERROR_TEXT_BYTES];
    unsigned long long at;

    (void)state;
    while (text[strlen(text) - 1] == '\n')
        text[strlen(text) - 1] = '\0';
    for (size_t length = 0; length < strlen(text); length++) {
        assert_null(read_string(text, length, message));
        assert_int_equal(sscanf(message, ": byte %llu:", &at), 1);
        assert_true(at <= length);
    }
    free(text);
    free(path);
}

/* A word that is no number may lie across the chunks in which a file is read. */
static void test_words_across_chunks(void **state)
{
    static const char before[] = "{\"traceEvents\":[" KERNEL ",\"ts\":1,\"dur\":2,\"args\":{",
                      after[] = "\"x\": -Infinity, " KERNEL_ARGS "}}]}";
    char text[66000], message[GT_ERROR_TEXT_BYTES];

    (void)state;
    for (size_t at = 65536 - 20; at < 65536 + 3; at++) {
        struct gt_workload *workload;
        size_t length = sizeof before - 1;

        memcpy(text, before, length);
        memset(text + length, ' ', at - length);
        memcpy(text + at, after, sizeof after);
        workload = read_string(text, at + sizeof after - 1, message);
        assert_non_null(workload);
        assert_int_equal(workload->op_count, 1);
        assert_int_equal(workload->ops[0].duration_ps, 2000000);
        assert_string_equal(workload->warnings[0].kind, "values-not-json");
        gt_workload_free(workload);
    }
}

/* A NUL ends a name; what stands behind it must not be taken for the table of functions' own. */
static void test_nul_in_name(void **state)
{
    static const char text[] = "[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\\u0000_and_more\","
                               "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]";
    char message[GT_ERROR_TEXT_BYTES];
    struct gt_workload *workload = read_string(text, sizeof text - 1, message);

    (void)state;
    assert_non_null(workload);
    assert_string_equal(gt_name_text(workload, workload->calls[0].name), "cudaMemcpyAsync");
    assert_null(gt_cuda_api_find("cudaMemcpyAsync\0x", 17));
    gt_workload_free(workload);
}

/* Containers without end, and a text without end, are refused before they fill memory. */
static void test_bombs(void **state)
{
    char text[1000], message[GT_ERROR_TEXT_BYTES];

    (void)state;
    memset(text, '[', sizeof text);
    assert_null(read_string(text, sizeof text, message));
    assert_non_null(strstr(message, "nested deeper than 64"));
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int power;
        bool good;
        int64_t value;
    } cases[] = {
        { "0", 0, true, 0 },
        { "-0", 3, true, 0 },
        { "17", 0, true, 17 },
        { "-17", 0, true, -17 },
        { "7.0", 0, true, 7 },
        { "4458676983543.183", 3, true, 4458676983543183 },
        { "1712195495519689.0", 3, true, 1712195495519689000 },
        { "1695835542514261", 3, true, 1695835542514261000 },
        { "0.0004", 3, true, 0 },
        { "0.0005", 3, true, 1 },
        { "100.29999999999999", 3, true, 100300 },
        { "100.30000000000001", 3, true, 100300 },
        { "1.5e0", 3, true, 1500 },
        { "1.712195495519689e15", 3, true, 1712195495519689000 },
        { "25E-1", 3, true, 2500 },
        { "-0.25", 3, true, -250 },
        { "1e-400", 3, true, 0 },
        { "0e400", 3, true, 0 },
        { "1e400", 3, false, 0 },
        { "4611686018427387000", 0, true, 4611686018427387000 },
        { "4611686018427388000", 0, false, 0 },
        { "99999999999999999999", 0, false, 0 },
        { "", 0, false, 0 },
        { "-", 0, false, 0 },
        { "x", 0, false, 0 },
        { "1x", 0, false, 0 },
        { "1.2.3", 3, false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = -1;

        assert_int_equal(kineto_number(cases[i].text, strlen(cases[i].text), cases[i].power, &value), cases[i].good);
        if (cases[i].good)
            assert_int_equal(value, cases[i].value);
    }
    assert_int_equal(kineto_number_of_text("stream 7", 8), 7);
    assert_int_equal(kineto_number_of_text("-1", 2), -1);
    assert_true(kineto_number_of_text("main", 4) != kineto_number_of_text("side", 4));
}

/* The inputs of an operator: tensors, and of convolutions numbers. */
static void test_inputs(void **state)
{
#define SIZES  "\"Input Dims\":[[2,3,8,8],[4,3,3,3],[],[],[]]"
#define TYPES  "\"Input type\":[\"float\",\"c10::Half\",\"ScalarList\",\"Scalar\",\"Scalar\"]"
#define VALUES ",\"Concrete Inputs\":"
    static const struct {
        const char *name, *args, *inputs;
    } cases[] = {
        { "aten::conv2d", SIZES "," TYPES, "float32[2,3,8,8] float16[4,3,3,3]" },
        { "aten::conv2d", SIZES "," TYPES VALUES "[\"\",\"\",\"[1, 2]\",\"True\",\"-3\"]",
          "float32[2,3,8,8] float16[4,3,3,3] (1,2) 1 -3" },
        { "aten::conv2d", SIZES "," TYPES VALUES "[\"\",\"\",\"\",\"0.5\",\"False\"]",
          "float32[2,3,8,8] float16[4,3,3,3] - - 0" },
        { "aten::conv2d", SIZES "," TYPES VALUES "[\"7\",\"8\",\"[True, False]\",\"None\",\"[]\"]",
          "float32[2,3,8,8] float16[4,3,3,3] (1,0) - ()" },
        /* numbers beyond 31 bits, texts of more than one number, more than eight in a list, a NUL */
        { "aten::conv2d", SIZES VALUES "[\"\",\"\",\"[2147483648]\",\"1 2\",\"1\"]", "?[2,3,8,8] ?[4,3,3,3] - - 1" },
        { "aten::conv2d", SIZES VALUES "[\"\",\"\",\"[1, 2, 3, 4, 5, 6, 7, 8, 9]\",\"1,2\",\"1\"]",
          "?[2,3,8,8] ?[4,3,3,3] - - 1" },
        { "aten::conv2d", SIZES VALUES "[\"\",\"\",\"[[1]]\",\"1;2\",\"1\\u00002\"]", "?[2,3,8,8] ?[4,3,3,3]" },
        /* of other numbers of inputs, or with lists between: nobody knows which is whose */
        { "aten::conv2d", SIZES VALUES "[\"\",\"\",\"[1, 2]\",\"1\"]", "?[2,3,8,8] ?[4,3,3,3]" },
        { "aten::conv2d", SIZES VALUES "[\"\",\"\",[1,2],\"1\",\"1\"]", "?[2,3,8,8] ?[4,3,3,3]" },
        /* others' numbers are not kept, whatever their names begin with, and no inputs without a tensor */
        { "aten::convert", SIZES VALUES "[\"\",\"\",\"[1, 2]\",\"1\",\"1\"]", "?[2,3,8,8] ?[4,3,3,3]" },
        { "aten::view", SIZES VALUES "[\"\",\"\",\"[1, 2]\",\"1\",\"1\"]", "?[2,3,8,8] ?[4,3,3,3]" },
        { "aten::conv2d", "\"Input Dims\":[[]]" VALUES "[\"1\"]", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000], message[GT_ERROR_TEXT_BYTES];
        struct gt_workload *w;

        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,\"dur\":9,\"args\":{%s}},"
                 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":2,\"dur\":2,"
                 "\"args\":{\"correlation\":1}}," KERNEL ",\"ts\":9,\"dur\":3,\"args\":{" KERNEL_ARGS "}}]",
                 cases[i].name, cases[i].args);
        w = read_string(text, strlen(text), message);
        assert_non_null(w);
        assert_int_equal(w->range_count, 1);
        if (cases[i].inputs == NULL)
            assert_int_equal(w->ranges[0].inputs, GT_NONE);
        else
            assert_string_equal(gt_name_text(w, w->ranges[0].inputs), cases[i].inputs);
        gt_workload_free(w);
    }
#undef SIZES
#undef TYPES
#undef VALUES
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modern),       cmocka_unit_test(test_old),
        cmocka_unit_test(test_not_numbers),  cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_blocking),     cmocka_unit_test(test_loading),
        cmocka_unit_test(test_graph_stream), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_truncations),  cmocka_unit_test(test_words_across_chunks),
        cmocka_unit_test(test_nul_in_name),  cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_inputs),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
