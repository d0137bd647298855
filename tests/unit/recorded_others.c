/* What CUPTI tells of by other numbers than the program knows it by: bodies of graphs, copies between GPUs, green contexts,
 * events of other processes. */
#include <sys/wait.h>

#include "tests/unit/recording.h"

enum { EXECUTABLE = 3, GREEN = 0xc000, STREAM_C = 0xd000, MARK = 4711, FIRST_PEER = 70 };
#define OWN  (MEMORY + (1 << 20))
#define PEER (MEMORY + (2 << 20))
#define HOST (MEMORY + (3 << 20))

static char folder[] = "/tmp/gridtide-test-XXXXXX";
static struct gt_workload *recorded;

static void write_gpu(uint32_t id)
{
    struct gt_record_gpu *gpu = begin(GT_RECORDED_GPU, sizeof *gpu);

    gpu->id = id;
    gpu->uuid[0] = (unsigned char)(id + 1);
    gt_writer_end(gpu);
}

/* Of the second GPU, with a stream of the program's. */
static void write_second_gpu(void)
{
    struct gt_record_context *context = begin(GT_RECORDED_CONTEXT, sizeof *context);
    struct gt_record_stream *stream;

    context->context = 2;
    context->gpu = 1;
    context->null_stream = 17;
    gt_writer_end(context);
    stream = begin(GT_RECORDED_STREAM, sizeof *stream);
    stream->time_ns = 100;
    stream->handle = STREAM_C;
    stream->context = 2;
    stream->id = 25;
    gt_writer_end(stream);
}

/* Of GPU 0 to GPU 1, in a stream of GPU 1's, done by GPU 0's engine in a stream that the program does not know. */
static void write_peer_copy(void)
{
    struct gt_record_op *op;

    write_call(GT_DID_COPY, 10, 10000, STREAM_C, MEMORY + 4096, MEMORY, 64);
    op = begin(GT_RECORDED_OP, sizeof *op);
    op->start_ns = 11000;
    op->end_ns = 12000;
    op->kind = GT_OP_COPY;
    op->bytes = 64;
    op->direction = GT_P2P;
    op->context = 1;
    op->stream = 10;
    op->correlation = 10;
    op->peer_gpu = 1;
    gt_writer_end(op);
}

static void write_memory(uint32_t correlation, uint32_t context, uint64_t address, enum gt_memory memory)
{
    struct gt_record_call *call = begin(GT_RECORDED_CALL, sizeof *call);

    call->start_ns = 200;
    call->end_ns = 300;
    call->thread = THREAD;
    call->a = address;
    call->b = 4096;
    call->c = memory;
    call->correlation = correlation;
    call->name = gt_writer_name("cudaMalloc_v3020");
    call->context = context;
    call->what = GT_DID_ALLOC;
    gt_writer_end(call);
}

/* Kernels of GPU 0, void scale(float *, float const *, int), given pointers: to memory of GPU 1 to read, to write, both; one in
 * a structure; to the host's memory that was allocated with GPU 1. */
static void write_peer_kernels(void)
{
    const struct gt_recorded_word words[][2] = { { { 0, 0, OWN }, { 1, 0, PEER } },
                                                 { { 0, 0, PEER }, { 1, 0, OWN } },
                                                 { { 0, 0, PEER }, { 1, 0, PEER } },
                                                 { { 0, 0, OWN }, { 2, 8, PEER } },
                                                 { { 0, 0, OWN }, { 1, 0, HOST } } };

    write_memory(60, 1, OWN, GT_MEMORY_DEVICE);
    write_memory(61, 2, PEER, GT_MEMORY_DEVICE);
    write_memory(62, 2, HOST, GT_MEMORY_PINNED);
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct gt_record_launch *launch;

        write_call(GT_DID_LAUNCH, FIRST_PEER + i, 50000 + 1000ull * i, STREAM_A, 0, 0, 0);
        write_kernel(FIRST_PEER + i, 13, 60000 + 1000ull * i, 60500 + 1000ull * i, 0);
        launch = begin(GT_RECORDED_LAUNCH, sizeof *launch + sizeof words[i]);
        launch->giver.correlation = FIRST_PEER + i;
        launch->function = KERNEL;
        launch->attributes = GT_RECORDED_PARAMETERS_KNOWN;
        launch->count = 2;
        memcpy(launch->words, words[i], sizeof words[i]);
        gt_writer_end(launch);
    }
}

/* A launch of a kernel, a body run twice, and a kernel; and once more with a body run once. */
static void write_bodies(void)
{
    static const struct {
        uint64_t start_ns, node;
        uint32_t correlation;
    } ops[] = { { 21000, 301, 20 }, { 22000, 303, 0 }, { 23000, 303, 0 }, { 24000, 302, 20 },
                { 25000, 301, 21 }, { 26000, 303, 0 }, { 27000, 302, 21 } };

    write_call(GT_DID_GRAPH_LAUNCH, 20, 20000, STREAM_A, EXECUTABLE, 0, 0);
    write_call(GT_DID_GRAPH_LAUNCH, 21, 21500, STREAM_A, EXECUTABLE, 0, 0);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct gt_record_op *op = begin_kernel(ops[i].correlation, ops[i].correlation == 0 ? 27 : 13, ops[i].start_ns,
                                               ops[i].start_ns + 500);

        op->node = ops[i].node;
        op->graph = EXECUTABLE;
        gt_writer_end(op);
    }
}

static void write_green_stream(uint64_t handle, uint32_t id, uint64_t green, uint32_t sms)
{
    struct gt_record_stream *stream = begin(GT_RECORDED_STREAM, sizeof *stream);

    stream->time_ns = 100;
    stream->handle = handle;
    stream->context = 1;
    stream->id = id;
    stream->flags = GT_RECORDED_NON_BLOCKING;
    stream->green = green;
    stream->sms = sms;
    gt_writer_end(stream);
}

/* Streams that were made in context 1; CUPTI has the first one's work in context 9.  Of that one's green context nothing is known, of
 * the others' two the SMs. */
static void write_green(void)
{
    struct gt_record_op *op;

    write_stream(GREEN, 19, GT_RECORDED_NON_BLOCKING, 0);
    write_green_stream(GREEN + 1, 20, 0x900, 32);
    write_green_stream(GREEN + 2, 21, 0x800, 16);
    write_green_stream(GREEN + 3, 22, 0x900, 32);
    write_call(GT_DID_LAUNCH, 30, 30000, GREEN, 0, 0, 0);
    op = begin_kernel(30, 19, 31000, 32000);
    op->context = 9;
    gt_writer_end(op);
    write_call(GT_DID_STREAM_SYNC, 31, 33000, GREEN, 0, 0, 0);
}

static void write_one_process(void)
{
    write_gpu(0);
    write_gpu(1);
    write_context();
    write_second_gpu();
    write_stream(STREAM_A, 13, 0, 0);
    write_peer_copy();
    write_bodies();
    write_green();
    write_peer_kernels();
    write_call(GT_DID_EVENT_CREATE, 40, 40000, 0, EVENT, 0, 0);
    write_call(GT_DID_EVENT_SHARE, 41, 41500, 0, EVENT, MARK, 0);
    write_call(GT_DID_EVENT_RECORD, 42, 43000, STREAM_A, EVENT, 0, 0);
}

/* A process that knows the event by another handle. */
static void write_other_process(void)
{
    write_gpu(0);
    write_context();
    write_stream(STREAM_B, 14, 0, 0);
    write_call(GT_DID_EVENT_OPEN, 50, 42000, 0, EVENT + 64, MARK, 0);
    write_call(GT_DID_EVENT_WAIT, 51, 45000, STREAM_B, EVENT + 64, 0, 0);
    write_kernel(52, 14, 47000, 48000, 0);
    write_call(GT_DID_LAUNCH, 52, 46500, STREAM_B, 0, 0, 0);
}

static int write_processes(void **state)
{
    void (*const processes[])(void) = { write_one_process, write_other_process };
    struct gt_error error;

    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            if (gt_writer_open(folder, UINT64_C(1) << 30) != 0)
                _exit(3);
            processes[i]();
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status != 0)
            return -1;
    }
    recorded = read_back(folder, &error);
    if (recorded == NULL)
        print_error("%s\n", error.text);
    return recorded == NULL;
}

static int end_processes(void **state)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    (void)state;
    gt_workload_free(recorded);
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries != NULL)
        closedir(entries);
    return rmdir(folder);
}

static uint64_t warnings_of(const char *kind)
{
    for (uint32_t i = 0; i < recorded->warning_count; i++)
        if (strcmp(recorded->warnings[i].kind, kind) == 0)
            return recorded->warnings[i].count;
    return 0;
}

static void test_peer_copy(void **state)
{
    const struct gt_op *op = &recorded->ops[call_of(recorded, 10)->first_op];

    (void)state;
    assert_int_equal(recorded->streams[op->stream].id, 25);
    assert_int_equal(recorded->gpus[recorded->streams[op->stream].gpu].id, 1);
    assert_int_equal(recorded->gpus[op->peer_gpu].id, 0);
    assert_true(op->from_peer);
}

/* Where it cannot be told nothing is said. */
static void test_peer_kernels(void **state)
{
    static const int peers[] = { 1, 1, -1, -1, -1 };

    (void)state;
    for (uint32_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        const struct gt_op *op = &recorded->ops[call_of(recorded, FIRST_PEER + i)->first_op];

        assert_int_equal(op->kind, GT_OP_KERNEL);
        assert_int_equal(op->peer_gpu == GT_NONE ? -1 : (int)recorded->gpus[op->peer_gpu].id, peers[i]);
        assert_int_equal(op->from_peer, i == 0);
        assert_int_equal(op->bytes, 0);
    }
}

static void test_bodies(void **state)
{
    const struct gt_call *first = call_of(recorded, 20), *second = call_of(recorded, 21);

    (void)state;
    assert_int_equal(first->ops, 4);
    assert_int_equal(second->ops, 3);
    assert_int_equal(recorded->streams[recorded->ops[second->first_op + 1].stream].id, 27);
    assert_int_equal(warnings_of("graph-conditions"), 3);
    assert_int_equal(warnings_of("calls-missing"), 0);
}

static void test_green_context(void **state)
{
    const struct gt_op *op = &recorded->ops[call_of(recorded, 30)->first_op];

    (void)state;
    assert_int_equal(op->stream, call_of(recorded, 31)->stream);
    assert_int_equal(warnings_of("green-contexts"), 1);
    assert_int_equal(recorded->streams[op->stream].green, 0);
    for (uint32_t i = 0, seen = 0; i < recorded->stream_count && seen < 3; i++) {
        static const uint16_t greens[] = { 1, 2, 1 }, sms[] = { 32, 16, 32 };

        if (recorded->streams[i].id < 20 || recorded->streams[i].id > 22)
            continue;
        assert_int_equal(recorded->streams[i].green, greens[recorded->streams[i].id - 20]);
        assert_int_equal(recorded->streams[i].sms, sms[recorded->streams[i].id - 20]);
        seen++;
    }
}

static void test_shared_event(void **state)
{
    (void)state;
    assert_int_equal(call_of(recorded, 51)->event, call_of(recorded, 42)->event);
    assert_int_equal(call_of(recorded, 50)->kind, GT_CALL_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peer_kernels),  cmocka_unit_test(test_peer_copy),    cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_green_context), cmocka_unit_test(test_shared_event),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, write_processes, end_processes);
}
