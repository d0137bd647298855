/* Kernels whose blocks launch kernels: how a launch is expanded, and that nothing is lost between reading and writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/changes/changes.h"
#include "sim/workload/child_launches.h"
#include "traces/jsonl/trace.h"
#include "traces/names/demangle.h"

#define HEADER "{\"gridtide\":1}\n"
#define LEAF   "{\"kernel\":\"leaf\",\"grid\":2,\"block\":32,\"block_us\":1}\n"
#define TREE                                                                                               \
    "{\"kernel\":\"tree\",\"grid\":4,\"block\":32,\"block_us\":1,\"launches\":["                           \
    "{\"kernel\":\"leaf\",\"every\":2,\"at\":0.5,\"stream\":3},{\"kernel\":\"tree\",\"blocks\":\"last\","  \
    "\"count\":2,\"depth\":1,\"into\":\"tail\"},{\"kernel\":\"leaf\",\"block_numbers\":[2],\"at\":0.25,\"" \
    "into\":\"fire_and_forget\",\"depth\":1}]}\n"

static char folder[] = "/tmp/gridtide-child-XXXXXX";
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

/* Parent, block and kernel of one operation. */
static void check(const struct gt_workload *w, gt_op_index op, gt_op_index parent, uint64_t block, const char *kernel,
                  uint32_t depth)
{
    const struct gt_child_launch *child = gt_child_launch_of(w, op);

    assert_non_null(child);
    assert_int_equal(child->parent, parent);
    assert_int_equal(child->block, block);
    assert_int_equal(child->depth, depth);
    assert_string_equal(gt_name_text(w, w->kernels[w->ops[op].kernel].name), kernel);
    assert_int_equal(w->ops[op].call, 0);
}

/* A grid's launches by block, then by time; then those of its children. */
static void check_tree(const struct gt_workload *w)
{
    uint32_t first;

    assert_int_equal(w->op_count, 10);
    assert_null(gt_child_launch_of(w, 0));
    check(w, 1, 0, 0, "leaf", 1);
    check(w, 2, 0, 2, "leaf", 1);
    check(w, 3, 0, 2, "leaf", 1);
    check(w, 4, 0, 3, "tree", 1);
    check(w, 5, 0, 3, "tree", 1);
    for (gt_op_index op = 6; op < 10; op++)
        check(w, op, op < 8 ? 4 : 5, op % 2 == 0 ? 0 : 2, "leaf", 2);
    assert_int_equal(gt_child_launch_rule(w, gt_child_launch_of(w, 2))->into, GT_INTO_FIRE_AND_FORGET);
    assert_int_equal(gt_child_launch_rule(w, gt_child_launch_of(w, 3))->stream, 3);
    assert_int_equal(gt_child_launches_by(w, 0, &first), 5);
    assert_int_equal(first, 0);
    assert_int_equal(gt_child_launches_by(w, 5, &first), 2);
    assert_int_equal(first, 7);
    assert_int_equal(gt_child_launches_by(w, 6, &first), 0);
}

static void a_launch_is_expanded_and_written_as_it_was_typed(void **state)
{
    struct gt_error error = { "" };
    struct gt_workload *w = read_text(HEADER LEAF TREE "{\"call\":\"launch\",\"kernel\":\"tree\"}\n", &error), *back;

    (void)state;
    assert_non_null(w);
    assert_int_equal(gt_workload_check(w, &error), 0);
    check_tree(w);
    assert_int_equal(gt_trace_write(w, again, &error), 0);
    back = gt_trace_read(again, NULL, &error);
    assert_non_null(back);
    check_tree(back);
    gt_workload_free(w);
    w = gt_workload_copy(back);
    gt_workload_free(back);
    check_tree(w);
    gt_workload_free(w);
}

static void wrong_launches_are_refused(void **state)
{
    /* clang-format off */
    static const struct { const char *launches, *why; } wrong[] = {
        { "{\"kernel\":\"k\"}", "\"depth\" must limit the nesting" },
        { "{\"kernel\":\"other\"}", "no kernel other has been defined" },
        { "{\"blocks\":\"all\"}", "\"kernel\" is missing" },
        { "{\"kernel\":\"leaf\",\"count\":0}", "\"count\" must be at least 1" },
        { "{\"kernel\":\"leaf\",\"at\":1.5}", "a fraction of the block's time" },
        { "{\"kernel\":\"leaf\",\"every\":0}", "\"every\" must be at least 1" },
        { "{\"kernel\":\"leaf\",\"every\":2,\"blocks\":\"first\"}", "give one of" },
        { "{\"kernel\":\"leaf\",\"block_numbers\":[2,2]}", "ascending order" },
        { "{\"kernel\":\"leaf\",\"block_numbers\":[]}", "is empty" },
        { "{\"kernel\":\"leaf\",\"into\":\"stream\"}", "with \"into\": \"stream\"" },
        { "{\"kernel\":\"leaf\",\"into\":\"tail\",\"stream\":1}", "\"stream\" only" },
        { "{\"kernel\":\"leaf\",\"whither\":1}", "unknown field of a launch" },
        { "{\"kernel\":\"k\",\"count\":2,\"depth\":20}", "more than 1048576 further ones" },
        { "7", "must be a list of objects" },
    };
    /* clang-format on */
    char text[600];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gt_error error = { "" };

        snprintf(text, sizeof text,
                 HEADER LEAF "{\"kernel\":\"k\",\"block_us\":1,\"launches\":[%s]}\n"
                             "{\"call\":\"launch\",\"kernel\":\"k\"}\n",
                 wrong[i].launches);
        assert_null(read_text(text, &error));
        if (strstr(error.text, wrong[i].why) == NULL)
            fail_msg("%s: %s", wrong[i].launches, error.text);
    }
}

/* Without its parent a kernel is not launched either. */
static void what_is_left_out_launches_nothing(void **state)
{
    struct gt_error error = { "" };
    struct gt_workload *w = read_text(HEADER LEAF TREE "{\"call\":\"launch\",\"kernel\":\"leaf\"}\n"
                                                       "{\"call\":\"launch\",\"kernel\":\"tree\"}\n",
                                      &error);
    static const struct gt_whatif_host host = { .fit_kernel = gt_name_fit };
    struct gt_scenario scenario;
    struct gt_device device;
    struct gt_change change;

    (void)state;
    gt_device_init(&device);
    assert_int_equal(gt_change_parse("remove=tree", &change, &error), 0);
    gt_scenario_begin(&scenario, w, &device, &device, &host);
    assert_int_equal(gt_changes_apply(&change, 1, &scenario, &error), 0);
    assert_int_equal(scenario.workload->op_count, 1);
    assert_int_equal(scenario.workload->child_launch_count, 0);
    gt_scenario_free(&scenario);
    gt_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_is_expanded_and_written_as_it_was_typed),
        cmocka_unit_test(wrong_launches_are_refused),
        cmocka_unit_test(what_is_left_out_launches_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("child launches", tests, setup, teardown);
}
