/* Groups and collectives in traces: what is read and written again, which parts belong together, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/workload/collective.h"
#include "traces/jsonl/trace.h"

#define HEADER "{\"gridtide\":1}\n"
#define WORLD  "{\"group\":\"world\",\"gpus\":[0,1]}\n"
#define STREAMS                      \
    "{\"stream\":\"a\",\"gpu\":0}\n" \
    "{\"stream\":\"b\",\"gpu\":1}\n" \
    "{\"stream\":\"c\",\"gpu\":2}\n"
#define SUM   "{\"kernel\":\"sum\",\"collective\":\"all_reduce\",\"group\":\"world\",\"bytes\":1024}\n"
#define SUM_A "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"a\"}\n"
#define SUM_B "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"b\"}\n"

static char folder[] = "/tmp/gridtide-collectives-XXXXXX";
static char path[64], again[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/trace.jsonl", folder);
    snprintf(again, sizeof again, "%s/again.jsonl", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    unlink(again);
    return rmdir(folder);
}

static struct gt_workload *read_text(const char *text, struct gt_error *error)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return gt_trace_read(path, NULL, error);
}

static struct gt_workload *must_read(const char *text)
{
    struct gt_error error = { "" };
    struct gt_workload *workload = read_text(text, &error);

    if (workload == NULL)
        fail_msg("%s", error.text);
    return workload;
}

static void parts_by_order(void **state)
{
    struct gt_workload *w = must_read(HEADER WORLD STREAMS SUM SUM_A SUM_A SUM_B SUM_A SUM_B);
    struct gt_collective_parts parts = gt_collective_parts(w);
    static const struct {
        uint32_t rank, sequence;
    } want[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 0, 2 }, { 1, 1 } };
    uint32_t first;

    (void)state;
    assert_int_equal(parts.count, 5);
    assert_int_equal(parts.instances, 3);
    for (uint32_t i = 0; i < parts.count; i++) {
        assert_int_equal(parts.parts[i].op, i);
        assert_int_equal(parts.parts[i].rank, want[i].rank);
        assert_int_equal(parts.parts[i].sequence, want[i].sequence);
        assert_int_equal(parts.parts[i].instance, want[i].sequence);
        assert_int_equal(gt_collective_part_ranks(w, &parts.parts[i]), 2);
    }
    assert_int_equal(gt_collective_parts_of(&parts, 3, &first), 1);
    assert_int_equal(first, 3);
    gt_collective_parts_free(&parts);
    gt_workload_free(w);
}

/* A ring of messages: each rank sends to the next and gets from the one before; a pair's messages are counted. */
static void messages_by_pair(void **state)
{
    struct gt_workload *w = must_read(
        HEADER
        "{\"group\":\"three\",\"gpus\":[2,0,1]}\n" STREAMS
        "{\"kernel\":\"r0\",\"collective\":\"send_recv\",\"group\":\"three\",\"bytes\":8,\"to\":1,\"from\":2}\n"
        "{\"kernel\":\"r1\",\"collective\":\"send_recv\",\"group\":\"three\",\"bytes\":8,\"to\":2,\"from\":0}\n"
        "{\"kernel\":\"r2\",\"collective\":\"send_recv\",\"group\":\"three\",\"bytes\":8,\"to\":0,\"from\":1}\n"
        "{\"call\":\"launch\",\"kernel\":\"r0\",\"stream\":\"c\"}\n"
        "{\"call\":\"launch\",\"kernel\":\"r1\",\"stream\":\"a\"}\n"
        "{\"call\":\"launch\",\"kernel\":\"r2\",\"stream\":\"b\"}\n");
    struct gt_collective_parts parts = gt_collective_parts(w);
    static const uint32_t instance[] = { 0, 2, 1, 0, 2, 1 }; /* 0 to 1, 1 to 2, 2 to 0: by sender */

    (void)state;
    assert_int_equal(parts.count, 6);
    assert_int_equal(parts.instances, 3);
    for (uint32_t i = 0; i < parts.count; i++) {
        assert_int_equal(parts.parts[i].op, i / 2);
        assert_int_equal(parts.parts[i].rank, i / 2);
        assert_int_equal(parts.parts[i].sequence, 0);
        assert_int_equal(parts.parts[i].instance, instance[i]);
    }
    gt_collective_parts_free(&parts);
    gt_workload_free(w);
}

/* What is read, written and read again is the same; a copy too. */
static void written_again(void **state)
{
    struct gt_workload *w = must_read(
        HEADER WORLD STREAMS
        "{\"kernel\":\"x\",\"grid\":24,\"block\":512,\"collective\":\"reduce\",\"group\":\"world\",\"bytes\":4096,"
        "\"root\":1,\"datatype\":\"bfloat16\",\"reduction\":\"avg\",\"algorithm\":\"ring\",\"protocol\":\"ll128\"}"
        "\n" SUM SUM_A "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"b\",\"bytes\":1024}\n"
        "{\"call\":\"launch\",\"kernel\":\"x\",\"stream\":\"a\",\"bytes\":99}\n");
    struct gt_workload *copy = gt_workload_copy(w), *read;
    struct gt_error error = { "" };
    const struct gt_collective *collective;

    (void)state;
    if (gt_trace_write(copy, again, &error) != 0)
        fail_msg("%s", error.text);
    read = gt_trace_read(again, NULL, &error);
    if (read == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(read->group_count, 1);
    assert_int_equal(read->groups[0].size, 2);
    assert_int_equal(read->groups[0].members[1], 1);
    assert_int_equal(read->ops[0].kernel, read->ops[1].kernel);
    assert_false(read->kernels[read->ops[0].kernel].collective.shaped);
    collective = &gt_collective_kernel(read, 2)->collective;
    assert_int_equal(collective->kind, GT_REDUCE);
    assert_int_equal(collective->bytes, 99);
    assert_int_equal(collective->root, 1);
    assert_int_equal(collective->algorithm, GT_ALGORITHM_RING);
    assert_int_equal(collective->protocol, GT_PROTOCOL_LL128);
    assert_true(collective->shaped);
    assert_string_equal(gt_name_text(read, collective->datatype), "bfloat16");
    assert_string_equal(gt_name_text(read, collective->reduction), "avg");
    gt_workload_free(w);
    gt_workload_free(copy);
    gt_workload_free(read);
}

static const struct {
    unsigned line;
    const char *text, *why;
} wrong[] = {
    { 2, HEADER "{\"group\":7,\"gpus\":[0]}\n", "a group needs a name" },
    { 2, HEADER "{\"group\":\"g\"}\n", "\"gpus\", a list" },
    { 2, HEADER "{\"group\":\"g\",\"gpus\":[null]}\n", "by their names or numbers" },
    { 3, HEADER WORLD WORLD, "defined already, on line 2" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"sum\"}\n", "no \"sum\"; there are: none all_reduce" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"all_reduce\",\"bytes\":8}\n", "needs a \"group\"" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"all_reduce\",\"group\":\"w\",\"bytes\":8}\n",
      "no group w has been defined" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"all_reduce\",\"group\":\"world\"}\n", "needs \"bytes\"" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"group\":\"world\"}\n", "are for collectives only" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"reduce\",\"group\":\"world\",\"bytes\":8,\"root\":2}\n",
      "its root is rank 2, and group world has 2 ranks" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"all_gather\",\"group\":\"world\",\"bytes\":8,\"root\":1}\n",
      "for a broadcast or a reduce" },
    { 3, HEADER WORLD "{\"kernel\":\"k\",\"collective\":\"send_recv\",\"group\":\"world\",\"bytes\":8}\n",
      "goes \"to\" or comes \"from\" a rank of group world, 0 to 1" },
    { 3,
      HEADER WORLD
      "{\"kernel\":\"k\",\"collective\":\"all_reduce\",\"group\":\"world\",\"bytes\":8,\"block_us\":1}\n",
      "no block time" },
    { 7, HEADER WORLD STREAMS SUM "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"c\"}\n",
      "launched on GPU 2, which is no member of group world" },
    { 8, HEADER WORLD STREAMS SUM SUM_A "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"b\",\"bytes\":8}\n",
      "collective number 0 of group world is all_reduce of 8 bytes" },
    { 7,
      HEADER WORLD STREAMS
      "{\"kernel\":\"s\",\"collective\":\"send_recv\",\"group\":\"world\",\"bytes\":8,\"to\":0}\n"
      "{\"call\":\"launch\",\"kernel\":\"s\",\"stream\":\"a\"}\n",
      "sends to or gets from its own rank" },
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gt_error error = { "" };
        struct gt_workload *workload = read_text(wrong[i].text, &error);
        char place[96];

        snprintf(place, sizeof place, "%s:%u: ", path, wrong[i].line);
        if (workload != NULL)
            fail_msg("read, but should fail with: %s", wrong[i].why);
        if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, wrong[i].why) == NULL)
            fail_msg("\"%s\" is not \"%s...%s\"", error.text, place, wrong[i].why);
    }
}

/* A GPU twice, or none at all. */
static void refused_groups(void **state)
{
    struct gt_error error = { "" };

    (void)state;
    assert_null(read_text(HEADER "{\"group\":\"g\",\"gpus\":[0,1,0]}\n", &error));
    assert_non_null(strstr(error.text, ":2: group g: GPU 0 is two of its ranks"));
    assert_null(read_text(HEADER "{\"group\":\"g\",\"gpus\":[]}\n", &error));
    assert_non_null(strstr(error.text, ":2: group g has 0 members"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_by_order), cmocka_unit_test(messages_by_pair), cmocka_unit_test(written_again),
        cmocka_unit_test(refused),        cmocka_unit_test(refused_groups),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
