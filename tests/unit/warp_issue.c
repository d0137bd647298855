/* The warp tier's issue: matrix products and barriers, on small programs worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/warp_program.h"

/* Cycle at which EXIT issues behind three independent products of 8 columns and depth `k`. */
static int products(enum gt_element element, uint8_t m, uint16_t k)
{
    program.instruction_count = program.block_count = 0;
    for (int i = 0; i < 3; i++) {
        struct gt_instruction *in = add(GT_PIPE_TENSOR, GT_ACTION_COMPUTE, 1);

        in->element = element;
        in->gmma_m = m;
        in->gmma_n = 8;
        in->gmma_k = k;
    }
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    return (int)result.run_cycles;
}

/* 2 cycles to start, and 16 x 8 x k multiply-adds of 16 bits at 512 a cycle: 2 + 4 cycles for k = 16, 2 + 2
 * for k = 8; the third one issues at 12 or 8, EXIT a cycle later.  32-bit elements take the time of twice
 * as many, 8-bit ones of half; 64-bit ones have 8 rows and take 2 + 14. */
static void a_product_takes_the_time_of_its_bits(void **state)
{
    (void)state;
    set("pipe.mma_start_cycles", "2");
    set("pipe.mma_per_cycle", "512");
    assert_int_equal(products(GT_ELEMENT_16_BITS, 16, 16), 13);
    assert_int_equal(products(GT_ELEMENT_16_BITS, 16, 8), 9);
    assert_int_equal(products(GT_ELEMENT_32_BITS, 16, 8), 13);
    assert_int_equal(products(GT_ELEMENT_8_BITS, 16, 32), 13);
    assert_int_equal(products(GT_ELEMENT_64_BITS, 8, 4), 33);
}

/* Eight warps come to their barrier at 0 and 1; it takes in one every 2 cycles, the last one by 16, and opens
 * 13 later: the second warps' EXIT issues at 30. */
static void a_barrier_takes_in_one_warp_after_the_other(void **state)
{
    (void)state;
    add(GT_PIPE_NONE, GT_ACTION_BARRIER_SYNC, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 8, 1);
    assert_int_equal((int)result.run_cycles, 30);
}

/* "FFMA Rc, Ra, Rb, Rc" or DFMA, of `pipe`, that stalls for `stall` cycles: its operands are the registers `a`, `b` and
 * `c`, each `registers` wide, the ones at places `reuse` kept. */
static void add_multiply(uint8_t pipe, uint8_t stall, uint8_t registers, uint8_t a, uint8_t b, uint8_t c,
                         uint8_t reuse)
{
    struct gt_instruction *in = add(pipe, GT_ACTION_COMPUTE, stall);

    in->reuse = reuse;
    in->operand_count = 4;
    in->operands[0] = (struct gt_operand){ GT_FILE_VECTOR, c, registers, GT_OPERAND_WRITTEN, GT_NO_PLACE };
    in->operands[1] = (struct gt_operand){ GT_FILE_VECTOR, a, registers, 0, 0 };
    in->operands[2] = (struct gt_operand){ GT_FILE_VECTOR, b, registers, 0, 1 };
    in->operands[3] = (struct gt_operand){ GT_FILE_VECTOR, c, registers, 0, 2 };
}

static void add_ffma(uint8_t a, uint8_t b, uint8_t c, uint8_t reuse)
{
    add_multiply(GT_PIPE_FMA, 1, 1, a, b, c, reuse);
}

/* Eight times R8 x R10 + R2: three registers of the even bank each, 24 cycles of reading.  Reading may be 1
 * cycle behind: EXIT issues at 23, not 8.  With R8 and R10 kept, each reads R2 only, the first one all: 10
 * cycles of reading, the bank is 2 behind from the first on, 1 may be: EXIT at 9.  With R9 for R10 the even
 * bank gives two an FFMA, 16 cycles: EXIT at 15. */
static void operands_are_read_one_a_cycle_and_bank(void **state)
{
    static const struct {
        uint8_t b, reuse;
        int cycles, reads; /* of the even bank, by one of the four sub-partitions */
    } cases[] = { { 10, 0, 23, 24 }, { 10, 3, 9, 10 }, { 9, 0, 15, 16 } };

    (void)state;
    set("pipe.read_behind_cycles", "1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        program.instruction_count = program.block_count = 0;
        for (int k = 0; k < 8; k++)
            add_ffma(8, cases[i].b, 2, cases[i].reuse);
        add_exit();
        /* The encoding's reuse is known where anything is kept. */
        code[program.instruction_count - 1].reuse = 1;
        close_block(GT_END_EXIT);
        run(1, 1, 1);
        assert_int_equal((int)result.run_cycles, cases[i].cycles);
        assert_float_equal(result.busy[GT_RESOURCE_BANKS] * result.run_cycles, cases[i].reads / 4.0, 0.01);
    }
    assert_true(result.stalls[GT_STALL_DISPATCH] > 0);
}

/* Two warps that take turns each cycle, eight times R8 x R10 + R2 with R8 and R10 kept: what one keeps the other's
 * instruction takes the place of, so that all three are read 16 times, 48 cycles.  The last one reads 1 cycle behind:
 * the EXITs issue at 47 and 48. */
static void what_a_warp_keeps_is_gone_when_another_issues(void **state)
{
    (void)state;
    set("pipe.read_behind_cycles", "1");
    program.instruction_count = program.block_count = 0;
    for (int k = 0; k < 8; k++)
        add_multiply(GT_PIPE_FMA, 4, 1, 8, 10, 2, 3);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 8, 1);
    assert_int_equal((int)result.run_cycles, 48);
}

/* Eight doubles of three operands: 3 cycles each, the last one issues at 21, EXIT at 22.  With two of them kept the
 * first one reads three and the others one, but the pipe takes 2 cycles: 3 + 6 x 2, EXIT at 16.  Known where another
 * program of the trace keeps anything, too. */
static void doubles_wait_for_their_operands(void **state)
{
    (void)state;
    set("pipe.fp64_interval_cycles", "2");
    for (int kept = 0; kept < 2; kept++) {
        program.instruction_count = program.block_count = 0;
        for (int k = 0; k < 8; k++)
            add_multiply(GT_PIPE_FP64, 1, 2, 8, 10, 2, kept ? 3 : 0);
        add_exit();
        close_block(GT_END_EXIT);
        program.reuse_known = true;
        run(1, 1, 1);
        assert_int_equal((int)result.run_cycles, kept ? 16 : 22);
    }
    program.reuse_known = false;
}

/* Cycles of six blocks on two SMs with room for two; the busiest sub-partition executed `busiest`. */
static int six_blocks(uint64_t busiest)
{
    struct gt_warp_launch launch = { .program = &program,
                                     .blocks = 6,
                                     .warps_per_block = 4,
                                     .blocks_per_sm = 2,
                                     .cluster_blocks = 1,
                                     .busiest_warp_instructions = busiest,
                                     .counted_sms = 2 };

    free(result.stalls_by_instruction);
    if (gt_warp_run(&device, &launch, &result, &error) != 0)
        fail_msg("%s", error.text);
    return (int)result.run_cycles;
}

/* A block's four warps run ten instructions of the ALU, which takes one every 2 cycles, and EXIT.  Dealt out
 * evenly an SM has three blocks: the last of 30 instructions issues at 58, its EXIT at 59.  Where a
 * sub-partition executed the 11 instructions of four blocks, not three, an SM had four: EXIT at 79.  A third
 * of a block is no block.  A fifth one finds no room: 55 instructions take what they take at 0.8 a cycle. */
static void the_last_blocks_may_fill_an_sm(void **state)
{
    (void)state;
    set("chip.sms", "2");
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_ALU, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    program.warp_instructions = 6 * 4 * 11;
    program.warps = 24;
    program.warps_per_block = 4;
    assert_int_equal(six_blocks(33), 59);
    assert_int_equal(six_blocks(44), 79);
    assert_int_equal(six_blocks(33 + 4), 59);
    assert_int_equal(six_blocks(55), 68);
}

/* The same on three SMs, two blocks each, which EXIT at 39: what was counted on two SMs is not of these.  Four
 * blocks on one of two filled up the last wave there; there is room for none here.  Of the 55 that found no room, 5/3
 * of what the model's executed, 5/3 of 22 are left: 36.7 at 0.8 a cycle. */
static void what_other_sms_executed_is_not_what_these_do(void **state)
{
    (void)state;
    set("chip.sms", "3");
    for (int i = 0; i < 10; i++)
        add(GT_PIPE_ALU, GT_ACTION_COMPUTE, 1);
    add_exit();
    close_block(GT_END_EXIT);
    program.warp_instructions = 6 * 4 * 11;
    program.warps = 24;
    program.warps_per_block = 4;
    assert_int_equal(six_blocks(33), 39);
    assert_int_equal(six_blocks(44), 39);
    assert_int_equal(six_blocks(55), 45);
}

/* A block on each of two SMs goes round `trips` / 2 times, an FFMA of 4 cycles and a branch, and ends: the
 * fullest SM executes 9 instructions with 8 trips, with EXIT at 20.  The busiest of all executed `busiest`. */
static int rounds(uint64_t trips, uint64_t busiest)
{
    struct gt_warp_launch launch = { .program = &program,
                                     .blocks = 2,
                                     .warps_per_block = 1,
                                     .blocks_per_sm = 1,
                                     .cluster_blocks = 1,
                                     .busiest_warp_instructions = busiest };
    struct gt_basic_block *body;

    program.instruction_count = program.block_count = program.edge_count = 0;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 2, .trips = trips, .who = GT_WHO_BLOCK };
    program.loop_count = 1;
    program.warps = 2;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    body = close_block(GT_END_BRANCH);
    body->loop = 0;
    body->choice = GT_CHOICE_LOOP;
    add_edge(body, 0, trips - 2)->back = true;
    add_edge(body, 1, 2)->leaves = true;
    add_exit();
    close_block(GT_END_EXIT);
    free(result.stalls_by_instruction);
    if (gt_warp_run(&device, &launch, &result, &error) != 0)
        fail_msg("%s", error.text);
    return (int)result.run_cycles;
}

/* Twice the instructions take twice the time where blocks make 3 or 4 trips; where all make 4 they are only
 * known to take what they take at 0.8 a cycle, 22.5 cycles. */
static void more_trips_take_longer(void **state)
{
    (void)state;
    set("chip.sms", "2");
    assert_int_equal(rounds(7, 18), 40);
    assert_int_equal(rounds(8, 18), 22);
    /* Of 60 trips in the mean none says whether all make as many; a block alone on its SM has no other's work. */
    assert_int_equal(rounds(120, 121), 300);
    assert_int_equal(rounds(120, 242), 600);
}

/* One load from shared memory: 16 bytes a thread go through the unit in 4 passes, 29 - 1 cycles later their
 * first register is there, and the other three one a cycle: EXIT at 35; 4 bytes in one pass: at 29. */
static void wide_loads_are_taken_in_slowly(void **state)
{
    struct gt_instruction *load;

    (void)state;
    set("memory.shared_latency_cycles", "29");
    accesses[0] = (struct gt_access){ .space = GT_SPACE_SHARED, .width_bytes = 16, .wavefronts = 4 };
    program.memory_count = 1;
    load = add(GT_PIPE_LSU, GT_ACTION_LOAD, 1);
    load->memory = 0;
    load->write_barrier = 0;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1)->wait_mask = 1;
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 35);
    accesses[0] = (struct gt_access){ .space = GT_SPACE_SHARED, .width_bytes = 4, .wavefronts = 1 };
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 29);
}

/* BSYNC issues at 1 and EXIT, which lies behind it, 1 and the 6 cycles of a jump later. */
static void a_join_takes_the_time_of_a_jump(void **state)
{
    (void)state;
    set("warp.branch_cycles", "6");
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add(GT_PIPE_CBU, GT_ACTION_BRANCH, 1);
    add_edge(close_block(GT_END_JOIN), 1, 1);
    add_exit();
    close_block(GT_END_EXIT);
    run(1, 1, 1);
    assert_int_equal((int)result.run_cycles, 8);
}

/* Two warps make two trips each; in the first one threads leave the loop and wait for the others, in the
 * second the rest does: no third trip because a side split off in the last one. */
static void a_warp_leaves_a_loop_as_one(void **state)
{
    struct gt_basic_block *body, *meet;

    (void)state;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 2, .trips = 4 };
    program.loop_count = 1;
    program.warps = 2;
    add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1);
    body = close_block(GT_END_BRANCH);
    body->loop = 0;
    body->choice = GT_CHOICE_LOOP;
    body->executions = 4;
    body->divergent = 2;
    body->join = 2;
    add_edge(body, 0, 2)->back = true;
    edges[0].alone = 0;
    add_edge(body, 1, 4)->leaves = true;
    edges[1].alone = 2;
    add(GT_PIPE_CBU, GT_ACTION_BRANCH, 1);
    meet = close_block(GT_END_JOIN);
    meet->executions = 4;
    add_edge(meet, 2, 2);
    add_exit();
    close_block(GT_END_EXIT)->executions = 2;
    run(1, 2, 1);
    assert_int_equal(result.issued[GT_PIPE_FMA], 4);
    assert_int_equal(result.issued[GT_PIPE_CBU], 4);
}

/* A warp goes ten times through a loop of two instructions, one of them a load past L1 (or not), and ends: 21 warp
 * instructions counted, of which the launch as a whole executed `executed` (0: it does not say). */
static uint64_t looked(bool past_l1, uint64_t executed)
{
    struct gt_warp_launch launch = { .program = &program,
                                     .blocks = 1,
                                     .warps_per_block = 1,
                                     .blocks_per_sm = 1,
                                     .cluster_blocks = 1,
                                     .warp_instructions = executed };
    struct gt_basic_block *body;
    struct gt_edge *back;

    program.instruction_count = program.block_count = program.edge_count = 0;
    accesses[0] = (struct gt_access){ .space = GT_SPACE_GLOBAL, .width_bytes = 4, .bypass_l1 = past_l1 };
    program.memory_count = program.loop_count = 1;
    loops[0] = (struct gt_loop){ .head = 0, .parent = GT_NONE, .entries = 1, .trips = 10, .who = GT_WHO_BLOCK };
    add(GT_PIPE_LSU, GT_ACTION_LOAD, 1)->memory = 0;
    add(GT_PIPE_CBU, GT_ACTION_BRANCH, 1);
    code[0].executions = code[1].executions = 10;
    body = close_block(GT_END_BRANCH);
    body->executions = 10;
    body->loop = 0;
    body->choice = GT_CHOICE_LOOP;
    back = add_edge(body, 0, 9);
    back->back = true;
    back->leads_out = false;
    add_edge(body, 1, 1)->leaves = true;
    add_exit();
    close_block(GT_END_EXIT);
    program.warp_instructions = 21;
    free(result.stalls_by_instruction);
    if (gt_warp_run(&device, &launch, &result, &error) != 0)
        fail_msg("%s", error.text);
    return result.simulated;
}

/* What was counted beyond what the launch executed is taken from the trips of the loop that looks past L1, but for the
 * first: 21 - 13 = 8 of 18 instructions leave 5 more trips of 9.  No loop without such a load is known to wait. */
static void looking_is_bounded_by_what_the_launch_executed(void **state)
{
    (void)state;
    assert_int_equal(looked(true, 0), 21);
    assert_int_equal(looked(true, 21), 21);
    assert_int_equal(looked(true, 13), 13);
    assert_int_equal(looked(true, 3), 3);
    assert_int_equal(looked(false, 13), 21);
}

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        TEST(a_product_takes_the_time_of_its_bits), TEST(a_barrier_takes_in_one_warp_after_the_other),
        TEST(the_last_blocks_may_fill_an_sm), TEST(what_other_sms_executed_is_not_what_these_do), TEST(operands_are_read_one_a_cycle_and_bank),
        TEST(what_a_warp_keeps_is_gone_when_another_issues), TEST(doubles_wait_for_their_operands),
        TEST(more_trips_take_longer), TEST(wide_loads_are_taken_in_slowly),
        TEST(a_join_takes_the_time_of_a_jump),
        TEST(a_warp_leaves_a_loop_as_one), TEST(looking_is_bounded_by_what_the_launch_executed),
    };
    /* clang-format on */

    return cmocka_run_group_tests(tests, NULL, NULL);
}
