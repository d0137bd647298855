/* What each operation starts behind and each call returns behind, a rule at a time; expected values are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/check/dependences.h"
#include "tests/unit/check_text.h"

/* "2: 0 1" for each operation, or call, that comes behind any; separated by ", ". */
static void say(const struct gt_dependence_list *list, uint32_t count, char *text, size_t bytes)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        if (list->first[i] == list->first[i + 1])
            continue;
        gt_text_append(text, bytes, "%s%u:", text[0] != '\0' ? ", " : "", i);
        for (uint64_t j = list->first[i]; j < list->first[i + 1]; j++)
            gt_text_append(text, bytes, " %u", list->list[j]);
    }
}

static void must_be(const char *trace, const char *ops, const char *calls)
{
    struct gt_error error = { "" };
    struct gt_workload *w = gt_draw_read(trace, &error);
    struct gt_dependences dependences;
    char text[256];

    if (w == NULL)
        fail_msg("%s\n%s", error.text, trace);
    gt_dependences_find(&dependences, w);
    say(&dependences.ops, w->op_count, text, sizeof text);
    assert_string_equal(text, ops);
    say(&dependences.calls, w->call_count, text, sizeof text);
    assert_string_equal(text, calls);
    gt_dependences_free(&dependences);
    gt_workload_free(w);
}

#define STREAMS                                                                                         \
    HEADER "{\"stream\":1,\"flags\":[\"non_blocking\"]}\n{\"stream\":2,\"flags\":[\"non_blocking\"]}\n" \
           "{\"stream\":3}\n{\"stream\":0,\"flags\":[\"legacy_default\"]}\n"
#define RUN(stream)           "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":" stream "}\n"
#define RECORD(event, stream) "{\"call\":\"event_record\",\"event\":" event ",\"stream\":" stream "}\n"
#define WAIT(event, stream)   "{\"call\":\"event_wait\",\"event\":" event ",\"stream\":" stream "}\n"

static void a_stream_is_in_order(void **state)
{
    (void)state;
    must_be(STREAMS RUN("1") RUN("2") RUN("1") RUN("2"), "2: 0, 3: 1", "");
}

/* Calls: 0 launch, 1 record, 2 launch, 3 wait, 4 launch.  The event holds operation 0 alone. */
static void an_event_holds_what_was_before_its_record(void **state)
{
    (void)state;
    must_be(STREAMS RUN("1") RECORD("1", "1") RUN("1") WAIT("1", "2") RUN("2"), "1: 0, 2: 0", "");
}

/* Stream 2 waits twice, for operations 0 and 1 of stream 1: the second comes behind the first. */
static void the_last_of_a_stream_stands_for_those_before(void **state)
{
    (void)state;
    must_be(STREAMS RUN("1") RECORD("1", "1") RUN("1") RECORD("2", "1") WAIT("1", "2") WAIT("2", "2") RUN("2"),
            "1: 0, 2: 1", "");
}

/* Stream 3 is a blocking one, stream 1 is not. */
static void the_default_stream_waits_for_blocking_streams(void **state)
{
    (void)state;
    must_be(STREAMS RUN("1") RUN("3") RUN("0") RUN("3"), "2: 1, 3: 1 2", "");
}

/* Call 2 waits for stream 1, call 3 for all. */
static void calls_return_behind_what_they_wait_for(void **state)
{
    (void)state;
    must_be(STREAMS RUN("1") RUN("2") "{\"call\":\"stream_sync\",\"stream\":1}\n{\"call\":\"device_sync\"}\n", "",
            "2: 0, 3: 0 1");
    must_be(STREAMS "{\"call\":\"copy\",\"direction\":\"d2h\",\"memory\":\"pageable\",\"bytes\":8,\"stream\":1}\n",
            "", "0: 0");
}

/* Of nodes 1 and 2, both behind 0, the next launch comes behind both. */
static void a_graph_ends_with_all_its_last_nodes(void **state)
{
    (void)state;
    must_be(STREAMS
            "{\"call\":\"graph_launch\",\"stream\":1,\"nodes\":[{\"kernel\":\"k\"},{\"kernel\":\"k\",\"after\":[0]},"
            "{\"kernel\":\"k\",\"after\":[0]}]}\n" RUN("1"),
            "1: 0, 2: 0, 3: 1 2", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_in_order),
        cmocka_unit_test(an_event_holds_what_was_before_its_record),
        cmocka_unit_test(the_last_of_a_stream_stands_for_those_before),
        cmocka_unit_test(the_default_stream_waits_for_blocking_streams),
        cmocka_unit_test(calls_return_behind_what_they_wait_for),
        cmocka_unit_test(a_graph_ends_with_all_its_last_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
