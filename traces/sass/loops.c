/* loops.c - dominators and natural loops of a program.
 *
 * Dominators by the algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
 * over the edges that warps took; a call goes on at its `resume`, and each function called is a root of its
 * own.
 */
#include <stdlib.h>

#include "traces/sass/control_flow.h"

/* The successors of a block, edges first, then what a call returns to. */
static uint32_t successors(const struct gt_basic_block *block)
{
    return block->end == GT_END_CALL ? (block->resume != GT_NONE && block->executions > 0) : block->edge_count;
}

static uint32_t successor(const struct gt_program *program, const struct gt_basic_block *block, uint32_t i)
{
    return block->end == GT_END_CALL ? block->resume : program->edges[block->first_edge + i].to;
}

/* Depth first from `root`: blocks in postorder are appended to build->order. */
static void visit(struct gt_build *build, uint32_t root, bool *seen, uint32_t *stack, uint32_t *next)
{
    const struct gt_program *program = build->program;
    uint32_t depth = 0;

    if (seen[root])
        return;
    seen[root] = true;
    next[root] = 0;
    stack[depth++] = root;
    while (depth > 0) {
        uint32_t b = stack[depth - 1];
        const struct gt_basic_block *block = &program->blocks[b];

        if (next[b] == successors(block)) {
            build->order[build->ordered++] = b;
            depth--;
            continue;
        }
        b = successor(program, block, next[b]++);
        if (seen[b])
            continue;
        seen[b] = true;
        next[b] = 0;
        stack[depth++] = b;
    }
}

static void order_blocks(struct gt_build *build)
{
    const struct gt_program *program = build->program;
    bool *seen = gt_calloc(program->block_count, sizeof *seen);
    uint32_t *stack = gt_calloc(program->block_count, sizeof *stack);
    uint32_t *next = gt_calloc(program->block_count, sizeof *next);

    build->order = gt_calloc(program->block_count, sizeof *build->order);
    build->position = gt_calloc(program->block_count, sizeof *build->position);
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].end == GT_END_CALL && program->blocks[b].edge_count > 0)
            visit(build, program->edges[program->blocks[b].first_edge].to, seen, stack, next);
    visit(build, 0, seen, stack, next);
    for (uint32_t i = 0; i < build->ordered / 2; i++) {
        uint32_t b = build->order[i];

        build->order[i] = build->order[build->ordered - 1 - i];
        build->order[build->ordered - 1 - i] = b;
    }
    for (uint32_t b = 0; b < program->block_count; b++)
        build->position[b] = GT_NONE;
    for (uint32_t i = 0; i < build->ordered; i++)
        build->position[build->order[i]] = i;
    free(seen);
    free(stack);
    free(next);
}

/* The nearest block that dominates both; GT_NONE where only different roots do. */
static uint32_t meet(const struct gt_build *build, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *later = build->position[a] > build->position[b] ? &a : &b;

        *later = build->dominator[*later];
        if (*later == GT_NONE)
            return GT_NONE;
    }
    return a;
}

static bool is_root(const struct gt_build *build, uint32_t b)
{
    const struct gt_program *program = build->program;

    if (b == 0)
        return true;
    for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++)
        if (program->blocks[build->edge_from[build->in[i]]].end == GT_END_CALL)
            return true;
    return false;
}

/* The dominator of `b` by what is known of its predecessors so far. */
static uint32_t dominator_of(const struct gt_build *build, uint32_t b, const bool *done)
{
    const struct gt_program *program = build->program;
    uint32_t found = GT_NONE;
    bool first = true;

    if (b > 0 && program->blocks[b - 1].end == GT_END_CALL && done[b - 1]) {
        found = b - 1;
        first = false;
    }
    for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++) {
        uint32_t from = build->edge_from[build->in[i]];

        if (build->position[from] == GT_NONE || !done[from])
            continue;
        found = first ? from : found == GT_NONE ? GT_NONE : meet(build, from, found);
        first = false;
    }
    return found;
}

static void find_dominators(struct gt_build *build)
{
    uint32_t blocks = build->program->block_count;
    bool *done = gt_calloc(blocks, sizeof *done), *root = gt_calloc(blocks, sizeof *root), changed = true;

    build->dominator = gt_calloc(blocks, sizeof *build->dominator);
    for (uint32_t b = 0; b < blocks; b++) {
        build->dominator[b] = GT_NONE;
        root[b] = is_root(build, b);
        done[b] = root[b];
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < build->ordered; i++) {
            uint32_t b = build->order[i], dominator = root[b] ? GT_NONE : dominator_of(build, b, done);

            changed |= dominator != build->dominator[b] || !done[b];
            build->dominator[b] = dominator;
            done[b] = true;
        }
    }
    free(done);
    free(root);
}

bool gt_build_dominates(const struct gt_build *build, uint32_t a, uint32_t b)
{
    while (b != a && b != GT_NONE)
        b = build->dominator[b];
    return b == a;
}

bool gt_build_in_loop(const struct gt_build *build, uint32_t b, uint32_t loop)
{
    uint32_t in = build->program->blocks[b].loop;

    while (in != GT_NONE && in != loop)
        in = build->program->loops[in].parent;
    return in == loop;
}

/* Put `b` into `loop`, unless it is there, or into the loop around the one that it is in. */
static void join_loop(struct gt_build *build, uint32_t b, uint32_t loop)
{
    struct gt_program *program = build->program;
    uint32_t *in = &program->blocks[b].loop, depth = 0;

    for (; *in != GT_NONE && *in != loop; depth++)
        in = &program->loops[*in].parent;
    *in = loop;
    build->too_large |= depth > GT_FLOW_MOST_DEPTH;
}

/* The blocks of a loop: those that reach a back edge without passing the head. */
static void fill_loop(struct gt_build *build, uint32_t loop, uint32_t *stack, bool *seen)
{
    struct gt_program *program = build->program;
    uint32_t head = program->loops[loop].head, depth = 0;

    for (uint32_t b = 0; b < program->block_count; b++)
        seen[b] = false;
    seen[head] = true;
    for (uint32_t i = build->in_first[head]; i < build->in_first[head + 1]; i++) {
        uint32_t from = build->edge_from[build->in[i]];

        if (!program->edges[build->in[i]].back || seen[from])
            continue;
        seen[from] = true;
        stack[depth++] = from;
    }
    while (depth > 0) {
        uint32_t b = stack[--depth];

        if (b > 0 && program->blocks[b - 1].end == GT_END_CALL && program->blocks[b - 1].resume == b &&
            !seen[b - 1]) {
            seen[b - 1] = true;
            stack[depth++] = b - 1;
        }
        for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++) {
            uint32_t from = build->edge_from[build->in[i]];

            if (seen[from] || build->position[from] == GT_NONE)
                continue;
            seen[from] = true;
            stack[depth++] = from;
        }
    }
    /* Inner loops are found first (see find_loops): this one goes around what is there. */
    for (uint32_t b = 0; b < program->block_count; b++)
        if (seen[b])
            join_loop(build, b, loop);
}

static uint32_t back_edges_into(const struct gt_build *build, uint32_t b)
{
    uint32_t count = 0;

    for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++)
        count += build->program->edges[build->in[i]].back;
    return count;
}

/* Heads in postorder: a loop inside another comes before it. */
static void find_loops(struct gt_build *build)
{
    struct gt_program *program = build->program;
    uint32_t *stack = gt_calloc(program->block_count, sizeof *stack);
    bool *seen = gt_calloc(program->block_count, sizeof *seen);

    for (uint32_t e = 0; e < program->edge_count; e++) {
        uint32_t from = build->edge_from[e];

        program->edges[e].back = program->blocks[from].end != GT_END_CALL && build->position[from] != GT_NONE &&
                                 gt_build_dominates(build, program->edges[e].to, from);
    }
    program->loops = gt_calloc(build->ordered + 1ull, sizeof *program->loops);
    for (uint32_t i = build->ordered; i-- > 0 && !build->too_large;) {
        uint32_t head = build->order[i];

        if (back_edges_into(build, head) == 0)
            continue;
        program->loops[program->loop_count] = (struct gt_loop){
            .head = head,
            .parent = GT_NONE,
            .trips = program->blocks[head].executions,
        };
        fill_loop(build, program->loop_count++, stack, seen);
    }
    free(stack);
    free(seen);
}

static bool polls(const struct gt_program *program, const struct gt_basic_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        uint8_t action = program->instructions[i].action;

        if (action == GT_ACTION_MBARRIER_WAIT || action == GT_ACTION_SLEEP)
            return true;
    }
    return false;
}

/* Whether warps end in a block behind which others go on. */
static bool ends_some(const struct gt_program *program, const struct gt_basic_block *block)
{
    return block->end == GT_END_EXIT && block->edge_count > 0 &&
           program->edges[block->first_edge].executions < block->executions;
}

bool gt_build_ends(const struct gt_build *build, uint32_t b, uint32_t loop)
{
    const struct gt_program *program = build->program;

    return program->loops[loop].ends && program->blocks[b].loop == loop && ends_some(program, &program->blocks[b]);
}

/* Loops without an edge that leads out of them, in which warps end.  Not where warps split: there sides of
 * them may end one by one. */
static void find_ends(struct gt_build *build)
{
    struct gt_program *program = build->program;

    for (uint32_t b = 0; b < program->block_count; b++) {
        uint32_t loop = program->blocks[b].loop;

        if (loop != GT_NONE)
            program->loops[loop].ends |= ends_some(program, &program->blocks[b]);
    }
    for (uint32_t e = 0; e < program->edge_count; e++) {
        const struct gt_basic_block *from = &program->blocks[build->edge_from[e]];
        bool leaves = program->edges[e].leaves && program->edges[e].executions > 0;

        if (from->loop != GT_NONE && (leaves || from->divergent > 0))
            program->loops[from->loop].ends = false;
    }
}

/* Entries; edges that leave; whether all that a loop does is wait. */
static void measure_loops(struct gt_build *build)
{
    struct gt_program *program = build->program;

    for (uint32_t l = 0; l < program->loop_count; l++) {
        struct gt_loop *loop = &program->loops[l];
        uint64_t back = 0;
        uint32_t blocks = 0, instructions = 0;

        for (uint32_t i = build->in_first[loop->head]; i < build->in_first[loop->head + 1]; i++)
            if (program->edges[build->in[i]].back)
                back += program->edges[build->in[i]].executions;
        loop->entries = back < loop->trips ? loop->trips - back : 1;
        for (uint32_t b = 0; b < program->block_count; b++) {
            if (!gt_build_in_loop(build, b, l))
                continue;
            blocks++;
            instructions += program->blocks[b].count;
            loop->polls |= polls(program, &program->blocks[b]);
        }
        loop->polls = loop->polls && blocks <= 3 && instructions <= 16;
    }
    for (uint32_t e = 0; e < program->edge_count; e++) {
        uint32_t from = build->edge_from[e], loop = program->blocks[from].loop;

        program->edges[e].leaves = loop != GT_NONE && program->blocks[from].end != GT_END_CALL &&
                                   !gt_build_in_loop(build, program->edges[e].to, loop);
    }
    find_ends(build);
}

void gt_build_loops(struct gt_build *build)
{
    order_blocks(build);
    find_dominators(build);
    find_loops(build);
    if (!build->too_large)
        measure_loops(build);
}
