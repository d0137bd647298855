/* Which call waits for what: every kind of call with every attribute that matters, by what CUDA promises and as observed; and
 * each case that was measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/host_waits.h"

/* A letter a wait, in the enumeration's order: '.' none, 's' staged, 'S' stream then staged, 'o' operation, 'e' event, 't' one stream,
 * 'b' blocking streams, 'g' GPU, 'c' context, 'p' process, 'u' unknown. */
static const char letters[] = ".sSoetbgcpu";

/* Streams of a workload: the legacy default one, a thread's default one, a blocking and a non-blocking one; and the legacy
 * default one of another GPU. */
enum { LEGACY, PER_THREAD, BLOCKING, NON_BLOCKING, FAR, STREAMS };
enum { DEVICE_BUFFER, HOST_BUFFER };

static struct gt_workload *workload(void)
{
    static const uint32_t flags[STREAMS] = { GT_STREAM_LEGACY_DEFAULT, GT_STREAM_PER_THREAD_DEFAULT, 0,
                                             GT_STREAM_NON_BLOCKING, GT_STREAM_LEGACY_DEFAULT };
    struct gt_workload *w = gt_workload_new();

    gt_workload_add_gpu(w);
    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    gt_workload_add_event(w);
    for (gt_stream_index i = 0; i < STREAMS; i++) {
        gt_workload_add_stream(w);
        w->streams[i].flags = flags[i];
        w->streams[i].gpu = i == FAR;
    }
    for (int i = DEVICE_BUFFER; i <= HOST_BUFFER; i++)
        gt_workload_add_buffer(w);
    w->buffers[DEVICE_BUFFER].memory = GT_MEMORY_DEVICE;
    w->buffers[HOST_BUFFER].memory = GT_MEMORY_PINNED;
    return w;
}

static void expect(enum gt_host_wait found, char letter, const char *what, const char *how)
{
    if (letters[found] != letter)
        fail_msg("%s, %s: waits for '%c', not for '%c'", what, how, letters[found], letter);
}

/* A call with one operation, asynchronous; synchronous in a default stream, legacy or a thread's; synchronous in another stream. */
static void expect_op(struct gt_workload *w, struct gt_call *call, const struct gt_op *op, const char *waits,
                      const char *what)
{
    static const struct {
        const char *how;
        gt_stream_index stream;
        uint8_t flags;
        int column;
    } forms[] = {
        { "asynchronous, legacy default stream", LEGACY, 0, 0 },
        { "asynchronous, per-thread default stream", PER_THREAD, 0, 0 },
        { "asynchronous, blocking stream", BLOCKING, 0, 0 },
        { "asynchronous, non-blocking stream", NON_BLOCKING, 0, 0 },
        { "synchronous, legacy default stream", LEGACY, GT_CALL_SYNCHRONOUS, 1 },
        { "synchronous, per-thread default stream", PER_THREAD, GT_CALL_SYNCHRONOUS, 1 },
        { "synchronous, blocking stream", BLOCKING, GT_CALL_SYNCHRONOUS, 2 },
        { "synchronous, non-blocking stream", NON_BLOCKING, GT_CALL_SYNCHRONOUS, 2 },
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct gt_op in = *op;
        bool graph = call->kind == GT_CALL_GRAPH_LAUNCH;
        char letter = waits[forms[i].column];

        in.stream = forms[i].stream;
        call->flags = forms[i].flags;
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_PROMISED), letter, what, forms[i].how);
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_OBSERVED), letter, what, forms[i].how);
        /* As it was seen to wait, where that is known; the promise stays. */
        call->flags |= GT_CALL_STATED;
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_OBSERVED), '.', what, "stated as not blocked");
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_PROMISED), letter, what, "stated as not blocked");
        call->flags |= GT_CALL_WAITS;
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_OBSERVED), graph ? '.' : 'o', what, "stated as blocked");
        expect(gt_op_host_wait(w, call, &in, GT_HOST_WAITS_PROMISED), letter, what, "stated as blocked");
    }
}

static void copies_and_memsets(void **state)
{
    /* By direction and memory: asynchronous; synchronous; synchronous in a stream that has no such form. */
    static const char *const copies[GT_DIRECTIONS][GT_MEMORIES] = {
        [GT_H2D] = { [GT_MEMORY_PINNED] = ".oo",
                     [GT_MEMORY_PAGEABLE] = "sSo",
                     [GT_MEMORY_DEVICE] = ".oo",
                     [GT_MEMORY_MANAGED] = ".oo",
                     [GT_MEMORY_UNKNOWN] = ".oo" },
        [GT_D2H] = { [GT_MEMORY_PINNED] = ".oo",
                     [GT_MEMORY_PAGEABLE] = "ooo",
                     [GT_MEMORY_DEVICE] = ".oo",
                     [GT_MEMORY_MANAGED] = ".oo",
                     [GT_MEMORY_UNKNOWN] = ".oo" },
        [GT_D2D] = { "..o", "..o", "..o", "..o", "..o" },
        [GT_P2P] = { "..o", "..o", "..o", "..o", "..o" },
        [GT_H2H] = { "ooo", "ooo", "ooo", "ooo", "ooo" },
    };
    static const char *const memsets[GT_MEMORIES] = {
        [GT_MEMORY_PINNED] = ".oo",  [GT_MEMORY_PAGEABLE] = "..o", [GT_MEMORY_DEVICE] = "..o",
        [GT_MEMORY_MANAGED] = ".oo", [GT_MEMORY_UNKNOWN] = "..o",
    };
    struct gt_workload *w = workload();
    struct gt_call call = { .stream = GT_NONE, .event = GT_NONE, .buffer = GT_NONE, .ops = 1 };
    char what[64];

    (void)state;
    for (uint8_t memory = 0; memory < GT_MEMORIES; memory++) {
        for (uint8_t direction = 0; direction < GT_DIRECTIONS; direction++) {
            struct gt_op op = { .kind = GT_OP_COPY, .direction = direction, .memory = memory };

            call.kind = GT_CALL_COPY;
            snprintf(what, sizeof what, "copy %s of %s memory", gt_direction_names[direction],
                     gt_memory_names[memory]);
            expect_op(w, &call, &op, copies[direction][memory], what);
        }
        call.kind = GT_CALL_MEMSET;
        snprintf(what, sizeof what, "memset of %s memory", gt_memory_names[memory]);
        expect_op(w, &call, &(struct gt_op){ .kind = GT_OP_MEMSET, .memory = memory }, memsets[memory], what);
    }
    gt_workload_free(w);
}

static void launches(void **state)
{
    struct gt_workload *w = workload();
    struct gt_call call = { .stream = GT_NONE, .event = GT_NONE, .buffer = GT_NONE, .ops = 1 };

    (void)state;
    call.kind = GT_CALL_LAUNCH;
    expect_op(w, &call, &(struct gt_op){ .kind = GT_OP_KERNEL }, ".oo", "launch");
    call.kind = GT_CALL_HOST_FUNCTION;
    expect_op(w, &call, &(struct gt_op){ .kind = GT_OP_HOST_FUNCTION }, ".oo", "host function");
    call.kind = GT_CALL_GRAPH_LAUNCH;
    for (uint8_t kind = 0; kind < GT_OP_KINDS; kind++)
        expect_op(w, &call, &(struct gt_op){ .kind = kind, .direction = GT_H2H }, "...", "graph launch");
    gt_workload_free(w);
}

/* A kind without operations: promised and observed without a target; for a legacy default stream, a thread's default one, a
 * blocking and a non-blocking one; for an event. */
struct expectation {
    const char *promised, *observed;
    bool synchronises, queries, idle, idle_in_stream;
};

static const struct expectation expectations[GT_CALL_KINDS] = {
    [GT_CALL_HOST_WORK] = { "......", "......", .idle = true, .idle_in_stream = true },
    [GT_CALL_LAUNCH] = { .promised = "......", .observed = "......" },
    [GT_CALL_GRAPH_LAUNCH] = { .promised = "......", .observed = "......" },
    [GT_CALL_COPY] = { .promised = "......", .observed = "......" },
    [GT_CALL_MEMSET] = { .promised = "......", .observed = "......" },
    [GT_CALL_HOST_FUNCTION] = { .promised = "......", .observed = "......" },
    [GT_CALL_STREAM_CREATE] = { "......", "......", .idle = true, .idle_in_stream = true },
    [GT_CALL_STREAM_SYNC] = { "ubtttu", "ubtttu", .synchronises = true },
    [GT_CALL_STREAM_QUERY] = { "......", "......", .queries = true },
    [GT_CALL_EVENT_CREATE] = { "......", "......", .idle = true, .idle_in_stream = true },
    [GT_CALL_EVENT_RECORD] = { .promised = "......", .observed = "......" },
    [GT_CALL_EVENT_WAIT] = { .promised = "......", .observed = "......" },
    [GT_CALL_EVENT_QUERY] = { "......", "......", .queries = true },
    [GT_CALL_EVENT_SYNC] = { "uuuuue", "uuuuue", .synchronises = true },
    [GT_CALL_DEVICE_SYNC] = { "pccccp", "pccccp", .synchronises = true },
    [GT_CALL_ALLOC] = { "......", "......", .idle = true },
    [GT_CALL_FREE] = { "g....g", "g....g", .synchronises = true },
    [GT_CALL_POLL] = { NULL, NULL, .synchronises = true }, /* see below */
    [GT_CALL_RECORD_STREAM] = { "......", "......", .idle = true, .idle_in_stream = true },
    [GT_CALL_OTHER] = { "......", "......", .idle = true, .idle_in_stream = true },
};

static void expect_kind(const struct gt_workload *w, uint8_t kind, const struct expectation *expected)
{
    for (int target = 0; target < 6 && expected->promised != NULL; target++) {
        struct gt_call call = { .kind = kind,
                                .stream = target >= 1 && target <= 4 ? LEGACY + (uint32_t)target - 1 : GT_NONE,
                                .event = target == 5 ? 0 : GT_NONE,
                                .buffer = DEVICE_BUFFER };

        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_PROMISED), expected->promised[target],
               gt_call_kind_names[kind], "promised");
        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), expected->observed[target],
               gt_call_kind_names[kind], "observed");
        assert_int_equal(gt_call_may_wait(w, &call), expected->observed[target] != '.');
        assert_false(gt_call_holds_host(w, &call));
    }
}

static void calls_without_operations(void **state)
{
    struct gt_workload *w = workload();

    (void)state;
    for (uint8_t kind = 0; kind < GT_CALL_KINDS; kind++) {
        const struct expectation *expected = &expectations[kind];
        struct gt_call call = { .kind = kind, .stream = GT_NONE, .event = GT_NONE, .buffer = DEVICE_BUFFER };

        expect_kind(w, kind, expected);
        assert_int_equal(gt_call_synchronises(&call), expected->synchronises);
        assert_int_equal(gt_call_queries(&call), expected->queries);
        assert_int_equal(gt_call_is_idle(&call), expected->idle);
        call.stream = BLOCKING;
        assert_int_equal(gt_call_synchronises(&call), expected->synchronises && kind != GT_CALL_FREE);
        assert_int_equal(gt_call_is_idle(&call), expected->idle_in_stream);
    }
    /* Memory of the host: it is not known which device cudaFreeHost waits for. */
    expect(gt_call_host_wait(
               w,
               &(struct gt_call){ .kind = GT_CALL_FREE, .stream = GT_NONE, .event = GT_NONE, .buffer = HOST_BUFFER },
               GT_HOST_WAITS_PROMISED),
           'p', "free", "of the host's memory");
    gt_workload_free(w);
}

/* Of an event, else of a stream; one that gives up promises nothing. */
static void polls(void **state)
{
    struct gt_workload *w = workload();

    (void)state;
    for (int target = 0; target < 4; target++) {
        static const gt_stream_index streams[] = { GT_NONE, LEGACY, BLOCKING, BLOCKING };
        bool event = target == 0 || target == 3;
        struct gt_call call = {
            .kind = GT_CALL_POLL, .stream = streams[target], .event = event ? 0 : GT_NONE, .buffer = GT_NONE
        };

        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_PROMISED), event ? 'e' : 't', "poll", "promised");
        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), event ? 'e' : 't', "poll", "observed");
        call.most_pieces = 3;
        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_PROMISED), '.', "poll that gives up", "promised");
        expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), event ? 'e' : 't', "poll that gives up",
               "observed");
    }
    gt_workload_free(w);
}

/* Which streams a wait is for. */
static void streams_covered(void **state)
{
    static const struct {
        enum gt_host_wait wait;
        gt_stream_index named;
        const char *covered; /* a digit a stream */
    } cases[] = {
        { GT_HOST_WAIT_STREAM, BLOCKING, "00100" },
        { GT_HOST_WAIT_STREAM, LEGACY, "10000" },
        { GT_HOST_WAIT_BLOCKING_STREAMS, LEGACY, "11100" },
        { GT_HOST_WAIT_BLOCKING_STREAMS, FAR, "00001" },
        { GT_HOST_WAIT_CONTEXT, NON_BLOCKING, "11110" },
        { GT_HOST_WAIT_PROCESS, GT_NONE, "11111" },
        { GT_HOST_WAIT_GPU, GT_NONE, "11110" },
        { GT_HOST_WAIT_NONE, LEGACY, "00000" },
        { GT_HOST_WAIT_UNKNOWN, GT_NONE, "00000" },
    };
    struct gt_workload *w = workload();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_call call = { .stream = cases[i].named, .event = GT_NONE, .buffer = DEVICE_BUFFER };

        for (gt_stream_index stream = 0; stream < STREAMS; stream++)
            assert_int_equal(gt_host_wait_covers(w, &call, cases[i].wait, stream), cases[i].covered[stream] == '1');
    }
    gt_workload_free(w);
}

/* Of several operations the longest wait counts; a recording's memory of unknown kind may be pageable. */
static void calls_with_operations(void **state)
{
    struct gt_workload *w = workload();
    struct gt_call call = { .kind = GT_CALL_COPY, .stream = GT_NONE, .event = GT_NONE, .buffer = GT_NONE, .ops = 2 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        gt_op_index op = gt_workload_add_op(w);

        w->ops[op] = (struct gt_op){ .kind = GT_OP_COPY, .direction = GT_D2D, .memory = GT_MEMORY_DEVICE };
    }
    expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), '.', "copy", "within the device twice");
    assert_false(gt_call_may_wait(w, &call) || gt_call_holds_host(w, &call));
    w->ops[1].direction = GT_H2D;
    w->ops[1].memory = GT_MEMORY_PAGEABLE;
    expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), 's', "copy", "one of them staged");
    assert_true(gt_call_may_wait(w, &call) && !gt_call_holds_host(w, &call));
    w->ops[1].memory = GT_MEMORY_UNKNOWN;
    expect(gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), '.', "copy", "of unknown memory");
    assert_true(gt_call_may_wait(w, &call));
    w->ops[0].direction = GT_H2H;
    assert_true(gt_call_holds_host(w, &call));
    call.flags = GT_CALL_STATED;
    assert_true(gt_call_may_wait(w, &call) && !gt_call_holds_host(w, &call));
    gt_workload_free(w);
}

/* A thread's lock is held while it asks for something, not while it may wait. */
static void locks(void **state)
{
    static const struct {
        struct gt_op op;
        uint8_t flags;
        bool locked;
    } cases[] = {
        { { .kind = GT_OP_COPY, .direction = GT_H2D, .memory = GT_MEMORY_PINNED }, 0, true },
        { { .kind = GT_OP_COPY, .direction = GT_H2D, .memory = GT_MEMORY_PINNED }, GT_CALL_SYNCHRONOUS, false },
        { { .kind = GT_OP_COPY, .direction = GT_H2D, .memory = GT_MEMORY_PAGEABLE }, 0, false },
        { { .kind = GT_OP_COPY, .direction = GT_H2H, .memory = GT_MEMORY_PINNED }, 0, false },
        { { .kind = GT_OP_COPY, .direction = GT_D2D, .memory = GT_MEMORY_DEVICE }, GT_CALL_SYNCHRONOUS, true },
        { { .kind = GT_OP_MEMSET, .memory = GT_MEMORY_DEVICE }, GT_CALL_SYNCHRONOUS, true },
    };
    struct gt_workload *w = workload();
    gt_op_index op = gt_workload_add_op(w);
    gt_call_index call = gt_workload_add_call(w);

    (void)state;
    w->threads[0].lock = gt_name(w, "GIL", 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        w->ops[op] = cases[i].op; /* in the legacy default stream */
        w->calls[call] = (struct gt_call){ .kind = cases[i].op.kind == GT_OP_COPY ? GT_CALL_COPY : GT_CALL_MEMSET,
                                           .flags = cases[i].flags,
                                           .stream = GT_NONE,
                                           .event = GT_NONE,
                                           .ops = 1 };
        assert_int_equal(gt_call_needs_lock(w, call), cases[i].locked);
    }
    gt_workload_free(w);
}

/* "cudaMemcpy, legacy default stream, h2d pageable, 64 bytes": what host_waits.py measured, as a call. */
static bool parse_case(const char *line, struct gt_call *call, struct gt_op *op)
{
    static const char *const directions[] = {
        [GT_H2D] = "h2d", [GT_D2H] = "d2h", [GT_D2D] = "d2d", [GT_H2H] = "h2h"
    };
    bool memset_call = strncmp(line, "cudaMemset", 10) == 0;

    if (!memset_call && strncmp(line, "cudaMemcpy", 10) != 0)
        return false;
    *op = (struct gt_op){ .kind = memset_call ? GT_OP_MEMSET : GT_OP_COPY, .memory = GT_MEMORY_DEVICE };
    *call = (struct gt_call){ .kind = memset_call ? GT_CALL_MEMSET : GT_CALL_COPY, .ops = 1 };
    call->flags = strncmp(line + 10, "Async", 5) != 0 ? GT_CALL_SYNCHRONOUS : 0;
    op->stream = strstr(line, "legacy") != NULL       ? LEGACY
                 : strstr(line, "per-thread") != NULL ? PER_THREAD
                                                      : NON_BLOCKING;
    for (uint8_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (directions[i] != NULL && strstr(line, directions[i]) != NULL)
            op->direction = i;
    for (uint8_t memory = 0; memory < GT_MEMORIES; memory++) {
        char word[32];

        snprintf(word, sizeof word, " %s,", gt_memory_names[memory]);
        if (strstr(line, word) != NULL)
            op->memory = memory;
    }
    return true;
}

/* Synchronisations of a stream while another one is busy. */
static bool parse_synchronisation(const char *line, struct gt_call *call, gt_stream_index *busy)
{
    if (strncmp(line, "cudaStreamSynchronize", 21) != 0)
        return false;
    *call = (struct gt_call){ .kind = GT_CALL_STREAM_SYNC, .event = GT_NONE, .buffer = GT_NONE };
    call->stream = strstr(line, "legacy") != NULL ? LEGACY : PER_THREAD;
    *busy = strstr(line, "another busy") != NULL ? NON_BLOCKING : BLOCKING;
    return true;
}

static void every_measured_case(void **state)
{
    struct gt_workload *w = workload();
    char path[4096], line[256];
    uint32_t cases = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/validate/recordings/host-waits.txt", getenv("GRIDTIDE_SOURCE"));
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        bool measured = strstr(line, "   waits") != NULL, waits;
        struct gt_call call;
        struct gt_op op;
        gt_stream_index busy;

        if (parse_case(line, &call, &op))
            waits = gt_op_host_wait(w, &call, &op, GT_HOST_WAITS_OBSERVED) >= GT_HOST_WAIT_STREAM_THEN_STAGED;
        else if (parse_synchronisation(line, &call, &busy))
            waits = gt_host_wait_covers(w, &call, gt_call_host_wait(w, &call, GT_HOST_WAITS_OBSERVED), busy);
        else
            continue;
        cases++;
        if (waits != measured)
            fail_msg("the table says that it %s: %s", waits ? "waits" : "returns", line);
    }
    assert_int_equal(cases, 63);
    fclose(file);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_memsets),
        cmocka_unit_test(launches),
        cmocka_unit_test(calls_without_operations),
        cmocka_unit_test(polls),
        cmocka_unit_test(streams_covered),
        cmocka_unit_test(calls_with_operations),
        cmocka_unit_test(locks),
        cmocka_unit_test(every_measured_case),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
