/* The warp tier on small programs whose cycles can be worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/warp_program.h"

/* Ten FFMA, each waiting four cycles for the one before: EXIT issues at 40. */
static void a_chain_takes_its_stall_counts(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 40);
    assert_int_equal(result.simulated, 11);
    assert_int_equal(result.issued[GT_PIPE_FMA], 10);
    assert_int_equal((int)result.stalls[GT_STALL_WAIT], 30);
}

/* 16 warps on 4 sub-partitions: 4 x 11 instructions a sub-partition, one a cycle, the last one at 43. */
static void a_sub_partition_issues_one_a_cycle(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 16, 1);
    assert_int_equal((int)result.run_cycles, 43);
    assert_int_equal((int)(result.issue_share * 43 + 0.5), 44);
}

/* The ALU takes an instruction every 2 cycles, FP64 here every 2.5: 0, 2, 5, 7; EXIT one behind. */
static void a_pipe_takes_one_an_interval(void **state)
{
    (void)state;
    set("pipe.fp64_interval_cycles", "2.5");
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_ALU, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 19);
    for (int i = 0; i < 4; i++)
        code[i].pipe = GT_PIPE_FP64;
    blocks[0].count = 5;
    code[4] = code[10];
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 8);
}

/* A shared load of one pass is there 29 cycles after it issued; four passes take three more. */
static void a_scoreboard_waits_for_shared_memory(void **state)
{
    struct gt_instruction *load;

    (void)state;
    accesses[0] = (struct gt_access){ .space = GT_SPACE_SHARED, .width_bytes = 4, .wavefronts = 1 };
    program.memory_count = 1;
    load = add(GT_PIPE_LSU, GT_ACTION_LOAD, 1);
    load->memory = 0;
    load->write_barrier = 0;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1)->wait_mask = 1;
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 30);
    assert_int_equal((int)result.stalls[GT_STALL_SHORT_SCOREBOARD], 28);
    accesses[0].wavefronts = 4;
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 33);
}

/* 32 warps with a load of 8 passes each: the load/store unit works 256 cycles, one pass a cycle. */
static void the_load_store_unit_serves_a_pass_a_cycle(void **state)
{
    struct gt_instruction *load;

    (void)state;
    accesses[0] = (struct gt_access){ .space = GT_SPACE_SHARED, .width_bytes = 4, .wavefronts = 8 };
    program.memory_count = 1;
    load = add(GT_PIPE_LSU, GT_ACTION_LOAD, 1);
    load->memory = 0;
    load->write_barrier = 0;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1)->wait_mask = 1;
    close_block(GT_END_EXIT);
    run(1, 32, 1);
    assert_int_equal((int)result.run_cycles, 256 - 1 + 29);
}

/* Of two groups of copies the wait lets one be left: it ends with the first, 600 cycles before the second. */
static void a_counting_wait_leaves_the_last_groups(void **state)
{
    struct gt_instruction *in;

    (void)state;
    set("memory.l1_latency_cycles", "400");
    accesses[0] = (struct gt_access){
        .space = GT_SPACE_GLOBAL, .width_bytes = 4, .sectors = 4, .sectors_ideal = 4, .tag_requests = 1
    };
    program.memory_count = 1;
    program.use.l1_load_hit = 1;
    for (int i = 0; i < 2; i++) {
        add(GT_PIPE_LSU, GT_ACTION_ASYNC_COPY, 1)->memory = 0;
        add(GT_PIPE_NONE, GT_ACTION_ASYNC_COMMIT, 15);
    }
    in = add(GT_PIPE_NONE, GT_ACTION_SCOREBOARD_WAIT, 1);
    in->argument2 = 1;
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 401); /* issued at 0, through the unit at 1 */
    in->argument2 = 0;
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 416 + 1); /* the second one issued at 16 */
}

/* Warp 1 runs ten FFMA of 4 cycles, then both meet: it comes at 41, is taken in at 43, and the barrier opens
 * 13 cycles later. */
static void a_barrier_opens_when_the_last_one_comes(void **state)
{
    struct gt_basic_block *split, *busy, *meet;

    (void)state;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    split = close_block(GT_END_BRANCH);
    split->choice = GT_CHOICE_RATIO;
    split->who = GT_WHO_ROLE;
    add_edge(split, 2, 1)->warps = 1;
    add_edge(split, 1, 1)->warps = 2;
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    busy = close_block(GT_END_FALL);
    add_edge(busy, 2, 1);
    add(GT_PIPE_ADU, GT_ACTION_BARRIER_SYNC, 1);
    add_exit();
    meet = close_block(GT_END_EXIT);
    assert_non_null(meet);
    run(1, 2, 1);
    assert_int_equal((int)result.run_cycles, 56);
    assert_int_equal((int)result.stalls[GT_STALL_BARRIER], (56 - 2) + (56 - 42));
}

/* 7 trips for 2 arrivals: 3 and 4, so that all warps together make the trips of the profile. */
static void trips_add_up(void **state)
{
    struct gt_basic_block *body;

    (void)state;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 2, .trips = 7 };
    program.loop_count = 1;
    program.warps = 2;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    body = close_block(GT_END_BRANCH);
    body->loop = 0;
    body->choice = GT_CHOICE_LOOP;
    add_edge(body, 0, 5)->back = true;
    add_edge(body, 1, 2)->leaves = true;
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 2, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 7);
    run(8, 2, 4);
    assert_int_equal(result.issued[GT_PIPE_FMA], 56);
}

/* 2 warps make 6 trips, 3 each, and end at the EXIT in the third; one of the 4 trips before goes past it.
 * A trip takes 15 cycles for the FFMA, one for its branch, one for the jump back, 2 more past the EXIT; to
 * the EXIT of the last one it is 15 + 1 + 1: one warp's issues at 17 + 17 + 17 = 51, the other's at 53. */
static void loops_end_at_an_exit_in_the_last_trip(void **state)
{
    struct gt_basic_block *head, *way, *back;

    (void)state;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 2, .trips = 6, .ends = true };
    program.loop_count = 1;
    program.warps = 2;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 15);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    head = close_block(GT_END_BRANCH);
    head->loop = 0;
    head->choice = GT_CHOICE_RATIO;
    head->executions = 6;
    add_edge(head, 2, 3)->leads_out = false;
    add_edge(head, 1, 3);
    add(GT_PIPE_ALU, GT_ACTION_COMPUTE, 1);
    add_exit();
    way = close_block(GT_END_EXIT);
    way->loop = 0;
    way->choice = GT_CHOICE_RATIO;
    way->executions = 3;
    add_edge(way, 2, 1)->leads_out = false;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    back = close_block(GT_END_BRANCH);
    back->loop = 0;
    add_edge(back, 0, 4)->back = true;
    edges[back->first_edge].leads_out = false;
    run(1, 2, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 6);
    assert_int_equal(result.issued[GT_PIPE_ALU], 3);
    assert_int_equal((int)result.run_cycles, 53);
}

/* A quarter of the warps goes the long way. */
static void ratios_are_dealt_out(void **state)
{
    struct gt_basic_block *choice, *way;

    (void)state;
    program.warps = 4;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    choice = close_block(GT_END_BRANCH);
    choice->choice = GT_CHOICE_RATIO;
    choice->who = GT_WHO_WARP;
    choice->executions = 4;
    add_edge(choice, 2, 3);
    add_edge(choice, 1, 1);
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    way = close_block(GT_END_FALL);
    add_edge(way, 2, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(10, 4, 2);
    assert_int_equal(result.issued[GT_PIPE_FMA], 10);
}

/* Of 8 blocks on 4 SMs one goes the long way, as a block does that ends last: the last of our SM's 2. */
static void the_last_block_takes_a_rare_path(void **state)
{
    struct gt_basic_block *choice, *way;

    (void)state;
    set("chip.sms", "4");
    program.warps = 8;
    program.memory_count = 1;
    accesses[0] = (struct gt_access){ .space = GT_SPACE_GLOBAL, .sectors = 1, .tag_requests = 1 };
    struct gt_instruction *count = add(GT_PIPE_LSU, GT_ACTION_ATOMIC, 1);
    count->memory = 0;
    close_block(GT_END_FALL);
    add_edge(&blocks[0], 1, 8);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    choice = close_block(GT_END_BRANCH);
    choice->choice = GT_CHOICE_RATIO;
    choice->who = GT_WHO_BLOCK;
    choice->executions = 8;
    add_edge(choice, 3, 7);
    add_edge(choice, 2, 1);
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    way = close_block(GT_END_FALL);
    add_edge(way, 3, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(8, 1, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 1);
    assert_int_equal(result.simulated, 3 + 4);
    /* Where it is the short way that is rare, both take the long one. */
    edges[1].executions = 1;
    edges[2].executions = 7;
    run(8, 1, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 2);
    /* Where blocks do not count themselves, it is work that there is for one of them: our SM has it. */
    edges[1].executions = 7;
    edges[2].executions = 1;
    count->action = GT_ACTION_LOAD;
    run(8, 1, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 1);
}

/* A warp whose threads part runs both sides, one after the other, and goes on where they meet. */
static void both_sides_of_a_divergence_run(void **state)
{
    struct gt_basic_block *split, *side, *meet;

    (void)state;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    split = close_block(GT_END_BRANCH);
    split->choice = GT_CHOICE_RATIO;
    split->divergent = 1;
    split->join = 3;
    add_edge(split, 1, 1)->alone = 0;
    add_edge(split, 2, 1)->alone = 0;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    side = close_block(GT_END_FALL);
    add_edge(side, 2, 1);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    meet = close_block(GT_END_JOIN);
    meet->executions = 2;
    add_edge(meet, 3, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 1);
    assert_int_equal(result.simulated, 1 + 1 + 2 + 1);
}

/* 1,000 blocks in steady state: a few waves say what all of them would. */
static void waves_are_extrapolated(void **state)
{
    struct gt_warp_launch launch = {
        .program = &program, .blocks = 20000, .warps_per_block = 8, .blocks_per_sm = 4, .cluster_blocks = 1
    };
    struct gt_warp_result all;

    (void)state;
    for (int i = 0; i < 40; i++)
        add(GT_PIPE_ALU, GT_ACTION_COMPUTE, 2);
    add_exit();
    close_block(GT_END_EXIT);
    program.warp_instructions = 41;
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), 0);
    assert_true(result.simulated < 41 * 8 * 20000ull);
    launch.full = true;
    assert_int_equal(gt_warp_run(&device, &launch, &all, &error), 0);
    assert_int_equal(all.simulated, 41 * 8 * 20000ull);
    assert_true(result.cycles <= all.cycles + result.bound_cycles + 1e-3 * all.cycles);
    assert_true(result.cycles >= all.cycles - result.bound_cycles - 1e-3 * all.cycles);
    assert_int_equal(result.covered, all.simulated);
    free(all.stalls_by_instruction);
}

/* A loop of 1,000,000 trips: 20 million instructions say what its 40 million would. */
static void long_loops_are_extrapolated(void **state)
{
    struct gt_basic_block *body;

    (void)state;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 1, .trips = 1000000 };
    program.loop_count = 1;
    program.warp_instructions = 40 * 1000000ull + 1;
    for (int i = 0; i < 40; i++)
        add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    body = close_block(GT_END_BRANCH);
    body->loop = 0;
    body->choice = GT_CHOICE_LOOP;
    add_edge(body, 0, 999999)->back = true;
    add_edge(body, 1, 1)->leaves = true;
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    double all = result.run_cycles;
    struct gt_warp_launch launch = { .program = &program, .blocks = 1, .warps_per_block = 1, .blocks_per_sm = 1 };
    free(result.stalls_by_instruction);
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), 0);
    assert_true(result.simulated < 21000000);
    assert_true(result.run_cycles <= all * 1.0001 && result.run_cycles >= all * 0.9999);
}

/* A bulk load fills a phase; the warp that empties it waits for the bytes, not for the poll. */
static void a_phase_is_there_when_its_bytes_are(void **state)
{
    struct gt_instruction *in;

    (void)state;
    set("memory.l2_near_latency_cycles", "200");
    set("memory.l2_far_latency_cycles", "200");
    set("memory.bulk_latency_cycles", "100");
    set("memory.bulk_issue_cycles", "1");
    set("memory.sm_bytes_per_cycle", "64");
    set("memory.l2_read_bytes_per_cycle", "64");
    accesses[0] = (struct gt_access){ .space = GT_SPACE_GLOBAL, .bulk_bytes = 6400 };
    program.memory_count = 1;
    program.use.l2_read_hit = 1;
    in = add(GT_PIPE_LSU, GT_ACTION_MBARRIER_ARRIVE, 1);
    in->argument = 1;
    add(GT_PIPE_TMA, GT_ACTION_BULK_LOAD, 1)->memory = 0;
    add(GT_PIPE_LSU, GT_ACTION_MBARRIER_WAIT, 1)->write_barrier = 0;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1)->wait_mask = 1;
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    /* Issued at 1, started at 2, 100 cycles on the way, 200 and 100 of latency. */
    assert_int_equal((int)result.run_cycles, 402);
    assert_int_equal(result.forced, 0);
}

/* A phase that nothing fills does not hang: the wait is let pass, and counted. */
static void a_wait_for_nothing_is_let_pass(void **state)
{
    (void)state;
    accesses[0] = (struct gt_access){ .space = GT_SPACE_GLOBAL, .bulk_bytes = 64 };
    program.memory_count = 1;
    add(GT_PIPE_LSU, GT_ACTION_MBARRIER_WAIT, 1);
    add(GT_PIPE_TMA, GT_ACTION_BULK_LOAD, 1)->memory = 0;
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal(result.forced, 1);
}

/* A loop without a way out, as counts make it that contradict each other. */
static void a_loop_without_end_is_given_up(void **state)
{
    struct gt_warp_launch launch = { .program = &program, .blocks = 1, .warps_per_block = 1, .blocks_per_sm = 1 };

    (void)state;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 1, .trips = 10 };
    program.loop_count = 1;
    program.warp_instructions = 10;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    close_block(GT_END_BRANCH)->loop = 0;
    add_edge(&blocks[0], 0, 10)->back = true;
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), -1);
    assert_non_null(strstr(error.text, "program 'p': given up"));
    launch.full = true;
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), -1);
    result.stalls_by_instruction = NULL;
}

/* Counts of 0 say nothing of how many blocks are enough: not all of 2^40. */
static void blocks_that_count_nothing_are_extrapolated(void **state)
{
    struct gt_warp_launch launch = {
        .program = &program, .blocks = UINT64_C(1) << 40, .warps_per_block = 1, .blocks_per_sm = 1
    };

    (void)state;
    add_exit();
    close_block(GT_END_EXIT);
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), 0);
    assert_true(result.simulated > 0 && result.simulated < 10000000);
}

static void mistakes_are_told(void **state)
{
    struct gt_warp_launch launch = { .program = &program, .blocks = 1, .warps_per_block = 1, .blocks_per_sm = 1 };

    (void)state;
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), -1);
    assert_non_null(strstr(error.text, "has no instructions"));
    set("warp.policy", "coin");
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), -1);
    assert_non_null(strstr(error.text, "greedy-oldest"));
    launch.blocks = 0;
    assert_int_equal(gt_warp_run(&device, &launch, &result, &error), -1);
    result.stalls_by_instruction = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chain_takes_its_stall_counts),
        TEST(a_sub_partition_issues_one_a_cycle),
        TEST(a_pipe_takes_one_an_interval),
        TEST(a_scoreboard_waits_for_shared_memory),
        TEST(the_load_store_unit_serves_a_pass_a_cycle),
        TEST(a_counting_wait_leaves_the_last_groups),
        TEST(a_barrier_opens_when_the_last_one_comes),
        TEST(trips_add_up),
        TEST(loops_end_at_an_exit_in_the_last_trip),
        TEST(ratios_are_dealt_out),
        TEST(the_last_block_takes_a_rare_path),
        TEST(both_sides_of_a_divergence_run),
        TEST(waves_are_extrapolated),
        TEST(long_loops_are_extrapolated),
        TEST(a_phase_is_there_when_its_bytes_are),
        TEST(a_wait_for_nothing_is_let_pass),
        TEST(a_loop_without_end_is_given_up),
        TEST(blocks_that_count_nothing_are_extrapolated),
        TEST(mistakes_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
