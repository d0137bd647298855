/* Waits of unknown target, and memory that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/unit/check_text.h"

/* Launched at LAUNCHED us (call of 2 us), run from START to START + LENGTH. */
#define MEASURED(stream, launched, start, length, touches)                                   \
    "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"" stream "\",\"start_us\":" launched \
    ",\"duration_us\":2,\"op_start_us\":" start ",\"op_duration_us\":" length "," touches "}\n"
#define UNKNOWN_WAIT(stream, start)                                                                                 \
    "{\"call\":\"event_wait\",\"stream\":\"" stream "\",\"target_unknown\":true,\"event\":null,\"start_us\":" start \
    ",\"duration_us\":1}\n"

/* By its times c waited for b's kernel alone (it starts 1 us after that one's end), which says nothing of a's, though that
 * had ended before: a race is possible with a's, and with b's none. */
static void unknown_waits_are_what_their_times_show(void **state)
{
    static const char head[] =
        "{\"gridtide\":1,\"device\":\"h200\"}\n{\"kernel\":\"k\",\"block_us\":3}\n{\"stream\":\"a\",\"flags\":[\"non_"
        "blocking\"]}\n{\"stream\":\"b\",\"flags\":[\"non_blocking\"]}\n{\"stream\":\"c\",\"flags\":[\"non_"
        "blocking\"]}\n";
    static const char *const reads[] = { "\"reads\":[\"x\"]", "\"reads\":[\"y\"]" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[4096];
        struct gt_check check;

        snprintf(text, sizeof text,
                 "%s%s%s%s{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"c\",\"start_us\":13,"
                 "\"duration_us\":2,\"op_start_us\":101,\"op_duration_us\":5,%s}\n",
                 head, MEASURED("a", "0", "5", "20", "\"writes\":[\"x\"]"),
                 MEASURED("b", "4", "9", "91", "\"writes\":[\"y\"]"), UNKNOWN_WAIT("c", "10"), reads[i]);
        check = check_text(text);
        assert_int_equal(check.certain.count, 0);
        assert_int_equal(check.unknown_waits, 1);
        assert_int_equal(check.possible.count, i == 0 ? 1 : 0);
        gt_check_free(&check);
    }
}

/* In PyTorch's allocator what is freed stays memory: nothing is told of it but races. */
static void memory_that_is_not_there(void **state)
{
    static const char use[] =
        SIDE LAUNCH("\"a\"", "\"writes\":[\"x\"]") "{\"call\":\"free\",\"buffer\":\"x\",\"stream\":"
                                                   "\"b\",\"name\":\"%s\"}\n%s";
    static const struct {
        const char *name, *then;
        uint32_t count, kind;
        bool certain;
    } cases[] = {
        { "cudaFreeAsync", "", 1, GT_MISUSE_FREE_IN_USE, true },
        { "release", "", 1, GT_MISUSE_FREE_IN_USE, false },
        { "[memory]", "", 0, 0, false },
        { "[memory]", "{\"call\":\"free\",\"buffer\":\"x\",\"stream\":\"b\"}\n", 1, GT_MISUSE_FREE_IN_USE, false },
        { "cudaFreeAsync", "{\"call\":\"free\",\"buffer\":\"x\"}\n", 2, GT_MISUSE_DOUBLE_FREE, true },
        { "cudaFreeAsync", LAUNCH("\"b\"", "\"reads\":[\"x\"]"), 2, GT_MISUSE_USE_AFTER_FREE, true },
        { "cudaFreeAsync", LAUNCH("\"b\"", "\"reads\":[\"y\"]"), 1, GT_MISUSE_FREE_IN_USE, true },
        { "cudaFreeAsync",
          "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":64,\"stream\":\"b\"}\n" LAUNCH("\"b\"",
                                                                                         "\"reads\":[\"x\"]"),
          1, GT_MISUSE_FREE_IN_USE, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4096];
        struct gt_check check;
        const struct gt_misuse *last;

        snprintf(text, sizeof text, use, cases[i].name, cases[i].then);
        check = check_text(text);
        assert_int_equal(check.misuses.count, cases[i].count);
        last = cases[i].count > 0 ? &check.misuses.list[cases[i].count - 1] : NULL;
        if (last != NULL) {
            assert_int_equal(last->kind, cases[i].kind);
            assert_int_equal(last->certain, cases[i].certain);
        }
        gt_check_free(&check);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_waits_are_what_their_times_show),
        cmocka_unit_test(memory_that_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
