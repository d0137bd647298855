/* basic_blocks.c - basic blocks and edges of a program. */
#include <stdlib.h>

#include "traces/sass/control_flow.h"
#include "traces/sass/taint.h"

/* Does a block end behind this instruction? */
static bool ends_block(const struct gt_sass_flow *flow)
{
    switch (flow->kind) {
    case GT_SASS_BRANCH:
    case GT_SASS_SWITCH:
    case GT_SASS_CALL:
    case GT_SASS_RETURN:
    case GT_SASS_EXIT:
    case GT_SASS_JOIN: return true;
    default: return false;
    }
}

static uint8_t end_of(const struct gt_sass_flow *flow)
{
    switch (flow->kind) {
    case GT_SASS_BRANCH: return GT_END_BRANCH;
    case GT_SASS_SWITCH: return GT_END_SWITCH;
    case GT_SASS_CALL: return GT_END_CALL;
    case GT_SASS_RETURN: return GT_END_RETURN;
    case GT_SASS_EXIT: return GT_END_EXIT;
    case GT_SASS_JOIN: return GT_END_JOIN;
    default: return GT_END_FALL;
    }
}

/* A block begins where control can arrive, and where the count changes: something the text does not show
 * took warps away (threads that left, sides of a divergence that met) or brought them. */
static bool *find_leaders(const struct gt_build *build)
{
    const struct gt_program *program = build->program;
    bool *leader = gt_calloc(program->instruction_count + 1ull, sizeof *leader);

    leader[0] = true;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct gt_sass_flow *flow = &build->flows[i];

        if (flow->has_target)
            leader[flow->target] = true;
        if (ends_block(flow) || (i + 1 < program->instruction_count &&
                                 program->instructions[i].executions != program->instructions[i + 1].executions))
            leader[i + 1] = true;
    }
    return leader;
}

static void cut_blocks(struct gt_build *build, const bool *leader)
{
    struct gt_program *program = build->program;
    struct gt_basic_block *block = NULL;
    uint32_t count = 0;

    for (uint32_t i = 0; i < program->instruction_count; i++)
        count += leader[i];
    program->blocks = gt_calloc(count, sizeof *program->blocks);
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        if (leader[i]) {
            block = &program->blocks[program->block_count++];
            *block = (struct gt_basic_block){
                .first = i,
                .executions = program->instructions[i].executions,
                .resume = GT_NONE,
                .join = GT_NONE,
                .loop = GT_NONE,
            };
        }
        block->count++;
        block->end = end_of(&build->flows[i]);
        build->block_of[i] = program->block_count - 1;
    }
}

void gt_build_add_edge(struct gt_build *build, uint32_t from, uint32_t to)
{
    struct gt_program *program = build->program;
    struct gt_basic_block *block = &program->blocks[from];

    if (program->edge_count == build->edge_room) {
        build->edge_room = build->edge_room == 0 ? 64 : build->edge_room * 2;
        program->edges = gt_realloc(program->edges, build->edge_room, sizeof *program->edges);
        build->edge_from = gt_realloc(build->edge_from, build->edge_room, sizeof *build->edge_from);
    }
    if (block->edge_count == 0)
        block->first_edge = program->edge_count;
    block->edge_count++;
    build->edge_from[program->edge_count] = from;
    program->edges[program->edge_count++] = (struct gt_edge){ .to = to };
}

/* More warps arrive than any edge that can be seen brings: the target of a computed jump. */
static bool *find_orphans(const struct gt_build *build)
{
    const struct gt_program *program = build->program;
    uint64_t *most = gt_calloc(program->block_count, sizeof *most);
    bool *orphan = gt_calloc(program->block_count, sizeof *orphan);

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        const struct gt_sass_flow *flow = &build->flows[block->first + block->count - 1];

        if (flow->has_target && ends_block(flow))
            most[build->block_of[flow->target]] += block->executions;
        if (b + 1 < program->block_count &&
            (block->end == GT_END_FALL || block->end == GT_END_JOIN || block->end == GT_END_CALL ||
             (flow->conditional && block->end != GT_END_SWITCH)))
            most[b + 1] += block->executions;
    }
    for (uint32_t b = 1; b < program->block_count; b++)
        orphan[b] = program->blocks[b].executions > most[b];
    free(most);
    return orphan;
}

static void add_edges(struct gt_build *build, uint32_t b, const bool *orphan)
{
    struct gt_program *program = build->program;
    struct gt_basic_block *block = &program->blocks[b];
    const struct gt_sass_flow *flow = &build->flows[block->first + block->count - 1];
    bool next = b + 1 < program->block_count;

    switch (block->end) {
    case GT_END_BRANCH:
        if (flow->has_target)
            gt_build_add_edge(build, b, build->block_of[flow->target]);
        if (next && flow->conditional)
            gt_build_add_edge(build, b, b + 1);
        break;
    case GT_END_SWITCH:
        for (uint32_t to = 0; to < program->block_count; to++)
            if (orphan[to])
                gt_build_add_edge(build, b, to);
        break;
    case GT_END_CALL:
        block->resume = next ? b + 1 : GT_NONE;
        if (flow->has_target)
            gt_build_add_edge(build, b, build->block_of[flow->target]);
        break;
    case GT_END_RETURN: break;
    case GT_END_EXIT:
        if (next && flow->conditional)
            gt_build_add_edge(build, b, b + 1);
        break;
    default:
        if (next)
            gt_build_add_edge(build, b, b + 1);
    }
}

void gt_build_index(struct gt_build *build)
{
    const struct gt_program *program = build->program;
    uint32_t *fill;

    free(build->in_first);
    free(build->in);
    build->in_first = gt_calloc(program->block_count + 1ull, sizeof *build->in_first);
    build->in = gt_calloc(program->edge_count + 1ull, sizeof *build->in);
    for (uint32_t e = 0; e < program->edge_count; e++)
        build->in_first[program->edges[e].to + 1]++;
    for (uint32_t b = 0; b < program->block_count; b++)
        build->in_first[b + 1] += build->in_first[b];
    fill = gt_calloc(program->block_count + 1ull, sizeof *fill);
    for (uint32_t e = 0; e < program->edge_count; e++) {
        uint32_t to = program->edges[e].to;

        build->in[build->in_first[to] + fill[to]++] = e;
    }
    free(fill);
}

void gt_build_blocks(struct gt_build *build)
{
    struct gt_program *program = build->program;
    bool *leader = find_leaders(build), *orphan;

    build->block_of = gt_calloc(program->instruction_count, sizeof *build->block_of);
    cut_blocks(build, leader);
    free(leader);
    /* Fewer warps behind a place that shows nothing: sides of a divergence have met there. */
    for (uint32_t b = 0; b + 1 < program->block_count; b++)
        if (program->blocks[b].end == GT_END_FALL &&
            program->blocks[b].executions > program->blocks[b + 1].executions)
            program->blocks[b].end = GT_END_JOIN;
    orphan = find_orphans(build);
    build->too_large = program->block_count > GT_FLOW_MOST_BLOCKS;
    for (uint32_t b = 0; b < program->block_count && !build->too_large; b++) {
        add_edges(build, b, orphan);
        build->too_large = program->edge_count > GT_FLOW_MOST_EDGES;
    }
    free(orphan);
    if (!build->too_large)
        gt_build_index(build);
}

/* Which accesses go where loaded data say. */
static void find_data_addresses(struct gt_build *build)
{
    for (uint32_t i = 0; i < build->program->instruction_count; i++) {
        const struct gt_instruction *in = &build->program->instructions[i];

        if (in->memory != GT_NONE)
            build->program->memory[in->memory].data_address = (build->taint[i] & GT_TAINT_DATA) != 0;
    }
}

/* The parts of a control-flow graph, one after the other. */

/* Leave the program without control flow. */
static void forget(struct gt_program *program, struct gt_flow_report *report)
{
    free(program->blocks);
    free(program->edges);
    free(program->loops);
    program->blocks = NULL;
    program->edges = NULL;
    program->loops = NULL;
    program->block_count = program->edge_count = program->loop_count = 0;
    program->flow_broken = true;
    *report = (struct gt_flow_report){ .imbalance = 1, .worst = GT_NONE };
}

void gt_program_build(struct gt_program *program, const struct gt_sass_flow *flows, const uint64_t *divergent,
                      struct gt_flow_report *report)
{
    struct gt_build build = { .program = program, .flows = flows, .divergent = divergent };

    program->warp_instructions = 0;
    for (uint32_t i = 0; i < program->instruction_count; i++)
        program->warp_instructions += program->instructions[i].executions;
    gt_build_blocks(&build);
    if (!build.too_large) {
        gt_build_counts(&build, report);
        gt_build_loops(&build);
    }
    if (build.too_large) {
        forget(program, report);
    } else {
        gt_build_regions(&build);
        find_data_addresses(&build);
        gt_build_roles(&build);
    }
    free(build.block_of);
    free(build.known);
    free(build.edge_from);
    free(build.in_first);
    free(build.in);
    free(build.dominator);
    free(build.order);
    free(build.position);
    free(build.taint);
}
