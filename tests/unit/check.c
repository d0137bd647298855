/* Races: the cases of PyTorch's sanitizer, the patterns of its note on backward passes, and CUDA's rules one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/check_text.h"

/* One call by its short form, whose words a point separates: R.s1.t reads, W writes, B does both; rec.s1.e, wait.s1.e,
 * new.e makes an event anew; sync.s1, esync.e, dsync. */
static void write_call(FILE *out, const char *call)
{
    static const struct {
        const char *word, *form;
    } forms[] = {
        { "R", "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"%s\",\"reads\":[\"%s\"]}\n" },
        { "W", "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"%s\",\"writes\":[\"%s\"]}\n" },
        { "B",
          "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"%s\",\"reads\":[\"%s\"],\"writes\":[\"%2$s\"]}\n" },
        { "N", "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"%s\"}\n" },
        { "rec", "{\"call\":\"event_record\",\"stream\":\"%s\",\"event\":\"%s\"}\n" },
        { "wait", "{\"call\":\"event_wait\",\"stream\":\"%s\",\"event\":\"%s\"}\n" },
        { "new", "{\"call\":\"event_create\",\"event\":\"%s\"}\n" },
        { "destroy", "{\"call\":\"other\",\"name\":\"cudaEventDestroy\",\"event\":\"%s\"}\n" },
        { "sync", "{\"call\":\"stream_sync\",\"stream\":\"%s\"}\n" },
        { "esync", "{\"call\":\"event_sync\",\"event\":\"%s\"}\n" },
        { "dsync", "{\"call\":\"device_sync\"}\n" },
        { "create", "{\"call\":\"stream_create\",\"stream\":\"%s\"}\n" },
    };
    char word[16] = "", one[16] = "", two[16] = "";

    sscanf(call, "%15[^.].%15[^.].%15s", word, one, two);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].word, word) != 0)
            continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        fprintf(out, forms[i].form, one, two);
#pragma GCC diagnostic pop
        return;
    }
    fail_msg("no call '%s'", call);
}

/* The program of the calls, in streams s0 to s10, none of which waits for another. */
static char *program_of(const char *calls)
{
    char *text, *copy = strdup(calls), *rest = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fputs(HEADER, out);
    for (int i = 0; i <= 10; i++)
        fprintf(out, "{\"stream\":\"s%d\",\"flags\":[\"non_blocking\"]}\n", i);
    for (const char *call = strtok_r(copy, " ", &rest); call != NULL; call = strtok_r(NULL, " ", &rest))
        write_call(out, call);
    fclose(out);
    free(copy);
    return text;
}

static void expect_races(const char *calls, uint32_t expected)
{
    char *text = program_of(calls);
    uint32_t count = races_in(text);

    free(text);
    if (count != expected)
        fail_msg("%s: %u races, %u expected", calls, count, expected);
}

/* pytorch/test/test_cuda_sanitizer.py, by its own counts; stream 0 is as any other there. */
static void the_sanitizers_cases_have_its_counts(void **state)
{
    static const struct {
        const char *calls;
        uint32_t races;
    } cases[] = {
        { "N.s0", 0 },
        { "R.s1.t R.s2.t", 0 },
        { "R.s1.t W.s2.t", 1 },
        { "R.s1.t rec.s1.e wait.s2.e W.s2.t", 0 },
        { "W.s1.t rec.s1.e wait.s2.e R.s2.t R.s3.t", 1 },
        { "W.s1.t rec.s1.e wait.s2.e wait.s3.e R.s2.t R.s3.t W.s2.t", 1 },
        { "R.s0.t rec.s0.e0 wait.s1.e0 rec.s1.e1 wait.s2.e1 rec.s2.e2 wait.s3.e2 rec.s3.e3 wait.s4.e3 rec.s4.e4 "
          "wait.s5.e4 rec.s5.e5 wait.s6.e5 rec.s6.e6 wait.s7.e6 rec.s7.e7 wait.s8.e7 rec.s8.e8 wait.s9.e8 rec.s9.e9 "
          "wait.s10.e9 W.s10.t",
          0 },
        { "R.s1.t rec.s1.e R.s1.t wait.s2.e W.s2.t", 1 },
        { "R.s1.t rec.s1.e destroy.e wait.s2.e W.s2.t", 1 },
        { "R.s1.t rec.s1.e destroy.e new.e wait.s2.e W.s2.t", 1 },
        { "R.s1.t rec.s1.e new.e wait.s2.e W.s2.t", 1 },
        { "R.s1.t rec.s1.a R.s2.t rec.s2.b R.s3.t rec.s3.c R.s4.t rec.s4.d R.s5.t rec.s5.e R.s6.t rec.s6.f R.s7.t "
          "rec.s7.g R.s8.t rec.s8.h R.s9.t rec.s9.i wait.s0.a wait.s0.b wait.s0.c wait.s0.d wait.s0.e wait.s0.f "
          "wait.s0.g wait.s0.h wait.s0.i W.s0.t",
          0 },
        { "R.s1.t rec.s1.a R.s2.t rec.s2.b R.s3.t rec.s3.c R.s4.t rec.s4.d R.s5.t rec.s5.e R.s6.t rec.s6.f R.s7.t "
          "rec.s7.g R.s8.t rec.s8.h R.s9.t rec.s9.i R.s10.t rec.s9.j wait.s0.a wait.s0.b wait.s0.c wait.s0.d "
          "wait.s0.e wait.s0.f wait.s0.g wait.s0.h wait.s0.i wait.s0.j W.s0.t",
          1 },
        { "W.s1.t1 W.s2.t2 rec.s1.e1 rec.s2.e2 W.s1.t1 W.s2.t2 wait.s2.e1 wait.s1.e2 rec.s2.e3 wait.s1.e3 B.s1.t1 "
          "B.s1.t2",
          0 },
        { "R.s1.t1 R.s2.t2 rec.s1.e1 rec.s2.e1 wait.s3.e1 W.s3.t1", 1 },
        { "W.s1.t rec.s1.e wait.s2.e wait.s3.e R.s2.t R.s3.t", 0 },
        { "W.s1.t1 W.s2.t2 W.s3.t3 W.s4.t4 W.s5.t5 W.s6.t6 W.s7.t7 W.s8.t8 W.s9.t9 dsync W.s0.t1 W.s0.t2 W.s0.t3 "
          "W.s0.t4 W.s0.t5 W.s0.t6 W.s0.t7 W.s0.t8 W.s0.t9",
          0 },
        { "W.s1.t dsync W.s1.t W.s2.t", 1 },
        { "W.s1.t dsync create.s2 W.s2.t", 0 },
        { "W.s0.t1 W.s1.t2 sync.s0 R.s2.t1 R.s3.t1 R.s4.t2", 1 },
        { "W.s1.t1 rec.s1.e W.s1.t2 esync.e W.s2.t1 W.s2.t2", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_races(cases[i].calls, cases[i].races);
}

/* Its case of ten tensors that two kernels write: one race a buffer. */
static void two_kernels_race_once_a_buffer(void **state)
{
#define TEN "[\"t0\",\"t1\",\"t2\",\"t3\",\"t4\",\"t5\",\"t6\",\"t7\",\"t8\",\"t9\"]"
    (void)state;
    assert_int_equal(races_in(HEADER "{\"stream\":\"a\",\"flags\":[\"non_blocking\"]}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\",\"writes\":" TEN "}\n"
                                     "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"a\",\"writes\":" TEN "}\n"),
                     10);
}

/* PyTorch's note "Stream semantics of backward passes": s1 is the side stream, s0 the default one, w the weights, g their
 * gradient, i the initial gradient. */
static void the_patterns_of_backward_passes(void **state)
{
    (void)state;
    expect_races("R.s1.w W.s1.g R.s1.g", 0);
    expect_races("R.s1.w W.s1.g R.s0.g", 1);
    expect_races("R.s1.w W.s1.g rec.s1.e wait.s0.e R.s0.g", 0);
    expect_races("W.s1.i R.s1.i W.s1.g", 0);
    expect_races("W.s0.i R.s1.i W.s1.g", 1);
    expect_races("W.s0.i rec.s0.e wait.s1.e R.s1.i W.s1.g", 0);
}

static void the_last_unordered_read_is_told(void **state)
{
    char *text = program_of("R.s1.t R.s2.t W.s3.t");
    struct gt_check check = check_text(text);

    (void)state;
    assert_int_equal(check.certain.count, 1);
    assert_int_equal(check.certain.races[0].first, 1);
    assert_int_equal(check.certain.races[0].second, 2);
    assert_int_equal(check.certain.races[0].kind, GT_RACE_WRITE_AFTER_READ);
    gt_check_free(&check);
    free(text);
}

/* Halves of a buffer may be written side by side; by addresses 100 to 200 and 150 to 250 meet. */
static void bytes_count_not_buffers(void **state)
{
#define TWO "{\"buffer\":\"x\",\"bytes\":100,\"address\":100}\n{\"buffer\":\"y\",\"bytes\":100,\"address\":150}\n"
    struct gt_check check;

    (void)state;
    assert_int_equal(
        races_in(SIDE LAUNCH("\"a\"", "\"writes\":[[\"x\",0,64]]") LAUNCH("\"b\"", "\"writes\":[[\"x\",64,36]]")), 0);
    assert_int_equal(
        races_in(SIDE LAUNCH("\"a\"", "\"writes\":[[\"x\",0,65]]") LAUNCH("\"b\"", "\"writes\":[[\"x\",64,36]]")), 1);
    assert_int_equal(
        races_in(SIDE TWO LAUNCH("\"a\"", "\"writes\":[[\"x\",0,50]]") LAUNCH("\"b\"", "\"reads\":[\"y\"]")), 0);
    check = check_text(SIDE TWO LAUNCH("\"a\"", "\"writes\":[\"x\"]") LAUNCH("\"b\"", "\"reads\":[\"y\"]"));
    assert_int_equal(check.certain.count, 1);
    assert_int_equal(check.certain.races[0].buffer, 1);
    assert_int_equal(check.certain.races[0].first_buffer, 0);
    assert_int_equal(check.certain.races[0].from, 0);
    assert_int_equal(check.certain.races[0].to, 50);
    gt_check_free(&check);
}

/* A copy says by source and destination what it touches, by name or by address. */
static void copies_touch_both_ends(void **state)
{
#define WEIGHTS            "{\"buffer\":\"w\",\"bytes\":100,\"address\":1000}\n"
#define COPY(stream, ends) "{\"call\":\"copy\",\"direction\":\"d2d\",\"stream\":" stream ",\"bytes\":50," ends "}\n"
    (void)state;
    assert_int_equal(races_in(SIDE WEIGHTS COPY("\"a\"", "\"source\":\"v\",\"destination\":1060")
                                  LAUNCH("\"b\"", "\"reads\":[\"w\"]")),
                     1);
    assert_int_equal(races_in(SIDE WEIGHTS COPY("\"a\"", "\"source\":\"v\",\"destination\":1060")
                                  LAUNCH("\"b\"", "\"reads\":[[\"w\",0,60]]")),
                     0);
}

/* The legacy default stream and blocking streams c, d wait for each other; a, b take no part. */
static void default_streams(void **state)
{
    static const char per_thread[] =
        HEADER "{\"stream\":\"p\",\"flags\":[\"per_thread_default\"]}\n" LAUNCH("\"p\"", "\"writes\":[\"x\"]")
            LAUNCH("0", "\"reads\":[\"x\"]");

    (void)state;
    assert_int_equal(races_in(SIDE LAUNCH("\"c\"", "\"writes\":[\"x\"]") LAUNCH("\"d\"", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(races_in(SIDE LAUNCH("\"c\"", "\"writes\":[\"x\"]") LAUNCH("0", "\"reads\":[\"z\"]")
                                  LAUNCH("\"d\"", "\"reads\":[\"x\"]")),
                     0);
    assert_int_equal(races_in(SIDE LAUNCH("0", "\"writes\":[\"x\"]") LAUNCH("\"a\"", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(races_in(SIDE LAUNCH("\"a\"", "\"writes\":[\"x\"]") LAUNCH("0", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(races_in(per_thread), 0);
}

/* A fork in a graph; its end is behind both branches, and so is what follows in the stream. */
static void graphs_are_ordered_by_edges(void **state)
{
#define GRAPH(last)                                                                                 \
    "{\"call\":\"graph_launch\",\"stream\":\"a\",\"nodes\":[{\"kernel\":\"k\",\"writes\":[\"x\"]}," \
    "{\"kernel\":\"k\",\"writes\":[\"y\"]},{\"kernel\":\"k\",\"reads\":[\"x\",\"y\"],\"after\":" last "}]}\n"
    (void)state;
    assert_int_equal(races_in(SIDE GRAPH("[0,1]")), 0);
    assert_int_equal(races_in(SIDE GRAPH("[0]")), 1);
    assert_int_equal(races_in(SIDE GRAPH("[0,1]") GRAPH("[0,1]") LAUNCH("\"a\"", "\"writes\":[\"x\",\"y\"]")), 0);
    assert_int_equal(races_in(SIDE GRAPH("[0,1]") LAUNCH("\"b\"", "\"writes\":[\"x\",\"y\"]")), 2);
    /* an operation that is not in the graph, of another stream */
    assert_int_equal(races_in(SIDE GRAPH("[0,1]") LAUNCH("\"b\"", "\"after\":[-1],\"writes\":[\"x\"]")), 0);
}

/* a copies into b's GPU, which reads that; between them ranks of a collective, in the order given. */
static uint32_t races_around(const char *kind, const char *first, const char *second, const char *third)
{
    const char *lines[] = { first, second, third };
    uint32_t count;
    size_t bytes;
    char *text;
    FILE *out = open_memstream(&text, &bytes);

    fputs(HEADER "{\"group\":\"g\",\"gpus\":[0,1]}\n"
                 "{\"stream\":\"a\",\"gpu\":0}\n{\"stream\":\"b\",\"gpu\":1}\n",
          out);
    fprintf(out, "{\"kernel\":\"c\",\"collective\":%s,\"group\":\"g\",\"bytes\":8}\n", kind);
    fputs("{\"kernel\":\"d\",\"collective\":\"send_recv\",\"to\":1,\"group\":\"g\",\"bytes\":8}\n"
          "{\"kernel\":\"e\",\"collective\":\"send_recv\",\"from\":0,\"group\":\"g\",\"bytes\":8}\n",
          out);
    for (int i = 0; i < 3; i++) {
        if (strcmp(lines[i], "copy") == 0)
            fputs("{\"call\":\"copy\",\"direction\":\"p2p\",\"bytes\":8,\"peer_gpu\":1,\"stream\":\"a\","
                  "\"source\":\"x\",\"destination\":\"y\"}\n",
                  out);
        else
            fprintf(out, "{\"call\":\"launch\",\"kernel\":\"%c\",\"stream\":\"%c\"}\n", lines[i][0], lines[i][2]);
    }
    fputs(LAUNCH("\"b\"", "\"reads\":[\"y\"]"), out);
    fclose(out);
    count = races_in(text);
    free(text);
    return count;
}

/* What a rank did before its part is done when the part of one that gets something of it ends; not the other way round,
 * and not what it did behind. */
static void collectives_order_ranks(void **state)
{
    (void)state;
    assert_int_equal(races_around("\"all_reduce\"", "copy", "c a", "c b"), 0);
    assert_int_equal(races_around("\"all_reduce\"", "c b", "copy", "c a"), 0);
    assert_int_equal(races_around("\"all_reduce\"", "c a", "copy", "c b"), 1);
    assert_int_equal(races_around("\"all_reduce\"", "c b", "c a", "copy"), 1);
    assert_int_equal(races_around("\"all_reduce\"", "copy", "c a", "d a"), 1);
    assert_int_equal(races_around("\"broadcast\",\"root\":0", "copy", "c a", "c b"), 0);
    assert_int_equal(races_around("\"broadcast\",\"root\":1", "copy", "c a", "c b"), 1);
    assert_int_equal(races_around("\"reduce\",\"root\":1", "copy", "c a", "c b"), 0);
    assert_int_equal(races_around("\"reduce\",\"root\":0", "copy", "c a", "c b"), 1);
    assert_int_equal(races_around("\"all_gather\"", "copy", "d a", "e b"), 0);
}

/* What t0 saw end, t1 does not know of; of recorded calls it does, from the synchronisation's return on. */
static void threads_know_what_they_saw(void **state)
{
#define CALL_AT(thread, start) "{\"thread\":\"" thread "\",\"start_us\":" start ",\"duration_us\":2,"
#define THREADS(start)                                                                                             \
    SIDE CALL_AT("t0", "1") "\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"a\",\"writes\":[\"x\"]}\n" CALL_AT( \
        "t0", "5") "\"call\":\"stream_sync\",\"stream\":\"a\"}\n" CALL_AT("t1",                                    \
                                                                          start) "\"call\":\"launch\","            \
                                                                                 "\"kernel\":\"k\",\"stream\":"    \
                                                                                 "\"b\",\"reads\":[\"x\"]}\n"
    static const char typed[] =
        SIDE LAUNCH("\"a\",\"thread\":\"t0\"",
                    "\"writes\":[\"x\"]") "{\"call\":\"stream_sync\",\"stream\":\"a\",\"thread\":"
                                          "\"t0\"}\n" LAUNCH("\"b\",\"thread\":\"t1\"", "\"reads\":[\"x\"]");

    (void)state;
    assert_int_equal(races_in(typed), 1);
    assert_int_equal(races_in(THREADS("6")), 1);
    assert_int_equal(races_in(THREADS("7")), 0);
}

/* x is read in b, freed in a, and y gets its bytes. */
static void memory_given_out_again(void **state)
{
#define USED(between)                                                                                         \
    SIDE "{\"call\":\"alloc\",\"buffer\":\"x\",\"bytes\":64,\"address\":512,\"stream\":\"a\"}\n" LAUNCH(      \
        "\"a\"", "\"writes\":[\"x\"]") "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"a\"}\n"       \
                                       "{\"call\":\"event_wait\",\"event\":\"e\",\"stream\":\"b\"}\n" LAUNCH( \
                                           "\"b\"", "\"reads\":[\"x\"]") between                              \
        "{\"call\":\"free\",\"buffer\":\"x\",\"stream\":\"a\"}\n"                                             \
        "{\"call\":\"alloc\",\"buffer\":\"y\",\"bytes\":32,\"address\":528,\"stream\":\"a\"}\n"
    struct gt_check check = check_text(USED("") LAUNCH("\"a\"", "\"writes\":[\"y\"]"));

    (void)state;
    assert_int_equal(check.certain.count, 1);
    assert_true(check.certain.races[0].freed != GT_NONE);
    gt_check_free(&check);
    assert_int_equal(races_in(USED("")), 0); /* nobody uses it */
    assert_int_equal(races_in(USED("{\"call\":\"record_stream\",\"buffer\":\"x\",\"stream\":\"b\"}\n")
                                  LAUNCH("\"a\"", "\"writes\":[\"y\"]")),
                     0);
    /* a fresh buffer that another stream writes at once */
    assert_int_equal(races_in(USED("{\"call\":\"record_stream\",\"buffer\":\"x\",\"stream\":\"b\"}\n")
                                  LAUNCH("\"b\"", "\"writes\":[\"y\"]")),
                     0);
    check = check_text(SIDE "{\"buffer\":\"x\",\"bytes\":64,\"address\":512}\n" LAUNCH(
        "\"a\"", "\"writes\":[\"x\"]") "{\"call\":\"free\",\"buffer\":\"x\",\"stream\":\"a\"}\n"
                                       "{\"call\":\"alloc\",\"buffer\":\"y\",\"bytes\":64,\"address\":512,\"stream\":"
                                       "\"a\"}\n" LAUNCH("\"b\"", "\"writes\":[\"y\"]"));
    assert_int_equal(check.certain.count, 1);
    gt_check_free(&check);
    /* cudaMallocAsync in another stream: the driver makes it wait for the free */
    assert_int_equal(races_in(SIDE "{\"buffer\":\"x\",\"bytes\":64,\"address\":512}\n" LAUNCH(
                         "\"a\"", "\"writes\":[\"x\"]") "{\"call\":\"free\",\"buffer\":\"x\",\"stream\":\"a\"}\n"
                                                        "{\"call\":\"alloc\",\"buffer\":\"y\",\"bytes\":64,"
                                                        "\"address\":512,\"stream\":\"b\"}\n" LAUNCH(
                                                            "\"b\"", "\"writes\":[\"y\"]")),
                     0);
}

/* Pointers into x: whoever may write it is known of no race, and is told apart; a race that is certain is told once. */
static void what_may_be_done_is_told_apart(void **state)
{
    struct gt_check check = check_text(
        SIDE LAUNCH("\"a\"", "\"may_write\":[\"x\"],\"writes\":[\"y\"]") LAUNCH("\"b\"", "\"may_read\":[[\"x\",8,8]]")
            LAUNCH("\"b\"", "\"reads\":[\"y\"]") LAUNCH("\"b\"", "\"may_read\":[\"x\"]"));

    (void)state;
    assert_int_equal(check.certain.count, 1);
    assert_int_equal(check.certain.races[0].second, 2);
    assert_int_equal(check.possible.count, 2);
    assert_int_equal(check.possible.races[0].first, 0);
    assert_int_equal(check.possible.races[0].second, 1);
    assert_int_equal(check.possible.races[1].second, 3);
    assert_int_equal(check.known, 1);
    gt_check_free(&check);
}

static void what_is_not_known_is_counted(void **state)
{
    struct gt_check check = check_text(SIDE LAUNCH(
        "\"a\"", "\"writes\":[\"x\"]") "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"b\"}\n"
                                       "{\"call\":\"event_wait\",\"stream\":\"b\",\"target_unknown\":true,"
                                       "\"event\":null}\n" LAUNCH("\"b\"", "\"reads\":[\"x\"]"));

    (void)state;
    assert_int_equal(check.certain.count, 0);
    assert_int_equal(check.unknown_waits, 1);
    assert_int_equal(check.possible.count, 1); /* no times show what it was for */
    assert_true(check.possible.races[0].unknown_wait);
    assert_int_equal(check.operations, 3);
    assert_int_equal(check.known, 2);
    gt_check_free(&check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sanitizers_cases_have_its_counts),
        cmocka_unit_test(two_kernels_race_once_a_buffer),
        cmocka_unit_test(the_patterns_of_backward_passes),
        cmocka_unit_test(the_last_unordered_read_is_told),
        cmocka_unit_test(bytes_count_not_buffers),
        cmocka_unit_test(copies_touch_both_ends),
        cmocka_unit_test(default_streams),
        cmocka_unit_test(graphs_are_ordered_by_edges),
        cmocka_unit_test(collectives_order_ranks),
        cmocka_unit_test(threads_know_what_they_saw),
        cmocka_unit_test(memory_given_out_again),
        cmocka_unit_test(what_may_be_done_is_told_apart),
        cmocka_unit_test(what_is_not_known_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
