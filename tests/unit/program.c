/* Programs rebuilt from counts: small functions written by hand, with what must come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/workload.h"
#include "traces/sass/program_make.h"

struct line {
    const char *text;
    uint64_t executions;
};

/* 2 blocks of 4 warps unless the test says otherwise. */
enum { BLOCKS = 2, WARPS = 4 };

static struct gt_flow_report report;

static struct gt_program *make_rows(const struct gt_program_row *rows, uint32_t count)
{
    struct gt_program head = { .key = "p", .warps = BLOCKS * WARPS, .warps_per_block = WARPS };
    uint32_t unknown, first;
    struct gt_program *program = gt_program_make(&head, rows, count, &report, &unknown, &first);

    assert_int_equal(unknown, 0);
    return program;
}

/* `divergent`: how often a branch of a line went both ways; NULL: never. */
static struct gt_program *make(const struct line *lines, const uint64_t *divergent, uint32_t count)
{
    struct gt_program_row *rows = gt_calloc(count, sizeof *rows);
    struct gt_program *program;

    for (uint32_t i = 0; i < count; i++)
        rows[i] = (struct gt_program_row){ .text = lines[i].text,
                                           .executions = lines[i].executions,
                                           .divergent = divergent != NULL ? divergent[i] : 0 };
    program = make_rows(rows, count);
    free(rows);
    return program;
}
#define MAKE(lines) make(lines, NULL, sizeof(lines) / sizeof(lines)[0])

/* The block that begins at an instruction. */
static const struct gt_basic_block *block_at(const struct gt_program *program, uint32_t instruction)
{
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].first == instruction)
            return &program->blocks[b];
    fail_msg("no block begins at instruction %u", instruction);
    return NULL;
}

/* The edge from one block to another, by their first instructions. */
static const struct gt_edge *edge(const struct gt_program *program, uint32_t from, uint32_t to)
{
    const struct gt_basic_block *block = block_at(program, from);

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        if (program->blocks[program->edges[e].to].first == to)
            return &program->edges[e];
    fail_msg("no edge from %u to %u", from, to);
    return NULL;
}

static void a_loop_has_trips(void **state)
{
    static const struct line lines[] = {
        { "MOV R0, RZ", 8 },
        { "FFMA R1, R1, R1, R1", 80 },
        { "ISETP.LT.AND P0, PT, R0, UR4, PT", 80 },
        { "@P0 BRA 0x10", 80 },
        { "EXIT", 8 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(program->warp_instructions, 256);
    assert_int_equal(program->loop_count, 1);
    assert_int_equal(program->loops[0].entries, 8);
    assert_int_equal(program->loops[0].trips, 80);
    assert_false(program->loops[0].ends);
    assert_int_equal(program->loops[0].who, GT_WHO_BLOCK);
    assert_int_equal(block_at(program, 1)->choice, GT_CHOICE_LOOP);
    assert_true(edge(program, 1, 1)->back);
    assert_int_equal(edge(program, 1, 1)->executions, 72);
    assert_true(edge(program, 1, 4)->leaves && edge(program, 1, 4)->leads_out);
    assert_int_equal(edge(program, 1, 4)->executions, 8);
    assert_false(program->flow_broken);
    gt_program_free(program);
}

/* 8 warps come to the EXIT ten times: all end there in their last trip, two went past it in one before. */
static void an_exit_ends_a_loop(void **state)
{
    static const struct line lines[] = {
        { "MOV R0, RZ", 8 },    { "FFMA R1, R1, R1, R1", 24 },
        { "@P0 BRA 0x50", 24 }, { "FFMA R1, R1, R1, R1", 10 },
        { "@P1 EXIT", 10 },     { "BRA 0x10", 16 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(program->loop_count, 1);
    assert_int_equal(program->loops[0].entries, 8);
    assert_int_equal(program->loops[0].trips, 24);
    assert_true(program->loops[0].ends);
    assert_int_equal(edge(program, 1, 3)->executions, 10);
    assert_true(edge(program, 1, 3)->leads_out);
    assert_false(edge(program, 1, 5)->leads_out);
    assert_int_equal(edge(program, 3, 5)->executions, 2);
    assert_false(edge(program, 3, 5)->leads_out);
    gt_program_free(program);
}

/* Only the outer loop is left from within the inner one's block behind it. */
static void loops_nest(void **state)
{
    static const struct line lines[] = {
        { "MOV R0, RZ", 8 },     { "MOV R1, RZ", 24 },   { "FADD R2, R2, R2", 240 },
        { "@P0 BRA 0x20", 240 }, { "@P1 BRA 0x10", 24 }, { "EXIT", 8 },
    };
    struct gt_program *program = MAKE(lines);
    const struct gt_basic_block *inner = block_at(program, 2), *outer = block_at(program, 1);

    (void)state;
    assert_int_equal(program->loop_count, 2);
    assert_int_not_equal(inner->loop, outer->loop);
    assert_int_equal(program->loops[inner->loop].parent, outer->loop);
    assert_int_equal(program->loops[inner->loop].entries, 24);
    assert_int_equal(program->loops[outer->loop].entries, 8);
    assert_int_equal(program->loops[outer->loop].trips, 24);
    gt_program_free(program);
}

/* Past a loop of one block: arrivals are the same for 3 warps of 27 trips as for 8 of 10.  3 of the 8 visits
 * of the branch split, and 3 of its 256 threads jump: one of each, so 3 + 8 visits take its edges.  Of the
 * loop's 80 arrivals 72 are left, and of its 80 + 16 ways on 24 lead out: 3 + 24 arrive at the join. */
static void threads_tell_who_skips_a_loop(void **state)
{
    static const struct gt_program_row rows[] = {
        { .text = "MOV R0, RZ", .executions = 8, .threads = 32, .threads_on = 32 },
        { .text = "BSSY B0, 0x40", .executions = 8, .threads = 32, .threads_on = 32 },
        { .text = "@!P0 BRA 0x40", .executions = 8, .threads = 32, .threads_on = 0.375f, .divergent = 3 },
        { .text = "@P0 BRA 0x30", .executions = 80, .threads = 30, .threads_on = 27, .divergent = 16 },
        { .text = "BSYNC B0", .executions = 27, .threads = 9.48148f, .threads_on = 9.48148f },
        { .text = "EXIT", .executions = 8, .threads = 32, .threads_on = 32 },
    };
    struct gt_program *program = make_rows(rows, sizeof rows / sizeof rows[0]);

    (void)state;
    assert_int_equal(edge(program, 0, 4)->executions, 3);
    assert_int_equal(edge(program, 0, 3)->executions, 8);
    assert_int_equal(block_at(program, 0)->divergent, 3);
    assert_int_equal(edge(program, 3, 3)->executions, 72);
    assert_int_equal(edge(program, 3, 4)->executions, 24);
    assert_int_equal(block_at(program, 3)->divergent, 16);
    assert_int_equal(program->loops[0].entries, 8);
    gt_program_free(program);
}

/* 64 of 256 threads jump and no visit splits: 2 of 8 warps, and 6 make the loop's 24 trips. */
static void threads_tell_whole_warps(void **state)
{
    static const struct gt_program_row rows[] = {
        { .text = "@!P0 BRA 0x20", .executions = 8, .threads = 32, .threads_on = 8 },
        { .text = "@P1 BRA 0x10", .executions = 24, .threads = 32, .threads_on = 24 },
        { .text = "EXIT", .executions = 8, .threads = 32, .threads_on = 32 },
    };
    struct gt_program *program = make_rows(rows, sizeof rows / sizeof rows[0]);

    (void)state;
    assert_int_equal(edge(program, 0, 2)->executions, 2);
    assert_int_equal(edge(program, 0, 1)->executions, 6);
    assert_int_equal(edge(program, 1, 1)->executions, 18);
    assert_int_equal(edge(program, 1, 2)->executions, 6);
    gt_program_free(program);
}

/* Warps 0 of each block go another way, and the comparison says that they are the low ones. */
static void roles_follow_the_thread_number(void **state)
{
    static const struct line lines[] = {
        { "S2R R0, SR_TID.X", 8 },
        { "ISETP.GE.AND P0, PT, R0, 0x20, PT", 8 },
        { "@P0 BRA 0x50", 8 },
        { "FADD R1, R1, R1", 2 },
        { "EXIT", 2 },
        { "FMUL R1, R1, R1", 6 },
        { "EXIT", 6 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(block_at(program, 0)->who, GT_WHO_ROLE);
    assert_int_equal(edge(program, 0, 5)->warps, 0xe);
    assert_int_equal(edge(program, 0, 3)->warps, 0x1);
    assert_int_equal(block_at(program, 3)->warps, 0x1);
    gt_program_free(program);
}

static void blocks_follow_the_block_number(void **state)
{
    static const struct line lines[] = {
        { "S2R R0, SR_CTAID.X", 8 },
        { "ISETP.GE.AND P0, PT, R0, 0x1, PT", 8 },
        { "@P0 EXIT", 8 },
        { "FADD R1, R1, R1", 4 },
        { "EXIT", 4 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(block_at(program, 0)->end, GT_END_EXIT);
    assert_int_equal(block_at(program, 0)->choice, GT_CHOICE_RATIO);
    assert_int_equal(block_at(program, 0)->who, GT_WHO_BLOCK);
    assert_int_equal(edge(program, 0, 3)->executions, 4);
    gt_program_free(program);
}

/* A barrier for the whole block behind a branch: its warps cannot part, whatever the data say. */
static void a_barrier_keeps_the_block_together(void **state)
{
    static const struct line lines[] = {
        { "LDG.E R0, desc[UR4][R2.64]", 8 },
        { "ISETP.NE.AND P0, PT, R0, RZ, PT", 8 },
        { "@P0 BRA 0x50", 8 },
        { "BAR.SYNC 0x0", 4 },
        { "BRA 0x50", 4 },
        { "EXIT", 8 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(block_at(program, 0)->who, GT_WHO_BLOCK);
    gt_program_free(program);
}

/* Six visits: two go both ways, three only on, one only to the target. */
static void sides_of_a_divergence_meet(void **state)
{
    static const struct line lines[] = {
        { "BSSY B0, 0x50", 8 }, { "LDG.E R0, desc[UR4][R2.64]", 8 },
        { "@P0 BRA 0x40", 8 },  { "FADD R1, R1, R1", 5 },
        { "BSYNC B0", 10 },     { "EXIT", 8 },
    };
    struct gt_program *program = MAKE(lines);
    const struct gt_basic_block *branch = block_at(program, 0);

    (void)state;
    assert_int_equal(edge(program, 0, 3)->executions, 5);
    assert_int_equal(edge(program, 0, 4)->executions, 5);
    assert_int_equal(branch->divergent, 2);
    assert_int_equal(edge(program, 0, 3)->alone, 3);
    assert_int_equal(program->blocks[branch->join].first, 5);
    assert_int_equal(block_at(program, 4)->end, GT_END_JOIN);
    assert_int_equal(edge(program, 4, 5)->executions, 8);
    assert_false(program->flow_broken);
    gt_program_free(program);
}

/* All eight warps split at both branches, 24 groups of threads come to the join; those that are there already
 * go on with the next that comes, and 10 are counted.  That contradicts nothing. */
static void groups_merge_at_a_join(void **state)
{
    static const struct line lines[] = {
        { "BSSY B0, 0x60", 8 },   { "@P0 BRA 0x60", 8 },    { "FADD R1, R1, R1", 8 }, { "@P1 BRA 0x60", 8 },
        { "FADD R1, R1, R1", 8 }, { "FADD R1, R1, R1", 8 }, { "BSYNC B0", 10 },       { "EXIT", 8 },
    };
    static const uint64_t divergent[] = { 0, 8, 0, 8, 0, 0, 0, 0 };
    struct gt_program *program = make(lines, divergent, sizeof lines / sizeof lines[0]);

    (void)state;
    assert_int_equal(edge(program, 0, 6)->executions, 8);
    assert_int_equal(edge(program, 2, 6)->executions, 8);
    assert_int_equal(block_at(program, 6)->executions, 10);
    assert_false(program->flow_broken);
    gt_program_free(program);
}

static void calls_come_back(void **state)
{
    static const struct line lines[] = {
        { "CALL.REL.NOINC 0x40", 8 }, { "FADD R1, R1, R1", 8 },        { "CALL.REL.NOINC 0x40", 8 }, { "EXIT", 8 },
        { "MUFU.RCP R2, R2", 16 },    { "RET.REL.NODEC R4, 0x0", 16 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(program->blocks[block_at(program, 0)->resume].first, 1);
    assert_int_equal(edge(program, 0, 4)->executions, 8);
    assert_int_equal(edge(program, 1, 4)->executions, 8);
    assert_int_equal(program->loop_count, 0);
    assert_false(program->flow_broken);
    gt_program_free(program);
}

static void computed_jumps_go_where_warps_came(void **state)
{
    static const struct line lines[] = {
        { "BRX R2 -0x10", 8 }, { "FADD R1, R1, R1", 3 }, { "BRA 0x60", 3 }, { "FMUL R1, R1, R1", 0 },
        { "BRA 0x60", 0 },     { "MUFU.RCP R2, R2", 5 }, { "EXIT", 8 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(block_at(program, 0)->edge_count, 2);
    assert_int_equal(edge(program, 0, 1)->executions, 3);
    assert_int_equal(edge(program, 0, 5)->executions, 5);
    assert_false(program->flow_broken);
    gt_program_free(program);
}

/* 80 tries of 40 waits, 30 of which failed at first: the loop is one of 5 trips of 8 warps and no more. */
static void failed_tries_are_no_loops(void **state)
{
    static const struct line lines[] = {
        { "MOV R0, RZ", 8 },
        { "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3", 40 },
        { "@!P0 BRA 0x60", 40 },
        { "FADD R1, R1, R1", 40 },
        { "@P1 BRA 0x10", 40 },
        { "EXIT", 8 },
        { "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3", 40 },
        { "@!P0 BRA 0x60", 40 },
        { "BRA 0x30", 30 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_int_equal(program->loop_count, 1);
    assert_int_equal(program->loops[0].entries, 8);
    assert_int_equal(program->loops[0].trips, 40);
    assert_int_equal(edge(program, 1, 3)->executions, 40);
    assert_int_equal(block_at(program, 6)->executions, 0);
    assert_int_equal(program->warp_instructions, 286);
    gt_program_free(program);
}

static void contradictions_are_told(void **state)
{
    static const struct line lines[] = {
        { "MOV R0, RZ", 8 },
        { "BRA 0x20", 8 },
        { "FADD R1, R1, R1", 800 },
        { "EXIT", 800 },
    };
    struct gt_program *program = MAKE(lines);

    (void)state;
    assert_true(program->flow_broken);
    assert_int_equal(report.worst, 2);
    assert_int_equal(report.counted, 800);
    assert_int_equal(report.arrive, 8);
    gt_program_free(program);
}

/* Targets outside, code that ends in the middle, nothing executed: no crash, no endless search. */
static void odd_code_does_no_harm(void **state)
{
    static const struct line beyond[] = { { "@P0 BRA 0x1230", 8 }, { "BRA 0x8", 8 }, { "NOP", 8 } };
    static const struct line never[] = { { "BRA 0x0", 0 } };
    static const struct line ever[] = { { "BRA 0x0", 1000 } };
    static const struct line bare[] = { { "BSYNC B0", 8 }, { "RET.REL.NODEC R4, 0x0", 8 }, { "BRX R2", 8 } };

    (void)state;
    gt_program_free(MAKE(beyond));
    gt_program_free(MAKE(never));
    gt_program_free(MAKE(ever));
    gt_program_free(MAKE(bare));
}

/* `count` instructions: jumps to jumps, each somewhere else; none is followed. */
static void assert_too_large(struct line *lines, uint32_t count)
{
    struct gt_program *program = make(lines, NULL, count);

    assert_int_equal(program->block_count, 0);
    assert_int_equal(program->edge_count, 0);
    assert_int_equal(program->loop_count, 0);
    assert_true(program->flow_broken);
    gt_program_free(program);
    free(lines);
}

/* No compiler makes so much control flow: it is left alone, not worked on for hours. */
static void too_much_flow_is_left(void **state)
{
    enum { BLOCKS_TOO_MANY = GT_FLOW_MOST_BLOCKS + 1, SWITCHES = 4000, NEST = 1000 };
    struct line *lines = gt_calloc(BLOCKS_TOO_MANY, sizeof *lines);
    static char back[NEST][24];

    (void)state;
    for (uint32_t i = 0; i < BLOCKS_TOO_MANY; i++)
        lines[i] = (struct line){ "@P0 BRA 0x0", 8 };
    assert_too_large(lines, BLOCKS_TOO_MANY);

    /* Computed jumps: each may go wherever warps come from nowhere. */
    lines = gt_calloc(2 * SWITCHES, sizeof *lines);
    for (uint32_t i = 0; i < 2 * SWITCHES; i++)
        lines[i] = (struct line){ i % 2 == 0 ? "BRX R2 -0x10" : "EXIT", 8 };
    assert_too_large(lines, 2 * SWITCHES);

    /* Loops in loops: the head of each runs once more a warp than that of the one around it. */
    lines = gt_calloc(2 * NEST + 1, sizeof *lines);
    for (uint32_t i = 0; i < NEST; i++) {
        snprintf(back[i], sizeof back[i], "@P0 BRA 0x%x", i * GT_PROGRAM_INSTRUCTION_BYTES);
        lines[i] = (struct line){ "NOP", 8 * (i + 1) };
        lines[2 * NEST - 1 - i] = (struct line){ back[i], 8 * (i + 1) };
    }
    lines[2 * NEST] = (struct line){ "EXIT", 8 };
    assert_too_large(lines, 2 * NEST + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_has_trips),
        cmocka_unit_test(an_exit_ends_a_loop),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(threads_tell_who_skips_a_loop),
        cmocka_unit_test(threads_tell_whole_warps),
        cmocka_unit_test(roles_follow_the_thread_number),
        cmocka_unit_test(blocks_follow_the_block_number),
        cmocka_unit_test(a_barrier_keeps_the_block_together),
        cmocka_unit_test(sides_of_a_divergence_meet),
        cmocka_unit_test(groups_merge_at_a_join),
        cmocka_unit_test(calls_come_back),
        cmocka_unit_test(computed_jumps_go_where_warps_came),
        cmocka_unit_test(failed_tries_are_no_loops),
        cmocka_unit_test(contradictions_are_told),
        cmocka_unit_test(odd_code_does_no_harm),
        cmocka_unit_test(too_much_flow_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
