/* warp_roles.c - who decides alike at a branch or about a loop's trips, and which warps go where.
 *
 * A profile counts over all warps: that a quarter of the visits took an edge may mean one warp of each four
 * (a producer among consumers), every fourth block, or any.  What the condition depends on tells, see
 * taint.h; where it does not, counts do that are whole warps of each block.  And
 * the warps of a block stay together where a block-wide barrier follows.
 */
#include <stdlib.h>

#include "traces/sass/control_flow.h"
#include "traces/sass/taint.h"

struct roles {
    struct gt_build *build;
    uint8_t *together; /* block -> whether its instructions hold warps of a thread block together */
};
enum { NONE, SOME /* of a group of warps */, ALL };

static uint32_t low_warps(uint32_t of, uint32_t count)
{
    uint32_t mask = 0;

    for (; count > 0 && of != 0; count--) {
        mask |= of & -of;
        of &= of - 1;
    }
    return mask;
}

static uint32_t high_warps(uint32_t of, uint32_t count)
{
    uint32_t all = (uint32_t)__builtin_popcount(of);

    return count >= all ? of : of & ~low_warps(of, all - count);
}

/* The warps of `of` that an edge has if they are the same in every block: their number, 0 if it is not whole.
 */
static uint32_t whole_warps(const struct gt_basic_block *block, uint64_t executions, uint32_t of)
{
    uint32_t all = (uint32_t)__builtin_popcount(of);
    double share = block->executions == 0 ? 0 : (double)executions / (double)block->executions * all;
    uint32_t whole = (uint32_t)(share + 0.5);

    return share - whole > 1e-3 * all || whole - share > 1e-3 * all ? 0 : whole;
}

/* How far an instruction holds the warps of its thread block together. */
static uint8_t together(const struct gt_program *program, const struct gt_instruction *instruction)
{
    switch (instruction->action) {
    case GT_ACTION_BARRIER_SYNC:
        return instruction->argument2 == 0 || instruction->argument2 >= program->warps_per_block * 32 ? ALL : SOME;
    case GT_ACTION_BARRIER_ARRIVE:
    case GT_ACTION_GMMA:
    case GT_ACTION_MBARRIER_WAIT:
    case GT_ACTION_MBARRIER_ARRIVE:
    case GT_ACTION_CLUSTER_WAIT: return SOME;
    default: return NONE;
    }
}

static void find_barriers(struct roles *roles)
{
    const struct gt_program *program = roles->build->program;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];

        for (uint32_t i = block->first; i < block->first + block->count && block->executions > 0; i++) {
            uint8_t here = together(program, &program->instructions[i]);

            roles->together[b] = here > roles->together[b] ? here : roles->together[b];
        }
    }
}

/* What holds warps together behind one edge of `b` and behind it only. */
static uint8_t together_behind(const struct roles *roles, uint32_t b)
{
    const struct gt_build *build = roles->build;
    const struct gt_program *program = build->program;
    const struct gt_basic_block *block = &program->blocks[b];
    uint8_t most = NONE;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
        uint32_t to = program->edges[e].to;

        if (build->dominator[to] != b || program->edges[e].back || build->in_first[to + 1] - build->in_first[to] != 1)
            continue;
        for (uint32_t x = 0; x < program->block_count; x++)
            if (roles->together[x] > most && gt_build_dominates(build, to, x))
                most = roles->together[x];
    }
    return most;
}

static uint8_t condition_taint(const struct roles *roles, const struct gt_basic_block *block)
{
    uint8_t taint = roles->build->taint[block->first + block->count - 1];

    return taint & GT_TAINT_WAIT ? (taint | GT_TAINT_DATA) & (uint8_t)~GT_TAINT_WAIT : taint;
}

/* Are all edges of the block taken by whole warps of each thread block, and not all of them by all? */
static bool splits_by_role(const struct gt_program *program, const struct gt_basic_block *block)
{
    uint32_t all = (uint32_t)__builtin_popcount(block->warps);
    bool differs = false;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
        uint32_t whole = whole_warps(block, program->edges[e].executions, block->warps);

        if (whole == 0)
            return false;
        differs |= whole < all;
    }
    return differs;
}

static uint8_t who_decides(const struct roles *roles, uint32_t b)
{
    const struct gt_program *program = roles->build->program;
    const struct gt_basic_block *block = &program->blocks[b];
    uint8_t taint = condition_taint(roles, block);
    uint8_t numbers = taint & (GT_TAINT_THREAD | GT_TAINT_BLOCK), behind = together_behind(roles, b);
    bool by_role = splits_by_role(program, block), data = taint & GT_TAINT_DATA;

    if (by_role && !data && numbers & GT_TAINT_THREAD && (behind < ALL || numbers == GT_TAINT_THREAD))
        return GT_WHO_ROLE;
    if (behind != NONE || (!data && (numbers == GT_TAINT_BLOCK || taint == 0)))
        return GT_WHO_BLOCK;
    if (by_role && data && block->loop == GT_NONE)
        return GT_WHO_ROLE;
    return taint & GT_TAINT_DATA || block->loop != GT_NONE ? GT_WHO_VISIT : GT_WHO_WARP;
}

/* Give each edge the warps of `block` that take it: the low ones go where the comparison or, where that says
 * nothing, the smaller number says. */
static void split_by_role(struct gt_program *program, const struct gt_basic_block *block)
{
    struct gt_edge *edge = &program->edges[block->first_edge];
    enum gt_side side = gt_program_side(program, block->first + block->count - 1);
    uint32_t counts[2], rest = block->warps;

    if (block->edge_count > 2) {
        for (uint32_t e = 0; e < block->edge_count; e++) {
            edge[e].warps = low_warps(rest, whole_warps(block, edge[e].executions, block->warps));
            rest &= ~edge[e].warps;
        }
        return;
    }
    counts[0] = whole_warps(block, edge[0].executions, block->warps);
    if (block->end == GT_END_EXIT) { /* the edge is for those that do not meet the condition */
        edge[0].warps = side == GT_SIDE_LOW ? high_warps(rest, counts[0]) : low_warps(rest, counts[0]);
        return;
    }
    counts[1] = whole_warps(block, edge[1].executions, block->warps);
    if (side == GT_SIDE_UNKNOWN)
        side = counts[0] < counts[1] ? GT_SIDE_LOW : GT_SIDE_HIGH;
    edge[0].warps = side == GT_SIDE_LOW ? low_warps(rest, counts[0]) : high_warps(rest, counts[0]);
    edge[1].warps = side == GT_SIDE_LOW ? high_warps(rest, counts[1]) : low_warps(rest, counts[1]);
}

/* The warps that come to a block by what is known of its predecessors; all where nothing is. */
static uint32_t warps_arriving(const struct gt_build *build, uint32_t b)
{
    const struct gt_program *program = build->program;
    uint32_t all = program->warps_per_block >= 32 ? UINT32_MAX : (1u << program->warps_per_block) - 1;
    uint32_t warps = b == 0 ? all : 0;

    if (b > 0 && program->blocks[b - 1].end == GT_END_CALL)
        warps |= program->blocks[b - 1].warps;
    for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++)
        warps |= program->edges[build->in[i]].warps;
    return warps != 0 ? warps : all;
}

static void choose(struct roles *roles, uint32_t b)
{
    struct gt_program *program = roles->build->program;
    struct gt_basic_block *block = &program->blocks[b];
    uint32_t stay = 0, leave = 0;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
        program->edges[e].warps = block->warps;
        leave += program->edges[e].leaves;
        stay += !program->edges[e].leaves;
    }
    if (block->end == GT_END_CALL || block->end == GT_END_JOIN || block->edge_count == 0 ||
        (block->end != GT_END_EXIT && block->edge_count == 1) ||
        (block->end == GT_END_EXIT && program->edges[block->first_edge].executions == block->executions))
        return;
    if (block->loop != GT_NONE && stay > 0 && leave > 0) {
        block->choice = GT_CHOICE_LOOP;
        return;
    }
    block->choice = GT_CHOICE_RATIO;
    block->who = who_decides(roles, b);
    if (block->who == GT_WHO_ROLE)
        split_by_role(program, block);
}

/* What the trips of a loop depend on: the conditions of the branches that leave it. */
static void judge_loop(struct roles *roles, uint32_t l)
{
    const struct gt_build *build = roles->build;
    const struct gt_program *program = build->program;
    struct gt_loop *loop = &program->loops[l];
    uint8_t taint = 0;
    uint8_t held = NONE;

    for (uint32_t b = 0; b < program->block_count; b++) {
        if (!gt_build_in_loop(build, b, l))
            continue;
        held = roles->together[b] > held ? roles->together[b] : held;
        if ((program->blocks[b].loop == l && program->blocks[b].choice == GT_CHOICE_LOOP) ||
            gt_build_ends(build, b, l))
            taint |= condition_taint(roles, &program->blocks[b]) & ~GT_TAINT_LANE;
    }
    loop->who = held != NONE || taint == 0 || taint == GT_TAINT_BLOCK ? GT_WHO_BLOCK
                : taint == GT_TAINT_THREAD                            ? GT_WHO_ROLE
                : taint & GT_TAINT_DATA                               ? GT_WHO_VISIT
                                                                      : GT_WHO_WARP;
}

void gt_build_roles(struct gt_build *build)
{
    struct gt_program *program = build->program;
    struct roles roles = { .build = build };

    roles.together = gt_calloc(program->block_count, sizeof *roles.together);
    find_barriers(&roles);
    for (uint32_t i = 0; i < build->ordered; i++) {
        uint32_t b = build->order[i];

        program->blocks[b].warps = warps_arriving(build, b);
        choose(&roles, b);
    }
    for (uint32_t l = 0; l < program->loop_count; l++)
        judge_loop(&roles, l);
    free(roles.together);
}
