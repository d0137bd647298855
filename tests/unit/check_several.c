/* Races between GPUs and processes, one rule at a time: collectives in any line order, copies between GPUs, default streams
 * and addresses of each process, executable graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/check_text.h"

/* Streams: a and c of GPU 0, b and d of GPU 1; c and d are non-blocking; 0 is GPU 0's legacy default one. */
#define TWO                                                                                   \
    HEADER "{\"gpu\":0}\n{\"gpu\":1}\n{\"stream\":\"a\",\"gpu\":0}\n"                         \
           "{\"stream\":\"b\",\"gpu\":1}\n"                                                   \
           "{\"stream\":\"c\",\"gpu\":0,\"flags\":[\"non_blocking\"]}\n"                      \
           "{\"stream\":\"d\",\"gpu\":1,\"flags\":[\"non_blocking\"]}\n"                      \
           "{\"stream\":\"far\",\"gpu\":1,\"flags\":[\"legacy_default\"]}\n"                  \
           "{\"group\":\"g\",\"gpus\":[0,1]}\n"                                               \
           "{\"kernel\":\"sum\",\"collective\":\"all_reduce\",\"group\":\"g\",\"bytes\":8}\n" \
           "{\"kernel\":\"from0\",\"collective\":\"broadcast\",\"root\":0,\"group\":\"g\",\"bytes\":8}\n"
#define PART(kernel, stream) "{\"call\":\"launch\",\"kernel\":\"" kernel "\",\"stream\":\"" stream "\"}\n"
#define PEER_COPY(stream, more) \
    "{\"call\":\"copy\",\"direction\":\"p2p\",\"bytes\":8,\"peer_gpu\":1,\"stream\":" stream more "}\n"

/* What rank 1 did before its part is done when rank 0's part ends, though it stands below in the trace. */
static void a_collective_orders_ranks_in_any_line_order(void **state)
{
    (void)state;
    assert_int_equal(races_in(TWO PART("sum", "a") LAUNCH("\"a\"", "\"reads\":[\"x\"]")
                                  LAUNCH("\"b\"", "\"writes\":[\"x\"]") PART("sum", "b")),
                     0);
    /* behind rank 1's part nothing is promised */
    assert_int_equal(races_in(TWO PART("sum", "a") LAUNCH("\"a\"", "\"reads\":[\"x\"]") PART("sum", "b")
                                  LAUNCH("\"b\"", "\"writes\":[\"x\"]")),
                     1);
    /* of a broadcast rank 0 gets nothing */
    assert_int_equal(races_in(TWO PART("from0", "a") LAUNCH("\"a\"", "\"reads\":[\"x\"]")
                                  LAUNCH("\"b\"", "\"writes\":[\"x\"]") PART("from0", "b")),
                     1);
    /* through an event to another stream, which stands above all of it */
    assert_int_equal(
        races_in(TWO PART("sum", "a") "{\"call\":\"event_record\",\"event\":\"e\",\"stream\":\"a\"}\n"
                                      "{\"call\":\"event_wait\",\"event\":\"e\",\"stream\":\"c\"}\n" LAUNCH(
                                          "\"c\"", "\"reads\":[\"x\"]") LAUNCH("\"b\"", "\"writes\":[\"x\"]")
                                          PART("sum", "b")),
        0);
}

/* Of three ranks a broadcast's others have what its root did, not what each other did. */
static void of_three_ranks_each_has_what_it_gets(void **state)
{
#define THREE                                                                                                    \
    HEADER "{\"gpu\":0}\n{\"gpu\":1}\n{\"gpu\":2}\n{\"stream\":\"a\",\"gpu\":0}\n{\"stream\":\"b\",\"gpu\":1}\n" \
           "{\"stream\":\"c\",\"gpu\":2}\n{\"group\":\"g\",\"gpus\":[0,1,2]}\n"                                  \
           "{\"kernel\":\"sum\",\"collective\":\"all_reduce\",\"group\":\"g\",\"bytes\":8}\n"                    \
           "{\"kernel\":\"from1\",\"collective\":\"broadcast\",\"root\":1,\"group\":\"g\",\"bytes\":8}\n"        \
           "{\"kernel\":\"to1\",\"collective\":\"reduce\",\"root\":1,\"group\":\"g\",\"bytes\":8}\n"
#define ROUND(kernel, stream) \
    PART(kernel, "c")         \
    LAUNCH("\"c\"", "\"reads\":[\"x\"]") LAUNCH(stream, "\"writes\":[\"x\"]") PART(kernel, "a") PART(kernel, "b")
    (void)state;
    assert_int_equal(races_in(THREE ROUND("from1", "\"b\"")), 0);
    assert_int_equal(races_in(THREE ROUND("from1", "\"a\"")), 1);
    assert_int_equal(races_in(THREE ROUND("to1", "\"b\"")), 1);
    assert_int_equal(races_in(THREE ROUND("sum", "\"a\"")), 0);
    assert_int_equal(races_in(THREE ROUND("sum", "\"b\"")), 0);
}

/* x is written by rank 1, read by rank 0 behind the collective, then written by somebody who only knows of rank 1's: the
 * last access is rank 0's, though it stands first. */
static void the_last_access_is_the_one_that_comes_last(void **state)
{
    struct gt_check check = check_text(TWO PART("sum", "a") LAUNCH("\"a\"", "\"reads\":[\"x\"]") LAUNCH(
        "\"b\"", "\"writes\":[\"x\"]") PART("sum", "b") LAUNCH("\"b\"", "\"writes\":[\"x\"]"));

    (void)state;
    assert_int_equal(check.certain.count, 1);
    assert_int_equal(check.certain.races[0].first, 1);
    assert_int_equal(check.certain.races[0].second, 4);
    assert_int_equal(check.certain.races[0].kind, GT_RACE_WRITE_AFTER_READ);
    gt_check_free(&check);
}

/* What a rank gets in a graph is there for the node behind it, not for one beside it. */
static void collectives_in_graphs_order_their_nodes(void **state)
{
#define IN_GRAPH(after)                                                                                         \
    "{\"call\":\"graph_launch\",\"stream\":\"a\",\"nodes\":[{\"kernel\":\"sum\"},{\"kernel\":\"k\",\"reads\":[" \
    "\"x\"],"                                                                                                   \
    "\"after\":[0]},{\"kernel\":\"k\",\"reads\":[\"y\"],\"after\":" after "}]}\n"
    (void)state;
    assert_int_equal(races_in(TWO IN_GRAPH("[0]") LAUNCH("\"b\"", "\"writes\":[\"x\",\"y\"]") PART("sum", "b")), 0);
    assert_int_equal(races_in(TWO IN_GRAPH("[]") LAUNCH("\"b\"", "\"writes\":[\"x\",\"y\"]") PART("sum", "b")), 1);
}

/* A thread that waits for a collective before it asks for the other rank's part waits for ever: the check does not. */
static void who_waits_for_himself_is_gone_through(void **state)
{
    (void)state;
    assert_int_equal(races_in(TWO PART("sum", "a") "{\"call\":\"stream_sync\",\"stream\":\"a\"}\n" LAUNCH(
                         "\"c\"", "\"writes\":[\"x\"]") LAUNCH("\"b\"", "\"reads\":[\"x\"]") PART("sum", "b")),
                     1);
}

/* In a legacy default stream it holds the blocking streams of both GPUs (CUDA C++ Programming Guide, "Peer-to-Peer Memory
 * Copy"), in others its own stream alone. */
static void a_copy_in_a_default_stream_holds_both_gpus(void **state)
{
    (void)state;
    assert_int_equal(races_in(TWO LAUNCH("\"b\"", "\"writes\":[\"x\"]") PEER_COPY("0", ",\"reads\":[\"x\"]")), 0);
    assert_int_equal(races_in(TWO LAUNCH("\"far\"", "\"writes\":[\"x\"]") PEER_COPY("0", ",\"reads\":[\"x\"]")), 0);
    assert_int_equal(races_in(TWO PEER_COPY("0", ",\"writes\":[\"x\"]") LAUNCH("\"b\"", "\"reads\":[\"x\"]")
                                  LAUNCH("\"far\"", "\"reads\":[\"x\"]") LAUNCH("\"a\"", "\"reads\":[\"x\"]")),
                     0);
    assert_int_equal(races_in(TWO PEER_COPY("0", ",\"writes\":[\"x\"]") LAUNCH("\"d\"", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(races_in(TWO PEER_COPY("\"a\"", ",\"writes\":[\"x\"]") LAUNCH("\"far\"", "\"reads\":[\"x\"]")),
                     1);
    assert_int_equal(races_in(TWO LAUNCH("0", "\"writes\":[\"x\"]") LAUNCH("\"b\"", "\"reads\":[\"x\"]")), 1);
    /* a kernel of GPU 1 is known to GPU 0's streams through the copy alone */
    assert_int_equal(
        races_in(TWO LAUNCH("\"b\"", "\"writes\":[\"x\"]") PEER_COPY("0", "") LAUNCH("\"a\"", "\"reads\":[\"x\"]")),
        0);
}

/* cudaMemcpyPeer "is asynchronous with respect to the host" (CUDA Runtime API). */
static void copies_between_gpus_are_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(
        races_in(TWO PEER_COPY("0", ",\"synchronous\":true,\"writes\":[\"x\"]") LAUNCH("\"c\"", "\"reads\":[\"x\"]")),
        1);
    assert_int_equal(races_in(TWO PEER_COPY("\"c\"", ",\"synchronous\":true,\"writes\":[\"x\"]")
                                  LAUNCH("\"d\"", "\"reads\":[\"x\"]")),
                     0);
}

static void cuda_free_waits_for_the_gpu_of_its_memory(void **state)
{
#define ON(gpu) "{\"buffer\":\"m\",\"bytes\":8,\"gpu\":" gpu "}\n"
#define FREE_M  "{\"call\":\"free\",\"buffer\":\"m\"}\n"
    (void)state;
    assert_int_equal(
        races_in(TWO ON("0") LAUNCH("\"c\"", "\"writes\":[\"x\"]") FREE_M LAUNCH("\"d\"", "\"reads\":[\"x\"]")), 0);
    assert_int_equal(races_in(TWO ON("1") LAUNCH("\"c\"", "\"writes\":[\"x\"]") LAUNCH("\"d\"", "\"writes\":[\"y\"]")
                                  FREE_M LAUNCH("\"d\"", "\"reads\":[\"x\"]")),
                     1);
}

/* A copy says by address what it writes on the other GPU. */
static void addresses_of_a_copy_are_of_its_ends(void **state)
{
#define FAR_BUFFER  "{\"buffer\":\"f\",\"bytes\":64,\"gpu\":1,\"address\":4096}\n"
#define NEAR_BUFFER "{\"buffer\":\"n\",\"bytes\":64,\"gpu\":0,\"address\":4096}\n"
    (void)state;
    assert_int_equal(races_in(TWO NEAR_BUFFER FAR_BUFFER LAUNCH("\"d\"", "\"writes\":[\"f\"]")
                                  PEER_COPY("\"c\"", ",\"destination\":4100")),
                     1);
    assert_int_equal(races_in(TWO NEAR_BUFFER FAR_BUFFER LAUNCH("\"d\"", "\"writes\":[\"n\"]")
                                  PEER_COPY("\"c\"", ",\"destination\":4100")),
                     0);
    assert_int_equal(races_in(TWO NEAR_BUFFER FAR_BUFFER LAUNCH("\"d\"", "\"writes\":[\"f\"]")
                                  PEER_COPY("\"c\"", ",\"from_peer\":true,\"source\":4100")),
                     1);
}

/* Streams of process 7 have names that begin with p. */
#define PROCESSES                                                                       \
    HEADER "{\"thread\":\"t\",\"process\":7}\n{\"stream\":\"a\"}\n{\"stream\":\"p\"}\n" \
           "{\"stream\":\"p0\",\"flags\":[\"legacy_default\"]}\n"
#define FAR_LAUNCH(stream, what) \
    "{\"call\":\"launch\",\"thread\":\"t\",\"kernel\":\"k\",\"stream\":" stream "," what "}\n"

static void each_process_has_default_streams_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(
        races_in(PROCESSES LAUNCH("\"a\"", "\"writes\":[\"x\"]") FAR_LAUNCH("\"p0\"", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(races_in(PROCESSES LAUNCH("0", "\"writes\":[\"y\"]") FAR_LAUNCH("\"p\"", "\"writes\":[\"x\"]")
                                  FAR_LAUNCH("\"p0\"", "\"reads\":[\"x\"]")),
                     0);
    /* stream 0, too, without a definition */
    assert_int_equal(races_in(PROCESSES LAUNCH("0", "\"writes\":[\"x\"]") FAR_LAUNCH("0", "\"reads\":[\"x\"]")), 1);
    assert_int_equal(
        races_in(PROCESSES FAR_LAUNCH("0", "\"writes\":[\"x\"]") FAR_LAUNCH("\"p\"", "\"reads\":[\"x\"]")), 0);
}

static void equal_addresses_of_two_processes_are_two(void **state)
{
#define AT_ONE_ADDRESS \
    "{\"buffer\":\"m\",\"bytes\":64,\"address\":512}\n{\"buffer\":\"f\",\"bytes\":64,\"address\":512}\n"
#define COPY_TO(thread, stream)                                                                      \
    "{\"call\":\"copy\",\"direction\":\"d2d\",\"bytes\":8,\"destination\":9000,\"thread\":\"" thread \
    "\",\"stream\":"                                                                                 \
    "\"" stream "\"}\n"
    (void)state;
    assert_int_equal(races_in(PROCESSES AT_ONE_ADDRESS LAUNCH("\"a\"", "\"writes\":[\"m\"]")
                                  FAR_LAUNCH("\"p\"", "\"writes\":[\"f\"]")),
                     0);
    assert_int_equal(races_in(PROCESSES AT_ONE_ADDRESS LAUNCH("\"a\"", "\"writes\":[\"m\"]")
                                  LAUNCH("\"p\"", "\"writes\":[\"f\"]")),
                     1);
    assert_int_equal(races_in(PROCESSES COPY_TO("main", "a") COPY_TO("t", "p")), 0);
    assert_int_equal(races_in(PROCESSES COPY_TO("main", "a") COPY_TO("main", "p")), 1);
    /* what both name is one: memory that they share */
    assert_int_equal(races_in(PROCESSES AT_ONE_ADDRESS LAUNCH("\"a\"", "\"writes\":[\"m\"]")
                                  FAR_LAUNCH("\"p\"", "\"reads\":[\"m\"]")),
                     1);
}

/* Three launches of one executable graph in three streams, the middle one without nodes; another process's of that name. */
static void launches_of_an_executable_graph_are_a_chain(void **state)
{
#define GRAPH_OF(thread, stream, executable, nodes)                                                             \
    "{\"call\":\"graph_launch\",\"thread\":\"" thread "\",\"stream\":\"" stream "\",\"executable\":" executable \
    ",\"nodes\":[" nodes "]}\n"
#define WRITES_X "{\"kernel\":\"k\",\"writes\":[\"x\"]}"
    (void)state;
    assert_int_equal(races_in(TWO GRAPH_OF("main", "a", "1", WRITES_X) GRAPH_OF("main", "c", "1", "")
                                  LAUNCH("\"c\"", "\"reads\":[\"x\"]") GRAPH_OF("main", "d", "1", WRITES_X)),
                     1);
    assert_int_equal(races_in(TWO GRAPH_OF("main", "a", "1", WRITES_X) GRAPH_OF("main", "c", "1", WRITES_X)
                                  GRAPH_OF("main", "d", "1", WRITES_X)),
                     0);
    assert_int_equal(races_in(TWO GRAPH_OF("main", "a", "1", WRITES_X) GRAPH_OF("main", "c", "2", WRITES_X)), 1);
    assert_int_equal(races_in(PROCESSES GRAPH_OF("main", "a", "1", WRITES_X) GRAPH_OF("t", "p", "1", WRITES_X)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collective_orders_ranks_in_any_line_order),
        cmocka_unit_test(of_three_ranks_each_has_what_it_gets),
        cmocka_unit_test(the_last_access_is_the_one_that_comes_last),
        cmocka_unit_test(collectives_in_graphs_order_their_nodes),
        cmocka_unit_test(who_waits_for_himself_is_gone_through),
        cmocka_unit_test(a_copy_in_a_default_stream_holds_both_gpus),
        cmocka_unit_test(copies_between_gpus_are_not_waited_for),
        cmocka_unit_test(cuda_free_waits_for_the_gpu_of_its_memory),
        cmocka_unit_test(addresses_of_a_copy_are_of_its_ends),
        cmocka_unit_test(each_process_has_default_streams_of_its_own),
        cmocka_unit_test(equal_addresses_of_two_processes_are_two),
        cmocka_unit_test(launches_of_an_executable_graph_are_a_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
