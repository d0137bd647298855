/* What operations of a recording read and write: pieces of copies, arrays, changed graphs, pointers of which too little is
 * known; and what a launch says of itself. */
#include "tests/unit/recording.h"

enum { ARRAY = 0x5500, EXECUTABLE = 2, GRAPH = 1, OTHER_GRAPH = 5 };
#define POOL (MEMORY + 0x100000)

static char folder[] = "/tmp/gridtide-test-XXXXXX";
static struct gt_workload *recorded;

static void write_copy_op(uint32_t correlation, uint64_t start_ns, uint32_t kind, uint64_t bytes, uint64_t node)
{
    struct gt_record_op *op = begin(GT_RECORDED_OP, sizeof *op);

    op->start_ns = start_ns;
    op->end_ns = start_ns + 1000;
    op->kind = kind;
    op->bytes = bytes;
    op->direction = GT_D2D;
    op->source = op->destination = GT_MEMORY_DEVICE;
    op->context = 1;
    op->stream = 13;
    op->correlation = correlation;
    op->node = node;
    op->peer_gpu = UINT32_MAX;
    gt_writer_end(op);
}

static void write_piece(struct gt_recorded_giver giver, struct gt_record_piece piece)
{
    struct gt_record_piece *record = begin(GT_RECORDED_PIECE, sizeof *record);
    struct gt_record_head head = record->head;

    *record = piece;
    record->head = head;
    record->giver = giver;
    gt_writer_end(record);
}

static void write_words(struct gt_recorded_giver giver, uint32_t attributes, int32_t priority, uint32_t count,
                        const struct gt_recorded_word *words)
{
    struct gt_record_launch *launch = begin(GT_RECORDED_LAUNCH, sizeof *launch + count * sizeof words[0]);

    launch->giver = giver;
    launch->function = KERNEL;
    launch->attributes = attributes | GT_RECORDED_PARAMETERS_KNOWN;
    launch->priority = priority;
    launch->count = count;
    memcpy(launch->words, words, count * sizeof words[0]);
    gt_writer_end(launch);
}

/* A copy of 3 rows of 100 bytes out of rows of 256 into rows without a gap; a memset of 70 rows; one copy of two lengths. */
static void write_copies(void)
{
    const struct gt_record_piece rows = {
        .to = MEMORY, .from = MEMORY + 4096, .to_row = 100, .from_row = 256, .width = 100, .height = 3, .depth = 1
    };
    const struct gt_record_piece set = { .to = MEMORY, .to_row = 32, .width = 8, .height = 70, .depth = 1 };
    const struct gt_record_piece array = {
        .to = ARRAY | GT_RECORDED_ARRAY, .from = MEMORY, .from_row = 64, .width = 64, .height = 4, .depth = 1
    };
    const struct gt_record_piece line = {
        .to = MEMORY + 512, .from = MEMORY + 4096, .width = 24, .height = 1, .depth = 1
    };
    struct gt_record_piece longer = line;

    write_call(GT_DID_COPY, 10, 10000, STREAM_A, 0, 0, 0);
    write_piece((struct gt_recorded_giver){ .correlation = 10 }, rows);
    write_copy_op(10, 11000, GT_OP_COPY, 300, 0);
    write_call(GT_DID_MEMSET, 11, 12000, STREAM_A, 0, 0, 0);
    write_piece((struct gt_recorded_giver){ .correlation = 11 }, set);
    write_copy_op(11, 13000, GT_OP_MEMSET, 560, 0);
    write_call(GT_DID_ALLOC, 12, 14000, 0, ARRAY | GT_RECORDED_ARRAY, 256, GT_MEMORY_DEVICE);
    write_call(GT_DID_COPY, 13, 15000, STREAM_A, 0, 0, 0);
    write_piece((struct gt_recorded_giver){ .correlation = 13 }, array);
    write_copy_op(13, 16000, GT_OP_COPY, 256, 0);
    longer.width = 48;
    write_call(GT_DID_COPY, 14, 17000, STREAM_A, 0, 0, 0);
    write_piece((struct gt_recorded_giver){ .correlation = 14 }, line);
    write_piece((struct gt_recorded_giver){ .correlation = 14 }, longer);
    write_copy_op(14, 18000, GT_OP_COPY, 48, 0); /* the longer one ran first */
    write_copy_op(14, 19500, GT_OP_COPY, 24, 0);
}

/* A batch that CUPTI tells of as one copy. */
static void write_batch(void)
{
    const struct gt_record_piece one = { .to = MEMORY, .from = MEMORY + 4096, .width = 16, .height = 1, .depth = 1 };
    struct gt_record_piece other = one;

    other.to += 64;
    other.from += 64;
    write_call(GT_DID_COPY, 15, 19600, STREAM_A, 0, 0, 0);
    write_piece((struct gt_recorded_giver){ .correlation = 15 }, one);
    write_piece((struct gt_recorded_giver){ .correlation = 15 }, other);
    write_copy_op(15, 19700, GT_OP_COPY, 32, 0);
}

/* Pointers at the begin of a parameter, in a structure, and into memory that is given out in pieces; a launch's priority. */
static void write_launches(void)
{
    const struct gt_recorded_word whole = { 0, 0, MEMORY }, inner = { 2, 8, MEMORY + 4096 },
                                  pooled = { 0, 0, POOL + 512 };

    write_call(GT_DID_LAUNCH, 20, 20000, STREAM_A, 0, 0, 0);
    write_words((struct gt_recorded_giver){ .correlation = 20 }, GT_RECORDED_HAS_PRIORITY, -3, 1, &whole);
    write_kernel(20, 13, 21000, 22000, 0);
    write_call(GT_DID_LAUNCH, 21, 23000, STREAM_A, 0, 0, 0);
    write_words((struct gt_recorded_giver){ .correlation = 21 }, GT_RECORDED_HAS_PRIORITY, 0, 1, &inner);
    write_kernel(21, 13, 24000, 25000, 0);
    write_call(GT_DID_LAUNCH, 22, 26000, STREAM_A, 0, 0, 0);
    write_words((struct gt_recorded_giver){ .correlation = 22 }, 0, 0, 1, &pooled);
    write_kernel(22, 13, 27000, 28000, 0);
}

static void write_graph_node(uint64_t number, uint32_t graph)
{
    struct gt_record_node *node = begin(GT_RECORDED_NODE, sizeof *node);

    node->node = number;
    node->graph = graph;
    gt_writer_end(node);
}

static void write_graph_of(uint32_t graph, uint32_t correlation)
{
    struct gt_record_graph *record = begin(GT_RECORDED_GRAPH, sizeof *record);

    record->executable = EXECUTABLE;
    record->graph = graph;
    record->correlation = correlation;
    record->flags = GT_RECORDED_NODE_PRIORITIES;
    gt_writer_end(record);
}

static void write_graph_launch(uint32_t correlation, uint64_t time_ns)
{
    write_call(GT_DID_GRAPH_LAUNCH, correlation, time_ns, STREAM_A, EXECUTABLE, 0, 0);
    write_kernel(correlation, 13, time_ns + 1000, time_ns + 1100, 101);
    write_kernel(correlation, 13, time_ns + 1200, time_ns + 1300, 102);
}

/* Two kernels, of MEMORY and behind it; then the second one's parameters change, then the graph becomes another one. */
static void write_graph(void)
{
    const struct gt_recorded_word a = { 0, 0, MEMORY }, b = { 0, 0, MEMORY + 4096 };

    for (uint64_t i = 1; i <= 2; i++) {
        struct gt_record_clone *clone;

        write_graph_node(i, GRAPH);
        write_graph_node(50 + i, OTHER_GRAPH);
        write_graph_node(50 + i, OTHER_GRAPH); /* it was instantiated too */
        clone = begin(GT_RECORDED_CLONE, sizeof *clone);
        clone->copy = 100 + i;
        clone->original = i;
        gt_writer_end(clone);
    }
    write_graph_of(GRAPH, 30);
    write_words((struct gt_recorded_giver){ 1, EXECUTABLE, 30 }, GT_RECORDED_HAS_PRIORITY, -5, 1, &a);
    write_words((struct gt_recorded_giver){ 2, EXECUTABLE, 30 }, 0, 0, 1, &b);
    write_graph_launch(31, 30000);
    write_call(GT_DID_GRAPH_CHANGE, 32, 35000, 0, EXECUTABLE, 0, 0);
    write_words((struct gt_recorded_giver){ 2, EXECUTABLE, 32 }, 0, 0, 1, &a);
    write_graph_launch(33, 40000);
    write_call(GT_DID_GRAPH_CHANGE, 34, 45000, 0, EXECUTABLE, 0, 0);
    write_graph_of(OTHER_GRAPH, 34);
    write_words((struct gt_recorded_giver){ 51, EXECUTABLE, 34 }, 0, 0, 1, &b);
    write_words((struct gt_recorded_giver){ 52, EXECUTABLE, 34 }, 0, 0, 1, &b);
    write_graph_launch(35, 50000);
    write_graph_of(99, 36); /* to a graph that is not known */
    write_graph_launch(37, 60000);
}

static int write_program(void **state)
{
    struct gt_error error;

    (void)state;
    if (mkdtemp(folder) == NULL || gt_writer_open(folder, UINT64_C(1) << 30) != 0)
        return -1;
    write_context();
    write_stream(STREAM_A, 13, 0, 0);
    write_call(GT_DID_ALLOC, 1, 1000, 0, MEMORY, 4096, GT_MEMORY_DEVICE);
    write_call(GT_DID_ALLOC, 2, 2500, 0, MEMORY + 4096, 8192, GT_MEMORY_DEVICE);
    write_call(GT_DID_ALLOC, 3, 4000, 0, POOL, 1 << 20, GT_MEMORY_DEVICE);
    write_copies();
    write_batch();
    write_launches();
    write_graph();
    gt_writer_name_thread(THREAD, "its own name");
    recorded = read_back(folder, &error);
    if (recorded == NULL)
        print_error("%s\n", error.text);
    return recorded == NULL;
}

static int end_program(void **state)
{
    char *path = only_file(folder);

    (void)state;
    gt_workload_free(recorded);
    unlink(path);
    rmdir(folder);
    free(path);
    return 0;
}

static const struct gt_op *op_of(uint32_t correlation, uint32_t number)
{
    return &recorded->ops[call_of(recorded, correlation)->first_op + number];
}

struct expected {
    uint32_t allocation; /* correlation of the call that had the memory */
    uint64_t offset, bytes;
    bool writes, possible;
};

static void check_accesses(const struct gt_op *op, uint32_t count, const struct expected *expected)
{
    assert_int_equal(op->accesses, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_buffer_access *access = &recorded->accesses[op->first_access + i];

        assert_int_equal(access->buffer, call_of(recorded, expected[i].allocation)->buffer);
        assert_int_equal(access->offset, expected[i].offset);
        assert_int_equal(access->bytes, expected[i].bytes);
        assert_int_equal(access->writes, expected[i].writes);
        assert_int_equal(access->possible, expected[i].possible);
    }
}

/* Rows with gaps are read one by one, without they are one piece. */
static void test_rows(void **state)
{
    const struct expected expected[] = { { 2, 0, 100, false, false },
                                         { 2, 256, 100, false, false },
                                         { 2, 512, 100, false, false },
                                         { 1, 0, 300, true, false } };

    (void)state;
    check_accesses(op_of(10, 0), 4, expected);
}

/* Of many rows the first and the last are sure, between them there are gaps. */
static void test_many_rows(void **state)
{
    const struct expected expected[] = { { 1, 0, 8, true, false },
                                         { 1, 69 * 32, 8, true, false },
                                         { 1, 0, 69 * 32 + 8, true, true } };

    (void)state;
    check_accesses(op_of(11, 0), 3, expected);
}

static void test_array(void **state)
{
    const struct expected expected[] = { { 1, 0, 256, false, false }, { 12, 0, 0, true, false } };
    const struct gt_buffer *buffer = &recorded->buffers[call_of(recorded, 12)->buffer];

    (void)state;
    check_accesses(op_of(13, 0), 2, expected);
    assert_int_equal(buffer->address, GT_ADDRESS_NONE); /* its handle is no address */
    assert_int_equal(buffer->bytes, 256);
}

/* A batch: each operation has the piece of its size. */
static void test_batch(void **state)
{
    const struct expected longer[] = { { 2, 0, 48, false, false }, { 1, 512, 48, true, false } };
    const struct expected both[] = {
        { 2, 0, 16, false, false }, { 2, 64, 16, false, false }, { 1, 0, 16, true, false }, { 1, 64, 16, true, false }
    };
    const struct expected shorter[] = { { 2, 0, 24, false, false }, { 1, 512, 24, true, false } };

    (void)state;
    check_accesses(op_of(14, 0), 2, longer);
    check_accesses(op_of(14, 1), 2, shorter);
    check_accesses(op_of(15, 0), 4, both);
}

/* What may be a pointer, or leads into memory of which it may have a part, is no more than possible. */
static void test_pointers(void **state)
{
    const struct expected whole[] = { { 1, 0, 0, false, false }, { 1, 0, 0, true, false } };
    const struct expected inner[] = { { 2, 0, 0, false, true }, { 2, 0, 0, true, true } };
    const uint64_t rest = (1 << 20) - 512;
    const struct expected pooled[] = { { 3, 512, rest, false, true }, { 3, 512, rest, true, true } };

    (void)state;
    check_accesses(op_of(20, 0), 2, whole);
    check_accesses(op_of(21, 0), 2, inner);
    check_accesses(op_of(22, 0), 2, pooled);
}

static void test_priority(void **state)
{
    (void)state;
    assert_true(op_of(20, 0)->has_priority);
    assert_int_equal(op_of(20, 0)->priority, -3);
    assert_false(op_of(21, 0)->has_priority); /* it is its stream's */
    assert_true(op_of(31, 0)->has_priority);
    assert_int_equal(op_of(31, 0)->priority, -5);
    assert_false(op_of(31, 1)->has_priority);
}

/* The parameters are those that the node had at the launch. */
static void test_changed_graph(void **state)
{
    const struct expected a[] = { { 1, 0, 0, false, false }, { 1, 0, 0, true, false } };
    const struct expected b[] = { { 2, 0, 0, false, false }, { 2, 0, 0, true, false } };
    uint64_t unknown = 0;

    (void)state;
    check_accesses(op_of(31, 0), 2, a);
    check_accesses(op_of(31, 1), 2, b);
    check_accesses(op_of(33, 0), 2, a);
    check_accesses(op_of(33, 1), 2, a);
    check_accesses(op_of(35, 0), 2, b);
    check_accesses(op_of(35, 1), 2, b);
    check_accesses(op_of(37, 0), 0, NULL);
    for (uint32_t i = 0; i < recorded->warning_count; i++)
        if (strcmp(recorded->warnings[i].kind, "graph-changes-unknown") == 0)
            unknown = recorded->warnings[i].count;
    assert_int_equal(unknown, 2);
}

/* Whatever a file has in it, it is read or refused, without harm. */
static void test_damaged(void **state)
{
    static const char damaged[] = "/tmp/gridtide-test-damaged.gtrecord";
    enum { MOST = GT_RECORDED_HEADER_BYTES + 2 * GT_RECORDED_CHUNK_BYTES, TIMES = 400 };
    char *path = only_file(folder);
    unsigned char *bytes = malloc(MOST), *changed = malloc(MOST);
    FILE *file = fopen(path, "r");
    size_t length = fread(bytes, 1, MOST, file), used = length;
    uint32_t chance = 1;

    (void)state;
    fclose(file);
    while (used > GT_RECORDED_HEADER_BYTES && bytes[used - 1] == 0)
        used--;
    for (int i = 0; i < TIMES; i++) {
        struct gt_error error = { .text = "" };
        struct gt_workload *w;

        memcpy(changed, bytes, length);
        for (int n = 0; n < 1 + i % 3; n++) {
            chance = chance * 1664525 + 1013904223;
            changed[GT_RECORDED_HEADER_BYTES + chance % (used - GT_RECORDED_HEADER_BYTES)] =
                (unsigned char)(chance >> 24);
        }
        file = fopen(damaged, "w");
        fwrite(changed, 1, length, file);
        fclose(file);
        w = read_back(damaged, &error);
        assert_true(w != NULL || error.text[0] != '\0');
        gt_workload_free(w);
    }
    unlink(damaged);
    free(bytes);
    free(changed);
    free(path);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(gt_name_text(recorded, recorded->threads[0].name), "its own name");
    assert_string_equal(gt_name_text(recorded, call_of(recorded, 10)->name), "cudaSomething");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_many_rows), cmocka_unit_test(test_array),
        cmocka_unit_test(test_batch),         cmocka_unit_test(test_pointers),  cmocka_unit_test(test_priority),
        cmocka_unit_test(test_changed_graph), cmocka_unit_test(test_names),     cmocka_unit_test(test_damaged),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, write_program, end_program);
}
