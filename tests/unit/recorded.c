/* What the recorder writes, read again: files written by the library's own writer, without a GPU. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/recording.h"
#include "traces/recorded/parameters.h"

static char folder[] = "/tmp/gridtide-test-XXXXXX";

static void write_launch(uint32_t correlation, uint32_t attributes)
{
    struct gt_record_launch *launch = begin(GT_RECORDED_LAUNCH, sizeof *launch + 2 * sizeof launch->words[0]);

    launch->function = KERNEL;
    launch->giver.correlation = correlation;
    launch->attributes = attributes | GT_RECORDED_PARAMETERS_KNOWN;
    launch->count = 2;
    launch->words[0] = (struct gt_recorded_word){ 0, 0, MEMORY };
    launch->words[1] = (struct gt_recorded_word){ 1, 0, MEMORY + 4096 };
    gt_writer_end(launch);
}

static void write_node(uint64_t number, uint32_t kind)
{
    struct gt_record_node *node = begin(GT_RECORDED_NODE, sizeof *node);

    node->node = number;
    node->graph = 1;
    node->kind = kind;
    gt_writer_end(node);
}

static void write_edge(uint64_t from, uint64_t to)
{
    struct gt_record_edge *edge = begin(GT_RECORDED_EDGE, sizeof *edge);

    edge->from = from;
    edge->to = to;
    edge->graph = 1;
    gt_writer_end(edge);
}

static void write_clone(uint64_t copy, uint64_t original)
{
    struct gt_record_clone *clone = begin(GT_RECORDED_CLONE, sizeof *clone);

    clone->copy = copy;
    clone->original = original;
    gt_writer_end(clone);
}

/* Nodes 1 and 2 come after none, 3 is empty and comes after both, 4 comes after it. Launched as its copy, graph 2. */
static void write_graph(void)
{
    struct gt_record_graph *graph;

    for (uint64_t i = 1; i <= 4; i++) {
        write_node(i, i == 3 ? 5 : 0);
        write_clone(100 + i, i);
    }
    write_edge(1, 3);
    write_edge(2, 3);
    write_edge(3, 4);
    graph = begin(GT_RECORDED_GRAPH, sizeof *graph);
    graph->executable = 2;
    graph->graph = 1;
    gt_writer_end(graph);
    write_call(GT_DID_GRAPH_LAUNCH, 30, 30000, STREAM_A, 2, 0, 0);
    write_kernel(30, 13, 40000, 41000, 101);
    write_kernel(30, 14, 40000, 42000, 102);
    write_kernel(30, 13, 43000, 44000, 104);
}

static void write_range(enum gt_recorded_range_what what, const char *text, uint64_t time_ns)
{
    uint32_t name = gt_writer_name(text);
    struct gt_record_range *range = begin(GT_RECORDED_RANGE, sizeof *range);

    range->time_ns = time_ns;
    range->thread = THREAD;
    range->name = name;
    range->what = what;
    gt_writer_end(range);
}

/* A kernel in stream A, an event behind it that stream B waits for, another kernel there, and a graph. */
static void write_program(void)
{
    write_context();
    write_stream(STREAM_A, 13, 0, 0);
    write_stream(STREAM_B, 14, GT_RECORDED_NON_BLOCKING, -5);
    write_call(GT_DID_ALLOC, 1, 1000, 0, MEMORY, 4096, GT_MEMORY_DEVICE);
    write_call(GT_DID_ALLOC, 2, 2500, 0, MEMORY + 4096, 8192, GT_MEMORY_DEVICE);
    write_call(GT_DID_EVENT_CREATE, 3, 4000, 0, EVENT, 0, 0);
    write_range(GT_NVTX_PUSH, "work", 9000);
    write_call(GT_DID_LAUNCH, 10, 10000, STREAM_A, 0, 0, 0);
    write_launch(10, GT_RECORDED_PROGRAMMATIC);
    write_call(GT_DID_EVENT_RECORD, 11, 12000, STREAM_A, EVENT, 0, 0);
    write_call(GT_DID_EVENT_WAIT, 12, 14000, STREAM_B, EVENT, 0, 0);
    write_call(GT_DID_LAUNCH, 13, 16000, STREAM_B, 0, 0, 0);
    write_kernel(10, 13, 15000, 19000, 0);
    write_kernel(13, 14, 20000, 22000, 0);
    write_graph();
    write_call(GT_DID_DEVICE_SYNC, 31, 50000, 0, 0, 0, 0);
    write_range(GT_NVTX_POP, NULL, 60000);
    write_call(GT_DID_FREE, 32, 61000, 0, MEMORY, 0, 0);
    write_call(GT_DID_EVENT_CREATE, 33, 63000, 0, EVENT, 0, 0);
    write_call(GT_DID_EVENT_RECORD, 34, 65000, GT_RECORDED_LEGACY_STREAM, EVENT, 0, 0);
}

static void check_streams(const struct gt_workload *w)
{
    const struct gt_stream *a = &w->streams[call_of(w, 10)->stream], *b = &w->streams[call_of(w, 13)->stream];

    assert_int_equal(a->id, 13);
    assert_int_equal(a->flags, 0);
    assert_int_equal(b->id, 14);
    assert_int_equal(b->flags, GT_STREAM_NON_BLOCKING);
    assert_int_equal(b->priority, -5);
    assert_int_equal(w->streams[call_of(w, 34)->stream].flags, GT_STREAM_LEGACY_DEFAULT);
}

static void check_events(const struct gt_workload *w)
{
    assert_int_equal(call_of(w, 11)->kind, GT_CALL_EVENT_RECORD);
    assert_int_equal(call_of(w, 12)->kind, GT_CALL_EVENT_WAIT);
    assert_int_equal(call_of(w, 12)->event, call_of(w, 11)->event);
    assert_int_equal(call_of(w, 12)->stream, call_of(w, 13)->stream);
    assert_int_not_equal(call_of(w, 34)->event, call_of(w, 11)->event); /* the handle was created anew */
}

static void check_memory(const struct gt_workload *w)
{
    const struct gt_op *op = &w->ops[call_of(w, 10)->first_op];
    const struct gt_buffer_access *access = &w->accesses[op->first_access];

    assert_int_equal(call_of(w, 1)->kind, GT_CALL_ALLOC);
    assert_int_equal(call_of(w, 32)->kind, GT_CALL_FREE);
    assert_int_equal(call_of(w, 32)->buffer, call_of(w, 1)->buffer);
    assert_int_equal(op->accesses, 3); /* float * is read and written, float const * is read */
    assert_false(access[0].writes);
    assert_false(access[1].writes);
    assert_true(access[2].writes);
    assert_int_equal(access[2].buffer, call_of(w, 1)->buffer);
    for (int i = 0; i < 3; i++)
        assert_false(access[i].possible);
    assert_true(op->programmatic);
}

static void check_graph(const struct gt_workload *w)
{
    const struct gt_call *call = call_of(w, 30);
    const struct gt_op *last = &w->ops[call->first_op + 2];

    assert_int_equal(call->kind, GT_CALL_GRAPH_LAUNCH);
    assert_int_equal(call->ops, 3);
    assert_string_equal(gt_name_text(w, call->executable), "2");
    assert_int_equal(w->ops[call->first_op].afters, 0);
    assert_int_equal(w->ops[call->first_op + 1].afters, 0);
    assert_int_equal(last->afters, 2); /* through the empty node */
    assert_int_equal(w->afters[last->first_after], call->first_op);
    assert_int_equal(w->afters[last->first_after + 1], call->first_op + 1);
}

static void test_program(void **state)
{
    struct gt_error error;
    struct gt_workload *w = read_back(folder, &error);

    (void)state;
    if (w == NULL)
        fail_msg("%s", error.text);
    check_streams(w);
    check_events(w);
    check_memory(w);
    check_graph(w);
    assert_int_equal(w->range_count, 1);
    assert_string_equal(gt_name_text(w, w->ranges[0].name), "work");
    assert_string_equal(gt_name_text(w, w->kernels[0].name), "scale(float*, float const*, int)");
    for (uint32_t i = 0; i < w->warning_count; i++)
        assert_true(strcmp(w->warnings[i].kind, "device-unknown") == 0 ||
                    strcmp(w->warnings[i].kind, "recording-cut-off") == 0);
    gt_workload_free(w);
}

/* However short the file is cut, it is read as far as it goes, or refused. */
static void test_truncated(void **state)
{
    static const char cut[] = "/tmp/gridtide-test-cut.gtrecord";
    char *path = only_file(folder), *bytes = malloc(1 << 20);
    FILE *file = fopen(path, "r");
    size_t length = fread(bytes, 1, 1 << 20, file);

    (void)state;
    fclose(file);
    for (size_t i = 0; i < length && i < GT_RECORDED_HEADER_BYTES + 8192;
         i += i < GT_RECORDED_HEADER_BYTES ? 511 : 36) {
        struct gt_error error = { .text = "" };
        struct gt_workload *w;

        file = fopen(cut, "w");
        fwrite(bytes, 1, i, file);
        fclose(file);
        w = read_back(cut, &error);
        assert_true(w != NULL || strstr(error.text, cut) != NULL);
        gt_workload_free(w);
    }
    unlink(cut);
    free(bytes);
    free(path);
}

/* A process that is killed leaves all records that it had finished. */
static void test_killed(void **state)
{
    char other[] = "/tmp/gridtide-test-XXXXXX", *path;
    struct gt_workload *w;
    struct gt_error error;
    pid_t child;
    int status;

    (void)state;
    assert_non_null(mkdtemp(other));
    child = fork();
    if (child == 0) {
        gt_writer_forget();
        if (gt_writer_open(other, UINT64_C(1) << 30) != 0)
            _exit(3);
        write_program();
        for (uint32_t i = 0; i < 5000; i++)
            write_call(GT_DID_EVENT_RECORD, 1000 + i, 100000 + i * 2000, STREAM_A, EVENT, 0, 0);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    w = read_back(other, &error);
    if (w == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(call_of(w, 5999)->kind, GT_CALL_EVENT_RECORD);
    gt_workload_free(w);
    path = only_file(other);
    unlink(path);
    rmdir(other);
    free(path);
}

/* No space: what is dropped is counted, nothing fails. */
static void test_limit(void **state)
{
    char other[] = "/tmp/gridtide-test-XXXXXX", *path;
    struct gt_workload *w;
    struct gt_error error;
    pid_t child;
    int status;

    (void)state;
    assert_non_null(mkdtemp(other));
    child = fork();
    if (child == 0) {
        gt_writer_forget();
        if (gt_writer_open(other, GT_RECORDED_HEADER_BYTES + 2 * GT_RECORDED_CHUNK_BYTES) != 0)
            _exit(3);
        write_program();
        for (uint32_t i = 0; i < 5000; i++) {
            void *record = gt_writer_begin(GT_RECORDED_CALL, sizeof(struct gt_record_call));

            if (record != NULL)
                gt_writer_end(record);
        }
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    w = read_back(other, &error);
    if (w == NULL)
        fail_msg("%s", error.text);
    /* there may be no room to tell of it either: the records that are there are whole */
    assert_true(w->call_count > 100);
    gt_workload_free(w);
    path = only_file(other);
    unlink(path);
    rmdir(other);
    free(path);
}

static void check_types(const char *name, uint32_t count, const uint8_t *expected)
{
    struct gt_parameter_types types;

    gt_parameter_types_read(name, &types);
    assert_int_equal(types.count, count);
    if (count > 0)
        assert_memory_equal(types.type, expected, count);
    free(types.type);
}

static void test_parameters(void **state)
{
    (void)state;
    check_types("scale(float*, float const*, int)", 3,
                (const uint8_t[]){ GT_PARAMETER_POINTER, GT_PARAMETER_CONST_POINTER, GT_PARAMETER_OTHER });
    check_types("void f<a::g<4>, float const*>(float const* __restrict__, std::array<char*, 3ul>)", 2,
                (const uint8_t[]){ GT_PARAMETER_CONST_POINTER, GT_PARAMETER_OTHER });
    check_types("void (anonymous namespace)::h<3>((anonymous namespace)::p, double* const)", 2,
                (const uint8_t[]){ GT_PARAMETER_OTHER, GT_PARAMETER_POINTER });
    check_types("f(float* const*)", 1, (const uint8_t[]){ GT_PARAMETER_CONST_POINTER });
    check_types("f()", 0, NULL);
    check_types("triton_mm", 0, NULL);
    check_types("f)", 0, NULL);
    check_types("", 0, NULL);
}

static int begin_file(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL || gt_writer_open(folder, UINT64_C(1) << 30) != 0)
        return -1;
    write_program();
    return 0;
}

static int end_file(void **state)
{
    char *path = only_file(folder);

    (void)state;
    unlink(path);
    rmdir(folder);
    free(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program), cmocka_unit_test(test_truncated),  cmocka_unit_test(test_killed),
        cmocka_unit_test(test_limit),   cmocka_unit_test(test_parameters),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin_file, end_file);
}
