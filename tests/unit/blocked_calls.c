/* Which recorded call was blocked, and by what: by its times, among what calls like it can wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/replay/replay.h"
#include "validate/random/draw.h"

#define HEADER                                                                                                    \
    "{\"gridtide\":1}\n{\"kernel\":\"k\"}\n{\"gpu\":0}\n{\"gpu\":1}\n{\"stream\":\"s\",\"gpu\":0}\n"              \
    "{\"stream\":\"n\",\"gpu\":0,\"flags\":[\"non_blocking\"]}\n{\"stream\":\"d\",\"gpu\":0,\"flags\":[\"legacy_" \
    "default\"]}\n"                                                                                               \
    "{\"stream\":\"far\",\"gpu\":1}\n"

/* A launch that takes 1 us, and its kernel. */
#define KERNEL(stream, at, start, duration)                                                            \
    "{\"call\":\"launch\",\"kernel\":\"k\",\"start_us\":" at ",\"duration_us\":1,\"stream\":\"" stream \
    "\",\"op_start_us\":" start ",\"op_duration_us\":" duration "}\n"
#define CALL(what) "{\"call\":" what "}\n"

/* The operation that blocked the trace's last call; GT_NONE. */
static uint32_t blocks_last(const char *text)
{
    struct gt_replay replay = { .held_ps = NULL };
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(text, &error);
    uint32_t count, *by_end, op;

    if (w == NULL)
        fail_msg("%s\n%s", error.text, text);
    by_end = gt_replay_sort_by_end(w, &count);
    gt_replay_find_blocking_syncs(&replay, w, by_end, count);
    op = replay.blocking_op[w->call_count - 1];
    free(by_end);
    free(replay.blocking_op);
    free(replay.copy_start_delay_ns);
    gt_workload_free(w);
    return op;
}

/* Both kernels end within the call, from 4 to 30 us, the one of `late` last. */
#define TWO(early, late) HEADER KERNEL(early, "0", "1", "19") KERNEL(late, "2", "3", "22")
#define SYNC(what)       CALL(what ",\"start_us\":4,\"duration_us\":26")

static void synchronisations(void **state)
{
    (void)state;
    assert_int_equal(blocks_last(TWO("s", "n") SYNC("\"stream_sync\",\"stream\":\"s\"")), 0);
    /* That of the legacy default stream is for blocking streams, not for others. */
    assert_int_equal(blocks_last(TWO("s", "n") SYNC("\"stream_sync\",\"stream\":\"d\"")), 0);
    assert_int_equal(blocks_last(HEADER KERNEL("n", "0", "1", "19") SYNC("\"stream_sync\",\"stream\":\"d\"")),
                     GT_NONE);
    /* A device's is for its own context, where the trace says which; else for all. */
    assert_int_equal(blocks_last(TWO("s", "far") SYNC("\"device_sync\",\"stream\":\"d\"")), 0);
    assert_int_equal(blocks_last(TWO("s", "far") SYNC("\"device_sync\"")), 1);
}

/* cudaFree waits for the GPU whose memory it is. */
static void frees(void **state)
{
    (void)state;
    assert_int_equal(blocks_last("{\"gridtide\":1}\n{\"kernel\":\"k\"}\n{\"gpu\":0}\n{\"gpu\":1}\n"
                                 "{\"stream\":\"s\",\"gpu\":0}\n{\"stream\":\"far\",\"gpu\":1}\n"
                                 "{\"buffer\":\"x\",\"bytes\":64,\"gpu\":0}\n" KERNEL("s", "0", "1", "19")
                                     KERNEL("far", "2", "3", "22") SYNC("\"free\",\"buffer\":\"x\"")),
                     0);
}

/* What is asked for behind an event's record does not belong to it, though it ends before the call does. */
static void events(void **state)
{
#define RECORD(at) CALL("\"event_record\",\"event\":\"e\",\"stream\":\"s\",\"start_us\":" at ",\"duration_us\":0.5")

    (void)state;
    assert_int_equal(blocks_last(HEADER KERNEL("s", "0", "1", "19") RECORD("1.2") KERNEL("s", "2", "21", "4")
                                     SYNC("\"event_sync\",\"event\":\"e\"")),
                     0);
    assert_int_equal(blocks_last(HEADER KERNEL("s", "0", "1", "19") KERNEL("s", "2", "21", "4") RECORD("3.2")
                                     SYNC("\"event_sync\",\"event\":\"e\"")),
                     1);
    /* Recorded before the recording began: anything may be it. */
    assert_int_equal(blocks_last(TWO("s", "n") SYNC("\"event_sync\",\"event\":\"e\"")), 1);
}

/* A call from 4 to 30 us with its own operation from 6 to 8 us. */
static uint32_t blocked_by_own(const char *what, const char *stream)
{
    char text[2048];

    snprintf(text, sizeof text,
             HEADER "{\"call\":%s,\"stream\":\"%s\",\"start_us\":4,\"duration_us\":26,\"op_start_us\":6,"
                    "\"op_duration_us\":2}\n",
             what, stream);
    return blocks_last(text);
}

#define COPY(direction, more) "\"copy\",\"bytes\":64,\"direction\":\"" direction "\"" more

static void own_operations(void **state)
{
    (void)state;
    assert_int_equal(blocked_by_own(COPY("d2h", ",\"memory\":\"pageable\""), "s"), 0);
    assert_int_equal(blocked_by_own(COPY("d2h", ",\"memory\":\"unknown\""), "s"), 0); /* may be pageable */
    assert_int_equal(blocked_by_own(COPY("d2h", ",\"memory\":\"pinned\""), "s"), GT_NONE);
    assert_int_equal(blocked_by_own(COPY("d2h", ",\"memory\":\"pinned\",\"synchronous\":true"), "d"), 0);
    assert_int_equal(blocked_by_own(COPY("h2h", ",\"memory\":\"pinned\""), "s"), 0);
    /* Within the device no form waits, but that which a wait follows. */
    assert_int_equal(blocked_by_own(COPY("d2d", ""), "s"), GT_NONE);
    assert_int_equal(blocked_by_own(COPY("d2d", ",\"synchronous\":true"), "d"), GT_NONE);
    assert_int_equal(blocked_by_own(COPY("d2d", ",\"synchronous\":true"), "s"), 0);
    assert_int_equal(blocked_by_own("\"memset\",\"bytes\":64,\"synchronous\":true", "d"), GT_NONE);
    assert_int_equal(blocked_by_own("\"memset\",\"bytes\":64,\"memory\":\"pinned\",\"synchronous\":true", "d"), 0);
    assert_int_equal(blocked_by_own("\"launch\",\"kernel\":\"k\"", "s"), GT_NONE);
    assert_int_equal(blocked_by_own("\"launch\",\"kernel\":\"k\",\"synchronous\":true", "s"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synchronisations),
        cmocka_unit_test(frees),
        cmocka_unit_test(events),
        cmocka_unit_test(own_operations),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
