/* Loads of the warp tier: which of them miss, and how long DRAM takes, on programs worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/warp_program.h"

/* L1 answers after 20 cycles, L2 after 200, DRAM after 600; nothing queues. */
static int loads(void **state)
{
    static const char *const fast[] = { "memory.l2_read_bytes_per_cycle", "memory.l2_requests_per_cycle",
                                        "memory.sm_bytes_per_cycle", "memory.dram_gbps" };

    fresh(state);
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        set(fast[i], "1000000");
    set("memory.l1_latency_cycles", "20");
    set("memory.l2_near_latency_cycles", "200");
    set("memory.l2_far_latency_cycles", "200");
    set("memory.dram_latency_cycles", "600");
    accesses[0] = (struct gt_access){
        .space = GT_SPACE_GLOBAL, .width_bytes = 4, .sectors = 4, .sectors_ideal = 4, .tag_requests = 1
    };
    program.memory_count = 1;
    program.use = (struct gt_memory_use){ .l2_read_hit = 1 };
    return 0;
}

/* A load into scoreboard 0 and an instruction that waits for it; the number of the latter. */
static uint32_t load_and_wait(uint32_t memory, uint64_t executions)
{
    struct gt_instruction *load = add(GT_PIPE_LSU, GT_ACTION_LOAD, 1), *use;

    load->memory = memory;
    load->write_barrier = 0;
    use = add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 1);
    use->wait_mask = 1;
    load->executions = use->executions = executions;
    return program.instruction_count - 1;
}

static double waited(uint32_t instruction)
{
    return result.stalls_by_instruction[instruction * GT_STALLS + GT_STALL_LONG_SCOREBOARD];
}

static void whole_program(void)
{
    add_exit();
    close_block(GT_END_EXIT);
}

/* What was added since the last block is a loop of `trips`. */
static void close_loop(uint32_t loop, uint64_t trips)
{
    uint32_t head = program.block_count;
    struct gt_basic_block *body;

    loops[loop] = (struct gt_loop){ .head = head, .parent = GT_NONE, .entries = 1, .trips = trips };
    program.loop_count = loop + 1;
    add(GT_PIPE_NONE, GT_ACTION_BRANCH, 1)->executions = trips;
    body = close_block(GT_END_BRANCH);
    body->executions = trips;
    body->loop = loop;
    body->choice = GT_CHOICE_LOOP;
    add_edge(body, head, trips - 1)->back = true;
    add_edge(body, head + 1, 1)->leaves = true;
}

/* A loop of `trips` around one load; what waits for it. */
static uint32_t loop_of_loads(uint32_t loop, uint64_t trips)
{
    uint32_t wait = load_and_wait(0, trips);

    close_loop(loop, trips);
    return wait;
}

/* Half of all loads miss L1: those of the first of two loops that load the same amount. */
static void what_is_read_again_hits(void **state)
{
    uint32_t first, again;

    (void)state;
    program.use.l1_load_hit = 0.5;
    first = loop_of_loads(0, 10);
    again = loop_of_loads(1, 10);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(first), 10 * 195, 10 * 205);
    assert_in_range((uint64_t)waited(again), 10 * 15, 10 * 25);
}

/* Another access, like the first but of so many sectors; so much of all hits L1. */
static void second_access(uint16_t sectors, double l1_load_hit)
{
    accesses[1] = accesses[0];
    accesses[1].sectors = accesses[1].sectors_ideal = sectors;
    program.memory_count = 2;
    program.use.l1_load_hit = l1_load_hit;
}

/* A quarter of what two loops load hits L1: what the second one reads again, not what it reads beside that. */
static void what_is_read_again_beside_others_hits(void **state)
{
    uint32_t again, other;

    (void)state;
    second_access(8, 0.25);
    loop_of_loads(0, 10);
    again = load_and_wait(0, 10);
    other = load_and_wait(1, 10);
    close_loop(1, 10);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(again), 10 * 15, 10 * 25);
    assert_in_range((uint64_t)waited(other), 10 * 195, 10 * 205);
}

/* Half miss: the first of two loads four bytes apart from the same register, but not where that changed. */
static void what_lies_beside_hits(void **state)
{
    uint32_t first, second;

    (void)state;
    accesses[0].address = (struct gt_address){ .base = 2, .base_count = 2, .uniform = GT_NO_REGISTER, .scale = 1 };
    accesses[1] = accesses[0];
    accesses[1].address.offset_bytes = 4;
    program.memory_count = 2;
    program.use.l1_load_hit = 0.5;
    first = load_and_wait(0, 1);
    second = load_and_wait(1, 1);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(first), 195, 205);
    assert_in_range((uint64_t)waited(second), 15, 25);
    code[1].operand_count = 1;
    code[1].operands[0] =
        (struct gt_operand){ .file = GT_FILE_VECTOR, .number = 2, .count = 1, .flags = GT_OPERAND_WRITTEN };
    run(2, 1, 2);
    assert_in_range((uint64_t)waited(second), 200, 240);
}

/* A load once and one in 3 trips, half of the 4 miss: one miss each. */
static void each_load_brings_as_much(void **state)
{
    uint32_t once, often;

    (void)state;
    program.use.l1_load_hit = 0.5;
    once = load_and_wait(0, 1);
    struct gt_basic_block *head = close_block(GT_END_FALL);
    add_edge(head, 1, 1);
    often = loop_of_loads(0, 3);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(once), 195, 205);
    assert_in_range((uint64_t)waited(often), 200 + 2 * 15, 200 + 2 * 25);
}

/* Half of what L2 reads misses, none of it by loads past L1: those ask for what others have just written. */
static void what_others_wrote_is_in_l2(void **state)
{
    uint32_t data, flag;

    (void)state;
    accesses[1] = accesses[0];
    accesses[1].bypass_l1 = true;
    program.memory_count = 2;
    program.use = (struct gt_memory_use){
        .l1_load_hit = 0, .l2_read_hit = 0.5, .l2_read_sectors = 8, .dram_read_bytes = 4 * 32
    };
    flag = load_and_wait(0, 1);
    data = load_and_wait(0, 1);
    code[0].memory = 1;
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(flag), 195, 205);
    assert_in_range((uint64_t)waited(data), 595, 605);
}

/* Twenty loads in a row from DRAM: 600 each at least, and 100 more in the mean, none like the other.  Two
 * warps that read side by side wait alike; the last of 32 sectors apart is 100 * (1 + 1/2 + ... + 1/32) = 406
 * beyond the least. */
static void dram_takes_different_times(void **state)
{
    (void)state;
    program.use = (struct gt_memory_use){
        .l1_load_hit = 0, .l2_read_hit = 0, .l2_read_sectors = 80, .dram_read_bytes = 80 * 32
    };
    for (int i = 0; i < 20; i++)
        load_and_wait(0, 1);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)result.run_cycles, 20 * 600, 20 * 610);
    set("memory.dram_spread_cycles", "100");
    run(1, 1, 1);
    double alone = result.run_cycles;
    assert_in_range((uint64_t)alone, 20 * 650, 20 * 760);
    assert_true(waited(1) < waited(3) - 1 || waited(1) > waited(3) + 1);
    run(1, 2, 1);
    assert_in_range((uint64_t)result.run_cycles, (uint64_t)alone, (uint64_t)alone + 20 * 5);
    accesses[0].sectors = accesses[0].tag_requests = 32;
    program.use.l2_read_sectors = 640;
    program.use.dram_read_bytes = 640 * 32;
    run(1, 1, 1);
    assert_in_range((uint64_t)result.run_cycles, 20 * (600 + 320), 20 * (600 + 490));
    double before = result.run_cycles;
    set("memory.dram_apart_cycles", "80");
    run(1, 1, 1);
    /* 4 of 32 sectors would do: apart to seven eighths. */
    assert_in_range((uint64_t)(result.run_cycles - before), 20 * 69, 20 * 71);
}

static void store(void)
{
    struct gt_instruction *in = add(GT_PIPE_LSU, GT_ACTION_STORE, 1);

    in->memory = 0;
}

/* Four blocks on `sms` SMs: twice a read of 1280 bytes from L2, then 40 cycles of arithmetic. */
static double four_blocks(const char *sms, const char *l2_bytes_per_cycle)
{
    struct gt_warp_launch launch = {
        .program = &program, .blocks = 4, .warps_per_block = 1, .blocks_per_sm = 2, .cluster_blocks = 1, .full = true
    };

    set("chip.sms", sms);
    set("memory.l2_read_bytes_per_cycle", l2_bytes_per_cycle);
    free(result.stalls_by_instruction);
    if (gt_warp_run(&device, &launch, &result, &error) != 0)
        fail_msg("%s", error.text);
    return result.run_cycles;
}

/* More SMs with the same L2 may take longer.  On two SMs a block's read takes 1280 / (64 / 2) = 40 cycles and 200
 * more, while the other block of its SM computes: A ends at 560, B, whose reads come behind A's, 40 later.  On four
 * SMs each block is alone, but its SM's part of L2 is half: a read takes 80 and 200 cycles with nothing beside it,
 * 2 x (80 + 200 + 40) = 640.  If L2 grows with the SMs, 560. */
static void more_sms_have_a_smaller_part_of_l2_each(void **state)
{
    (void)state;
    accesses[0].sectors = 40;
    for (int round = 0; round < 2; round++) {
        load_and_wait(0, 4);
        for (int i = 0; i < 10; i++)
            add(GT_PIPE_FMA, GT_ACTION_COMPUTE, 4);
    }
    whole_program();
    program.warps = 4;
    assert_in_range((uint64_t)four_blocks("2", "64"), 595, 620);
    assert_in_range((uint64_t)four_blocks("4", "64"), 635, 660);
    assert_in_range((uint64_t)four_blocks("4", "128"), 555, 580);
}

/* At a byte a cycle the SM's port is 128 cycles with what is stored; a load behind that leaves later. */
static void a_load_waits_behind_stores(void **state)
{
    uint32_t load;

    (void)state;
    set("memory.l2_write_bytes_per_cycle", "1000000");
    set("memory.sm_write_bytes_per_cycle", "1");
    store();
    load = load_and_wait(0, 1);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(load), 128 + 195, 128 + 205);
}

/* L2 looks up a line a cycle.  A store of whole sectors in 32 lines takes 32 of a load's time, one of a word
 * in each 1 + 7/8 as long. */
static void sectors_stored_in_part_are_looked_up_again(void **state)
{
    uint32_t load;

    (void)state;
    set("memory.l2_requests_per_cycle", "1");
    set("memory.l2_write_bytes_per_cycle", "1000000");
    set("memory.sm_write_bytes_per_cycle", "1000000");
    accesses[1] = (struct gt_access){
        .space = GT_SPACE_GLOBAL, .width_bytes = 4, .sectors = 32, .sectors_ideal = 32, .tag_requests = 32
    };
    program.memory_count = 2;
    store();
    code[0].memory = 1;
    load = load_and_wait(0, 1);
    whole_program();
    run(1, 1, 1);
    double whole = waited(load);
    accesses[1].sectors_ideal = 4;
    run(1, 1, 1);
    assert_in_range((uint64_t)(waited(load) - whole + 0.5), 26, 30);
}

/* A load from 32 lines that L1 has keeps the unit for 32 cycles, a line a cycle, and one whose lines all miss for the 8
 * in which they are looked up: the next load is there so much later. */
static void what_hits_is_given_a_line_a_cycle(void **state)
{
    (void)state;
    set("memory.l1_lines_per_cycle", "4");
    accesses[0] = (struct gt_access){
        .space = GT_SPACE_GLOBAL, .width_bytes = 4, .sectors = 32, .sectors_ideal = 4, .tag_requests = 32
    };
    accesses[1] = (struct gt_access){ .space = GT_SPACE_SHARED, .width_bytes = 4, .wavefronts = 1 };
    program.memory_count = 2;
    add(GT_PIPE_LSU, GT_ACTION_LOAD, 1)->memory = 0;
    load_and_wait(1, 1);
    whole_program();
    program.use.l1_load_hit = 0;
    run(1, 1, 1);
    double missed = result.run_cycles;
    program.use.l1_load_hit = 1;
    run(1, 1, 1);
    assert_in_range((uint64_t)(result.run_cycles - missed), 23, 25);
}

/* DRAM read 4 sectors, as many as the load misses: none is left for the atomics on 4 times as many. */
static void what_loads_miss_is_theirs(void **state)
{
    uint32_t load;

    (void)state;
    program.use = (struct gt_memory_use){
        .l2_read_hit = 0, .l2_read_sectors = 4, .l2_atomic_hit = 1, .l2_atomic_sectors = 16, .dram_read_bytes = 4 * 32
    };
    load = load_and_wait(0, 1);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(load), 595, 605);
}

/* What an atomic returns waits for DRAM where its sector was not in L2. */
static void atomics_miss_too(void **state)
{
    uint32_t wait;

    (void)state;
    program.use = (struct gt_memory_use){ .l2_read_hit = 1, .l2_atomic_hit = 1, .l2_atomic_sectors = 1 };
    wait = load_and_wait(0, 1);
    code[0].action = GT_ACTION_ATOMIC;
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(wait), 195, 210);
    program.use.l2_atomic_hit = 0;
    program.use.dram_read_bytes = 32;
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(wait), 595, 610);
}

/* DRAM moves a byte a cycle.  What is stored stays in L2, and makes loads wait where L2 can keep it: DRAM
 * counts as working twice as long then. */
static void what_stays_in_l2_makes_loads_wait(void **state)
{
    double alone;

    (void)state;
    set("memory.dram_gbps", "1");
    set("memory.dram_efficiency", "1");
    set("memory.dram_mixed_efficiency", "1");
    set("memory.dram_crowd_cycles", "1000");
    set("memory.dram_mixed_crowd_cycles", "1000");
    program.use = (struct gt_memory_use){
        .l2_read_hit = 0, .l2_read_sectors = 40, .l2_write_sectors = 40, .dram_read_bytes = 40 * 32
    };
    for (int i = 0; i < 10; i++) {
        store();
        load_and_wait(0, 1);
    }
    whole_program();
    set("memory.l2_bytes", "1");
    run(1, 1, 1);
    alone = result.run_cycles;
    set("memory.l2_bytes", "1000000");
    run(1, 1, 1);
    assert_true(result.run_cycles > alone + 10 * 20);
}

/* A load in a loop of 8 trips, a quarter of whose reads miss L2. */
static uint32_t a_quarter_misses(void)
{
    uint32_t wait;

    accesses[0].sectors = accesses[0].sectors_ideal = 16;
    accesses[0].tag_requests = 4;
    program.use =
        (struct gt_memory_use){ .l2_read_hit = 0.75, .l2_read_sectors = 8 * 16, .dram_read_bytes = 2 * 16 * 32 };
    wait = loop_of_loads(0, 8);
    whole_program();
    return wait;
}

/* Of 4 blocks that run at once each sector has 4 readers: all wait in every trip for the one that misses.  One after the
 * other, or where loaded data say what is read, 2 of 8 trips wait for DRAM. */
static void who_reads_the_same_waits_together(void **state)
{
    const uint64_t quarter = 4 * (2 * 600 + 6 * 200);
    uint32_t wait;

    (void)state;
    wait = a_quarter_misses();
    run(4, 1, 4);
    assert_in_range((uint64_t)waited(wait), 4 * 8 * 595, 4 * 8 * 605);
    run(4, 1, 1);
    assert_in_range((uint64_t)waited(wait), quarter - 200, quarter + 200);
    accesses[0].data_address = true;
    run(4, 1, 4);
    assert_in_range((uint64_t)waited(wait), quarter - 200, quarter + 200);
}

/* A trip takes a sector of each line, and L2 fetches whole lines: one of four trips waits, for all of 8 blocks. */
static void the_rest_of_a_line_is_there(void **state)
{
    uint32_t wait;

    (void)state;
    wait = a_quarter_misses();
    accesses[0].sectors = accesses[0].sectors_ideal = 4;
    accesses[0].l2_fetch_bytes = 128;
    program.use = (struct gt_memory_use){ .l2_read_hit = 0.875, .l2_read_sectors = 8 * 4, .dram_read_bytes = 4 * 32 };
    run(8, 1, 8);
    assert_in_range((uint64_t)waited(wait), 8 * (2 * 595 + 6 * 195), 8 * (2 * 605 + 6 * 205));
}

/* A fifth of five sectors hits L1: the one that all threads of the warp read. */
static void what_threads_share_hits(void **state)
{
    uint32_t own, shared;

    (void)state;
    second_access(1, 0.2);
    own = load_and_wait(0, 1);
    shared = load_and_wait(1, 1);
    whole_program();
    run(1, 1, 1);
    assert_in_range((uint64_t)waited(own), 195, 205);
    assert_in_range((uint64_t)waited(shared), 15, 25);
}

/* 32 sectors: 640 cycles at the slice that gets a fiftieth of them, 1000 each; 32 where one slice has all, 1 each. */
static void atomics_on_all_slices_take_longer(void **state)
{
    (void)state;
    set("memory.atomic_cycles", "1");
    set("memory.atomic_spread_cycles", "1000");
    program.use = (struct gt_memory_use){
        .l2_read_hit = 1, .l2_atomic_hit = 1, .l2_atomic_sectors = 32, .l2_atomic_slice_share = 0.02
    };
    load_and_wait(0, 1);
    code[0].action = GT_ACTION_ATOMIC;
    whole_program();
    run(1, 1, 1);
    double spread = result.run_cycles;
    program.use.l2_atomic_slice_share = 1;
    run(1, 1, 1);
    assert_in_range((uint64_t)(spread - result.run_cycles), 640 - 32 - 20, 640 - 32);
}

#define LOADS(name) cmocka_unit_test_setup_teardown(name, loads, end)

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        LOADS(what_is_read_again_hits), LOADS(what_is_read_again_beside_others_hits), LOADS(what_lies_beside_hits), LOADS(each_load_brings_as_much),
        LOADS(what_others_wrote_is_in_l2), LOADS(dram_takes_different_times),
        LOADS(more_sms_have_a_smaller_part_of_l2_each), LOADS(a_load_waits_behind_stores), LOADS(what_loads_miss_is_theirs), LOADS(what_hits_is_given_a_line_a_cycle), LOADS(atomics_miss_too),
        LOADS(what_stays_in_l2_makes_loads_wait),
        LOADS(sectors_stored_in_part_are_looked_up_again),
        LOADS(who_reads_the_same_waits_together), LOADS(the_rest_of_a_line_is_there),
        LOADS(what_threads_share_hits), LOADS(atomics_on_all_slices_take_longer),
    };
    /* clang-format on */

    return cmocka_run_group_tests(tests, NULL, NULL);
}
