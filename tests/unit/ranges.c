/* Ranges of a workload: which calls each holds, which holds which, and that a trace keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/workload/ranges.h"
#include "traces/jsonl/trace.h"

#define HEADER "{\"gridtide\":1}\n"

static char folder[] = "/tmp/gridtide-ranges-XXXXXX";
static char path[64], second_path[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/ranges.jsonl", folder);
    snprintf(second_path, sizeof second_path, "%s/second.jsonl", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    unlink(second_path);
    return rmdir(folder);
}

static struct gt_workload *read_trace(const char *text, struct gt_error *error)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return gt_trace_read(path, NULL, error);
}

static struct gt_workload *must_read(const char *text)
{
    struct gt_error error;
    struct gt_workload *workload = read_trace(text, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

/* "NAME[CALLS]<PARENT" of every range, the calls as numbers. */
static void must_be(const struct gt_workload *w, const char *expected)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (uint32_t i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        fprintf(out, "%s%s[", i > 0 ? " " : "", gt_name_text(w, range->name));
        for (uint32_t call = 0; call < w->call_count; call++)
            if (gt_range_has_call(w, range, call))
                fprintf(out, "%u", call);
        fprintf(out, "]<%s", range->parent == GT_NONE ? "" : gt_name_text(w, w->ranges[range->parent].name));
    }
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

/* A step on thread a that holds the calls of thread b too; a module within it with an operator; an operator without
 * calls; one of thread b that begins before its call and so holds it, and ends while it goes on. */
static const char timed[] = HEADER
    "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":1,\"duration_us\":1}\n"
    "{\"call\":\"other\",\"thread\":\"b\",\"start_us\":11,\"duration_us\":5}\n"
    "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":12,\"duration_us\":1,\"correlation\":7,\"external_id\":3}\n"
    "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":19,\"duration_us\":1}\n"
    "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":20,\"duration_us\":1}\n"
    "{\"range\":\"mm\",\"thread\":\"a\",\"start_us\":11.5,\"duration_us\":3,\"external_id\":3,\"new\":[1]}\n"
    "{\"range\":\"step\",\"kind\":\"step\",\"thread\":\"a\",\"start_us\":10,\"duration_us\":10}\n"
    "{\"range\":\"linear\",\"kind\":\"module\",\"thread\":\"a\",\"start_us\":11,\"duration_us\":8.5}\n"
    "{\"range\":\"view\",\"thread\":\"a\",\"start_us\":15,\"duration_us\":1}\n"
    "{\"range\":\"other\",\"kind\":\"annotation\",\"thread\":\"b\",\"start_us\":10.5,\"duration_us\":2}\n";
#define TIMED_RANGES "step[123]< other[1]< linear[23]<step mm[2]<linear view[]<linear"

static void calls_are_found_by_time_and_thread(void **state)
{
    struct gt_workload *w = must_read(timed);

    (void)state;
    must_be(w, TIMED_RANGES);
    assert_int_equal(w->calls[2].correlation, 7);
    assert_int_equal(w->calls[2].external, 3);
    assert_int_equal(w->ranges[3].external, 3);
    assert_int_equal(w->ranges[4].first_call, 3); /* made before that call of its thread */
    assert_int_equal(w->ranges[0].kind, GT_RANGE_STEP);
    assert_int_equal(w->ranges[4].kind, GT_RANGE_OPERATOR);
    gt_workload_free(w);
}

/* Threads whose calls stand one behind the other: the step's are not neighbours in the file. */
static void calls_of_a_step_need_not_stand_together(void **state)
{
    struct gt_workload *w =
        must_read(HEADER "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":1,\"duration_us\":1}\n"
                         "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":11,\"duration_us\":1}\n"
                         "{\"call\":\"other\",\"thread\":\"a\",\"start_us\":21,\"duration_us\":1}\n"
                         "{\"call\":\"other\",\"thread\":\"b\",\"start_us\":2,\"duration_us\":1}\n"
                         "{\"call\":\"other\",\"thread\":\"b\",\"start_us\":12,\"duration_us\":1}\n"
                         "{\"range\":\"0\",\"kind\":\"step\",\"thread\":\"a\",\"start_us\":0,\"duration_us\":10}\n"
                         "{\"range\":\"1\",\"kind\":\"step\",\"thread\":\"a\",\"start_us\":10,\"duration_us\":10}\n");

    (void)state;
    must_be(w, "0[03]< 1[14]<");
    gt_workload_free(w);
}

static const char untimed[] = HEADER "{\"kernel\":\"k\",\"duration_us\":1}\n"
                                     "{\"range\":\"step 0\",\"kind\":\"step\",\"calls\":3}\n"
                                     "{\"range\":\"first\",\"calls\":2}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\"}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\",\"thread\":\"other\"}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\"}\n"
                                     "{\"range\":\"step 1\",\"kind\":\"step\",\"calls\":9}\n"
                                     "{\"range\":\"none\",\"thread\":\"other\",\"calls\":0}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\"}\n"
                                     "{\"call\":\"device_sync\"}\n";
#define UNTIMED_RANGES "step 0[012]< first[02]<step 0 step 1[34]< none[]<"

static void calls_may_be_counted(void **state)
{
    struct gt_workload *w = must_read(untimed);

    (void)state;
    must_be(w, UNTIMED_RANGES);
    gt_workload_free(w);
}

static char *text_of(const char *file_path)
{
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(file_path, "r");

    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Written and read again they are the same, and written once more the same bytes. */
static void check_round_trip(const char *trace, const char *expected)
{
    struct gt_workload *w = must_read(trace), *back;
    struct gt_error error;
    char *first, *second;

    assert_int_equal(gt_trace_write(w, second_path, &error), 0);
    first = text_of(second_path);
    back = must_read(first);
    must_be(back, expected);
    assert_int_equal(back->extra_count, w->extra_count);
    assert_int_equal(gt_trace_write(back, second_path, &error), 0);
    second = text_of(second_path);
    assert_string_equal(first, second);
    free(first);
    free(second);
    gt_workload_free(back);
    gt_workload_free(w);
}

static void a_trace_keeps_them(void **state)
{
    char *first;

    (void)state;
    check_round_trip(timed, TIMED_RANGES);
    check_round_trip(untimed, UNTIMED_RANGES);
    check_round_trip(timed, TIMED_RANGES);
    first = text_of(second_path);
    assert_non_null(strstr(first, "\"correlation\":7,\"external_id\":3"));
    assert_non_null(strstr(first, "\"external_id\":3,\"new\":[1]}")); /* unknown fields go where their range goes */
    free(first);
}

/* One that was started and stopped anywhere lies over others without holding any; ranges that overlap hold neither
 * the other; what both would hold goes to the outer one that holds it whole. */
static void only_what_nests_is_a_parent(void **state)
{
    struct gt_workload *w = must_read(
        HEADER "{\"range\":\"all\",\"start_us\":0,\"duration_us\":100}\n"
               "{\"range\":\"anywhere\",\"kind\":\"nvtx\",\"unnested\":true,\"start_us\":5,\"duration_us\":40}\n"
               "{\"range\":\"a\",\"start_us\":10,\"duration_us\":20}\n"
               "{\"range\":\"b\",\"start_us\":20,\"duration_us\":20}\n"
               "{\"range\":\"c\",\"start_us\":25,\"duration_us\":10}\n"
               "{\"range\":\"d\",\"start_us\":40,\"duration_us\":1}\n"
               "{\"range\":\"elsewhere\",\"thread\":\"b\",\"start_us\":40,\"duration_us\":1}\n");

    (void)state;
    must_be(w, "all[]< anywhere[]<all a[]<all b[]<all c[]<b d[]<all elsewhere[]<");
    gt_workload_free(w);
}

static void renumbered_calls_stay_in_their_ranges(void **state)
{
    /* a call inserted before each, the second dropped */
    static const gt_call_index place[] = { 1, 2, 3, 5, 7, 8 };
    struct gt_workload *w = must_read(timed);

    (void)state;
    gt_ranges_renumber(w, place);
    assert_int_equal(w->ranges[2].first_call, 3);
    assert_int_equal(w->ranges[2].end_call, 7);
    gt_workload_free(w);
}

/* The first call dropped, the next two swapped, the rest made one. */
static void moved_calls_stay_in_their_ranges(void **state)
{
    static const gt_call_index new_call[] = { GT_NONE, 1, 0, 2, 2 };
    struct gt_workload *from = must_read(timed), *to = gt_workload_copy(from);

    (void)state;
    to->calls[0] = from->calls[2];
    to->calls[2] = from->calls[3];
    to->call_count = 3;
    gt_ranges_follow(to, from, new_call);
    must_be(to, "step[012]< other[1]< linear[02]<step mm[0]<linear view[]<linear");
    assert_int_equal(to->ranges[4].first_call, 2);
    gt_workload_free(to);
    gt_workload_free(from);
}

/* clang-format off */
static const struct { unsigned line; const char *text, *why; } wrong[] = {
    { 2, HEADER "{\"range\":null,\"calls\":1}\n", "a range needs a name" },
    { 2, HEADER "{\"range\":1,\"calls\":1}\n", "\"range\" must be a string" },
    { 2, HEADER "{\"range\":\"r\"}\n", "the calls of the range are missing" },
    { 2, HEADER "{\"range\":\"r\",\"start_us\":1}\n", "needs both" },
    { 2, HEADER "{\"range\":\"r\",\"calls\":1,\"thread\":null}\n", "\"thread\" cannot be null" },
    { 2, HEADER "{\"range\":\"r\",\"calls\":-1}\n", "\"calls\"" },
    { 2, HEADER "{\"range\":\"r\",\"calls\":1,\"kind\":\"phase\"}\n", "there are: operator annotation step module nvtx" },
};
/* clang-format on */

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gt_error error = { "" };
        char place[96];

        assert_null(read_trace(wrong[i].text, &error));
        snprintf(place, sizeof place, "%s:%u: ", path, wrong[i].line);
        if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, wrong[i].why) == NULL)
            fail_msg("\"%s\" is not \"%s...%s\"", error.text, place, wrong[i].why);
    }
}

static void a_wrong_range_is_refused(void **state)
{
    struct gt_error error;
    struct gt_workload *w = must_read(timed);
    struct gt_range good = w->ranges[2];

    (void)state;
    w->ranges[2].end_call = w->call_count + 1;
    assert_int_equal(gt_workload_check(w, &error), -1);
    assert_non_null(strstr(error.text, "calls that are not there"));
    w->ranges[2] = good;
    w->ranges[2].parent = 2;
    assert_int_equal(gt_workload_check(w, &error), -1);
    w->ranges[2] = good;
    w->ranges[2].thread = w->thread_count;
    assert_int_equal(gt_workload_check(w, &error), -1);
    w->ranges[2] = good;
    w->ranges[2].duration_ps = GT_TIME_LIMIT_PS;
    assert_int_equal(gt_workload_check(w, &error), -1);
    w->ranges[2] = good;
    assert_int_equal(gt_workload_check(w, &error), 0);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_found_by_time_and_thread),
        cmocka_unit_test(calls_of_a_step_need_not_stand_together),
        cmocka_unit_test(calls_may_be_counted),
        cmocka_unit_test(a_trace_keeps_them),
        cmocka_unit_test(only_what_nests_is_a_parent),
        cmocka_unit_test(renumbered_calls_stay_in_their_ranges),
        cmocka_unit_test(moved_calls_stay_in_their_ranges),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(a_wrong_range_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, teardown);
}
