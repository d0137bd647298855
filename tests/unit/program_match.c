/* Kernels of a timeline find their programs in profiles: by name, block, grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/warp/launch.h"
#include "sim/workload/program.h"
#include "traces/sass/program_match.h"

/* "void a::f<int>(int)" and "void a::f<float>(int)" as their compiler named them. */
#define F_INT   "_ZN1a1fIiEEvi"
#define F_FLOAT "_ZN1a1fIfEEvi"

/* A workload of launches, added one by one; profiled ones have a program each, which its key tells. */
static uint32_t launch(struct gt_workload *w, const char *name, uint32_t grid, uint32_t block, const char *key)
{
    struct gt_kernel kernel = { .name = gt_name(w, name, strlen(name)),
                                .grid = { grid, 1, 1 },
                                .block = { block, 1, 1 },
                                .duration_ps = GT_TIME_NONE,
                                .runs = GT_NONE,
                                .arguments = GT_NONE };
    uint32_t op;

    if (key != NULL) {
        struct gt_program *program = gt_calloc(1, sizeof *program);

        program->key = strdup(key);
        program->warps_per_block = (block + 31) / 32;
        program->warps = (uint64_t)grid * program->warps_per_block;
        gt_workload_add_program(w, program);
        kernel.program = program;
    }
    op = gt_workload_add_op(w);
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
    return op;
}

struct fixture {
    struct gt_workload *timeline, *profiled;
    struct gt_program_matches matches;
};

static int begin(void **state)
{
    struct fixture *f = gt_calloc(1, sizeof *f);

    f->timeline = gt_workload_new();
    f->profiled = gt_workload_new();
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;

    free(f->matches.how);
    gt_workload_free(f->timeline);
    gt_workload_free(f->profiled);
    free(f);
    return 0;
}

static void attach(struct fixture *f)
{
    gt_match_programs(f->timeline, &f->profiled, 1, &f->matches);
}

/* What operation `op` of the timeline found; "" nothing. */
static const char *found(const struct fixture *f, uint32_t op)
{
    const struct gt_program *program = f->timeline->kernels[f->timeline->ops[op].kernel].program;

    return program != NULL ? program->key : "";
}

static enum gt_program_match how(const struct fixture *f, uint32_t op)
{
    return f->matches.how[f->timeline->ops[op].kernel];
}

static void names_match_as_traced_demangled_or_bare(void **state)
{
    struct fixture *f = *state;

    launch(f->profiled, F_FLOAT, 8, 64, "float");
    launch(f->profiled, F_INT, 8, 64, "int");
    launch(f->profiled, "triton_add", 8, 64, "triton");
    uint32_t mangled = launch(f->timeline, F_INT, 8, 64, NULL);
    uint32_t spaced = launch(f->timeline, "void a::f< int >(int)", 8, 64, NULL);
    uint32_t bare = launch(f->timeline, "f", 8, 64, NULL);
    uint32_t triton = launch(f->timeline, "triton_add", 8, 64, NULL);
    uint32_t other_arguments = launch(f->timeline, "void a::f<long>(int)", 8, 64, NULL);
    uint32_t part = launch(f->timeline, "triton", 8, 64, NULL);
    attach(f);
    assert_string_equal(found(f, mangled), "int");
    assert_string_equal(found(f, spaced), "int");
    assert_string_equal(found(f, bare), "float"); /* any f will do */
    assert_string_equal(found(f, triton), "triton");
    assert_string_equal(found(f, other_arguments), "");
    assert_int_equal(how(f, other_arguments), GT_MATCH_UNKNOWN);
    assert_int_equal(how(f, part), GT_MATCH_UNKNOWN);
    assert_int_equal(f->matches.kernels[GT_MATCH_SAME], 4);
}

/* Two launches of one shape, of other depths: the timeline's four take them in turn. */
static void launches_of_one_shape_take_turns(void **state)
{
    static const char *const in_turn[] = { "shallow", "deep", "shallow", "deep" };
    struct fixture *f = *state;
    uint32_t ops[4];

    launch(f->profiled, "gemm", 8, 64, "shallow");
    launch(f->profiled, "other", 8, 64, "other");
    launch(f->profiled, "gemm", 8, 64, "deep");
    launch(f->profiled, "gemm", 9, 64, "larger");
    for (int i = 0; i < 4; i++) {
        ops[i] = launch(f->timeline, "gemm", 8, 64, NULL);
        launch(f->timeline, "other", 8, 64, NULL);
    }
    attach(f);
    for (int i = 0; i < 4; i++)
        assert_string_equal(found(f, ops[i]), in_turn[i]);
    assert_string_equal(found(f, ops[3] + 1), "other");
    assert_int_equal(f->timeline->kernel_count, 3);
    assert_int_equal(f->matches.count, 2);
    assert_int_equal(f->matches.kernels[GT_MATCH_SAME], 2);
    assert_int_equal(f->matches.launches[GT_MATCH_SAME], 8);
}

/* The name as traced goes before the grid. */
static void a_better_name_wins(void **state)
{
    struct fixture *f = *state;

    launch(f->profiled, "b::g(int)", 8, 64, "of another namespace");
    launch(f->profiled, "g", 9, 64, "its own");
    uint32_t op = launch(f->timeline, "g", 8, 64, NULL);
    attach(f);
    assert_string_equal(found(f, op), "its own");
    assert_int_equal(how(f, op), GT_MATCH_SCALED);
}

static void the_same_grid_else_the_nearest(void **state)
{
    struct fixture *f = *state;

    launch(f->profiled, "k", 100, 64, "100");
    launch(f->profiled, "k", 400, 64, "400");
    launch(f->profiled, "k", 150, 64, "150");
    launch(f->profiled, "k", 150, 128, "other block");
    uint32_t same = launch(f->timeline, "k", 150, 64, NULL);
    uint32_t nearest = launch(f->timeline, "k", 210, 64, NULL); /* 210/150 = 1.4, 400/210 = 1.9 */
    uint32_t larger = launch(f->timeline, "k", 300, 64, NULL);  /* 300/150 = 2, 400/300 = 1.3 */
    uint32_t block = launch(f->timeline, "k", 150, 32, NULL);
    attach(f);
    assert_string_equal(found(f, same), "150");
    assert_int_equal(how(f, same), GT_MATCH_SAME);
    assert_string_equal(found(f, nearest), "150");
    assert_int_equal(how(f, nearest), GT_MATCH_SCALED);
    assert_string_equal(found(f, larger), "400");
    assert_string_equal(found(f, block), "");
    assert_int_equal(how(f, block), GT_MATCH_OTHER_BLOCK);
}

/* Stated as none, they are not compared; another grid may have other dynamic shared memory. */
static void other_resources_are_counted(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < 4; i++)
        launch(f->profiled, (const char *[]){ "same", "none", "more", "grid" }[i], 8, 64, "code");
    for (uint32_t i = 0; i < 4; i++)
        f->profiled->kernels[i].registers_per_thread = 20;
    launch(f->timeline, "none", 8, 64, NULL);
    f->timeline->kernels[f->timeline->ops[launch(f->timeline, "same", 8, 64, NULL)].kernel].registers_per_thread = 20;
    f->timeline->kernels[f->timeline->ops[launch(f->timeline, "grid", 9, 64, NULL)].kernel].registers_per_thread = 30;
    uint32_t more = f->timeline->ops[launch(f->timeline, "more", 8, 64, NULL)].kernel;
    f->timeline->kernels[more].registers_per_thread = 20;
    f->timeline->kernels[more].dynamic_shared_bytes = 100;
    attach(f);
    assert_int_equal(f->matches.differing, 1);
    assert_int_equal(f->matches.first_differing, more);
    assert_int_equal(f->matches.registers_per_thread, 20);
    assert_int_equal(f->matches.shared_bytes, 0);
}

static void launches_are_counted_and_the_missing_warned_of(void **state)
{
    struct fixture *f = *state;

    launch(f->profiled, "k", 1, 32, "k");
    for (int i = 0; i < 3; i++)
        launch(f->timeline, "k", 1, 32, NULL);
    launch(f->timeline, "own", 1, 32, "own");
    for (int i = 0; i < 2; i++)
        launch(f->timeline, "missing", 1, 32, NULL);
    launch(f->timeline, "k", 1, 64, NULL);
    attach(f);
    assert_int_equal(f->matches.kernels[GT_MATCH_SAME], 1);
    assert_int_equal(f->matches.launches[GT_MATCH_SAME], 3);
    assert_int_equal(f->matches.launches[GT_MATCH_OWN], 1);
    assert_int_equal(f->matches.launches[GT_MATCH_UNKNOWN], 2);
    assert_int_equal(f->matches.launches[GT_MATCH_OTHER_BLOCK], 1);
}

static void programs_outlast_the_profile(void **state)
{
    struct fixture *f = *state;

    launch(f->profiled, "k", 1, 32, "k");
    uint32_t op = launch(f->timeline, "k", 1, 32, NULL), other = launch(f->timeline, "k", 2, 32, NULL);
    attach(f);
    gt_workload_free(f->profiled);
    f->profiled = NULL;
    assert_string_equal(found(f, op), "k");
    assert_string_equal(found(f, other), "k");
    assert_int_equal(f->timeline->program_count, 1);
}

/* 8 blocks of 2 warps were profiled: clusters of 2, 1600 warp instructions, 100 in the busiest
 * sub-partition.  A grid of 12 executes 2400; how its sub-partitions are loaded nobody knows. */
static void what_the_profiler_saw_goes_along(void **state)
{
    struct fixture *f = *state;
    struct gt_profile profile = {
        .cycles = 1000, .warp_instructions = 1600, .busiest_warp_instructions = 100, .cluster = { 2, 1, 1 }
    };
    struct gt_warp_launch played;
    struct gt_device device;
    struct gt_error error;

    profile.op = launch(f->profiled, "k", 8, 64, "k");
    gt_workload_add_profile(f->profiled, &profile);
    uint32_t same = launch(f->timeline, "k", 8, 64, NULL), larger = launch(f->timeline, "k", 12, 64, NULL);
    attach(f);
    gt_device_init(&device);
    assert_int_equal(gt_warp_launch_of(&device, f->timeline, same, &played, &error), 0);
    assert_int_equal(played.cluster_blocks, 2);
    assert_int_equal(played.warp_instructions, 1600);
    assert_int_equal(played.busiest_warp_instructions, 100);
    assert_int_equal(gt_warp_launch_of(&device, f->timeline, larger, &played, &error), 0);
    assert_int_equal(played.cluster_blocks, 2);
    assert_int_equal(played.warp_instructions, 2400);
    assert_int_equal(played.busiest_warp_instructions, 0);
    assert_null(gt_workload_profile(f->timeline, same));
}

/* Tensor cores at work: 1500 MHz where others run at 2000.  1950 may be the grain of a short time. */
static void the_clock_of_a_launch_goes_along(void **state)
{
    static const double clocks_hz[] = { 2e9, 1.5e9, 1.95e9, 0 };
    static const char *const names[] = { "fast", "slow", "short", "unknown" };
    static const double shares[] = { 1, 0.75, 1, 1 };
    struct fixture *f = *state;

    for (int i = 0; i < 4; i++) {
        struct gt_profile profile = { .sm_hz = clocks_hz[i], .cluster = { 1, 1, 1 } };

        profile.op = launch(f->profiled, names[i], 8, 64, names[i]);
        gt_workload_add_profile(f->profiled, &profile);
        launch(f->timeline, names[i], 8, 64, NULL);
    }
    attach(f);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(f->timeline->kernels[i].program->clock_share == shares[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_match_as_traced_demangled_or_bare, begin, end),
        cmocka_unit_test_setup_teardown(a_better_name_wins, begin, end),
        cmocka_unit_test_setup_teardown(launches_of_one_shape_take_turns, begin, end),
        cmocka_unit_test_setup_teardown(the_same_grid_else_the_nearest, begin, end),
        cmocka_unit_test_setup_teardown(other_resources_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(launches_are_counted_and_the_missing_warned_of, begin, end),
        cmocka_unit_test_setup_teardown(programs_outlast_the_profile, begin, end),
        cmocka_unit_test_setup_teardown(what_the_profiler_saw_goes_along, begin, end),
        cmocka_unit_test_setup_teardown(the_clock_of_a_launch_goes_along, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
