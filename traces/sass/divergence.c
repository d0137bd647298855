/* divergence.c - where sides of a divergence meet, and which ways lead out of a loop. */
#include <stdlib.h>

#include "traces/sass/control_flow.h"

/* Up the dominators from the end of `b` to the BSSY that is still open: the block it names. */
static uint32_t open_region(const struct gt_build *build, uint32_t b)
{
    const struct gt_program *program = build->program;
    uint32_t closed = 0; /* bit n: barrier n has been passed by a BSYNC */

    for (; b != GT_NONE; b = build->dominator[b]) {
        const struct gt_basic_block *block = &program->blocks[b];

        for (uint32_t i = block->first + block->count; i-- > block->first;) {
            const struct gt_sass_flow *flow = &build->flows[i];
            uint32_t bit = 1u << (flow->barrier & 31);

            if (flow->kind == GT_SASS_JOIN)
                closed |= bit;
            if (flow->kind == GT_SASS_DIVERGE && !(closed & bit))
                return flow->has_target ? build->block_of[flow->target] : GT_NONE;
            if (flow->kind == GT_SASS_DIVERGE)
                closed &= ~bit;
        }
    }
    return GT_NONE;
}

/* Mark with `bit` what can be reached from `b` without going back behind `from`. */
static void mark(const struct gt_build *build, uint32_t b, uint32_t from, uint8_t bit, uint8_t *marks,
                 uint32_t *stack)
{
    const struct gt_program *program = build->program;
    uint32_t depth = 0;

    stack[depth++] = b;
    marks[b] |= bit;
    while (depth > 0) {
        const struct gt_basic_block *block = &program->blocks[stack[--depth]];
        bool call = block->end == GT_END_CALL;
        uint32_t ways = call ? block->resume != GT_NONE : block->edge_count;

        for (uint32_t i = 0; i < ways; i++) {
            uint32_t to = call ? block->resume : program->edges[block->first_edge + i].to;

            if (marks[to] & bit || build->position[to] <= build->position[from])
                continue;
            marks[to] |= bit;
            stack[depth++] = to;
        }
    }
}

/* Whether the threads of a warp meet at the end of a block, at a WARPSYNC: such a join no BSSY names. */
static bool collects(const struct gt_build *build, uint32_t b)
{
    const struct gt_basic_block *block = &build->program->blocks[b];

    return block->end == GT_END_JOIN && block->edge_count == 1 &&
           build->flows[block->first + block->count - 1].kind != GT_SASS_JOIN;
}

/* The first WARPSYNC that both sides of a branch come to; without a `region` any join.  What follows it, or
 * the region's end where that is nearer. */
static uint32_t first_common_join(const struct gt_build *build, uint32_t b, uint32_t region)
{
    const struct gt_program *program = build->program;
    const struct gt_basic_block *block = &program->blocks[b];
    uint8_t *marks = gt_calloc(program->block_count, sizeof *marks);
    uint32_t *stack = gt_calloc(program->block_count, sizeof *stack), found = region;
    uint32_t end = region != GT_NONE ? build->position[region] : build->ordered;

    mark(build, program->edges[block->first_edge].to, b, 1, marks, stack);
    mark(build, program->edges[block->first_edge + 1].to, b, 2, marks, stack);
    for (uint32_t i = build->position[b] + 1; i < end && i < build->ordered && found == region; i++) {
        const struct gt_basic_block *join = &program->blocks[build->order[i]];

        if (marks[build->order[i]] == 3 && join->end == GT_END_JOIN && join->edge_count == 1 &&
            (region == GT_NONE || collects(build, build->order[i])))
            found = program->edges[join->first_edge].to;
    }
    free(marks);
    free(stack);
    return found;
}

static void find_joins(struct gt_build *build)
{
    struct gt_program *program = build->program;

    for (uint32_t i = 0; i < build->ordered; i++) {
        uint32_t b = build->order[i];
        struct gt_basic_block *block = &program->blocks[b];

        if (block->divergent > 0 && block->edge_count >= 2)
            block->join = first_common_join(build, b, open_region(build, b));
    }
}

/* Backwards over the blocks of each loop: from where can it be left without passing its head again? */
static void find_ways_out(struct gt_build *build)
{
    struct gt_program *program = build->program;
    bool *out = gt_calloc(program->block_count, sizeof *out), changed;

    for (uint32_t l = 0; l < program->loop_count; l++) {
        for (uint32_t b = 0; b < program->block_count; b++)
            out[b] = !gt_build_in_loop(build, b, l) || gt_build_ends(build, b, l);
        do {
            changed = false;
            for (uint32_t i = build->ordered; i-- > 0;) {
                uint32_t b = build->order[i];
                const struct gt_basic_block *block = &program->blocks[b];
                bool leads = block->end == GT_END_CALL && block->resume != GT_NONE && out[block->resume];

                if (out[b])
                    continue;
                for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
                    leads |= block->end != GT_END_CALL && program->edges[e].to != program->loops[l].head &&
                             out[program->edges[e].to];
                out[b] = leads;
                changed |= leads;
            }
        } while (changed);
        for (uint32_t e = 0; e < program->edge_count; e++)
            if (program->blocks[build->edge_from[e]].loop == l)
                program->edges[e].leads_out =
                    program->edges[e].to != program->loops[l].head && out[program->edges[e].to];
    }
    free(out);
}

void gt_build_regions(struct gt_build *build)
{
    find_joins(build);
    find_ways_out(build);
}
