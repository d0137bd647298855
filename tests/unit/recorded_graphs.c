/* Launches of graphs that were recorded as a whole get the nodes of one that was recorded node by node. */
#include "tests/unit/recording.h"

enum { EXECUTABLE = 5, UNKNOWN = 6, LAUNCH_STREAM = 13, OTHER_LAUNCH_STREAM = 15, BRANCH = 14 };
static char folder[] = "/tmp/gridtide-test-XXXXXX";
static struct gt_workload *recorded;

static void write_node(uint32_t correlation, uint32_t stream, uint64_t node, uint64_t start_ns, uint64_t end_ns)
{
    struct gt_record_op *op = begin_kernel(correlation, stream, start_ns, end_ns);

    op->node = node;
    op->graph = EXECUTABLE;
    gt_writer_end(op);
}

static void write_whole(uint32_t correlation, uint32_t executable, uint32_t stream, uint64_t start_ns,
                        uint64_t end_ns)
{
    struct gt_record_whole_graph *whole = begin(GT_RECORDED_WHOLE_GRAPH, sizeof *whole);

    whole->start_ns = start_ns;
    whole->end_ns = end_ns;
    whole->executable = executable;
    whole->correlation = correlation;
    whole->context = 1;
    whole->stream = stream;
    gt_writer_end(whole);
}

/* Node by node: a kernel of 1000 ns, 1000 ns of nothing, two kernels of which the second begins 500 ns after the first:
 * something ran for 3500 of 4500 ns. */
static void write_sample(void)
{
    write_call(GT_DID_GRAPH_LAUNCH, 10, 100000, STREAM_A, EXECUTABLE, 0, 0);
    write_node(10, LAUNCH_STREAM, 1, 101000, 102000);
    write_node(10, LAUNCH_STREAM, 2, 103000, 104000);
    write_node(10, BRANCH, 3, 103500, 105500);
}

static int write_all(void **state)
{
    struct gt_error error;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(gt_writer_open(folder, UINT64_C(1) << 30), 0);
    write_context();
    write_stream(STREAM_A, LAUNCH_STREAM, 0, 0);
    write_stream(STREAM_B, OTHER_LAUNCH_STREAM, 0, 0);
    write_sample();
    write_call(GT_DID_GRAPH_LAUNCH, 11, 110000, STREAM_B, EXECUTABLE, 0, 0);
    write_whole(11, EXECUTABLE, OTHER_LAUNCH_STREAM, 111000, 114900); /* 400 ns of nothing */
    write_call(GT_DID_GRAPH_LAUNCH, 12, 120000, STREAM_A, EXECUTABLE, 0, 0);
    write_whole(12, EXECUTABLE, LAUNCH_STREAM, 121000, 122750); /* half of what something ran */
    write_call(GT_DID_GRAPH_LAUNCH, 13, 130000, STREAM_A, UNKNOWN, 0, 0);
    write_whole(13, UNKNOWN, LAUNCH_STREAM, 131000, 132000);
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

static uint64_t warnings_of(const char *kind)
{
    for (uint32_t i = 0; i < recorded->warning_count; i++)
        if (strcmp(recorded->warnings[i].kind, kind) == 0)
            return recorded->warnings[i].count;
    return 0;
}

struct expected {
    uint64_t start_ns, duration_ns; /* the start behind that of the launch's first operation */
    uint32_t stream;
};

static void check(uint32_t correlation, const struct expected expected[3])
{
    const struct gt_call *call = call_of(recorded, correlation);
    const struct gt_op *ops = &recorded->ops[call->first_op];

    assert_int_equal(call->ops, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal((ops[i].start_ps - ops[0].start_ps) / 1000, expected[i].start_ns);
        assert_int_equal(ops[i].duration_ps / 1000, expected[i].duration_ns);
        assert_int_equal(recorded->streams[ops[i].stream].id, expected[i].stream);
    }
}

static void idle_time_shrinks(void **state)
{
    static const struct expected sample[3] = { { 0, 1000, LAUNCH_STREAM },
                                               { 2000, 1000, LAUNCH_STREAM },
                                               { 2500, 2000, BRANCH } },
                                 shorter[3] = { { 0, 1000, OTHER_LAUNCH_STREAM },
                                                { 1400, 1000, OTHER_LAUNCH_STREAM },
                                                { 1900, 2000, BRANCH } };

    (void)state;
    check(10, sample);
    check(11, shorter);
}

static void kernels_shrink_where_no_idle_time_is_left(void **state)
{
    static const struct expected expected[3] = { { 0, 500, LAUNCH_STREAM },
                                                 { 500, 500, LAUNCH_STREAM },
                                                 { 750, 1000, BRANCH } };

    (void)state;
    check(12, expected);
}

static void a_graph_that_was_never_seen_node_by_node(void **state)
{
    (void)state;
    assert_int_equal(warnings_of("graph-launches-whole"), 2);
    assert_int_equal(warnings_of("graph-nodes-unknown"), 1);
    assert_int_equal(call_of(recorded, 13)->ops, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_shrinks),
        cmocka_unit_test(kernels_shrink_where_no_idle_time_is_left),
        cmocka_unit_test(a_graph_that_was_never_seen_node_by_node),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, write_all, end_all);
}
