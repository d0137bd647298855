/* polling.c - waits for an mbarrier, without what is an outcome of how long they took.
 *
 * A wait tries once and, where that fails, goes to code elsewhere that tries again until it succeeds and
 * comes back behind the first try.  How often that happened says how the profiled run went, not what the
 * kernel does; and it makes loops of code that is none.  So warps are led past it: what the first try sent
 * away goes on as if it had succeeded.  Where a wait begins with that code, it stays.
 */
#include "traces/sass/control_flow.h"
#include "traces/sass/taint.h"

enum { STEPS = 12, SMALL_INSTRUCTIONS = 12 };

/* The way from a failed try to behind it: edges in order. */
struct way {
    uint32_t edges[STEPS], count;
};

static bool waits(const struct gt_program *program, const struct gt_basic_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (program->instructions[i].action == GT_ACTION_MBARRIER_WAIT)
            return true;
    return false;
}

/* Does `b` do nothing but go back to `head`? */
static bool goes_back(const struct gt_program *program, uint32_t b, uint32_t head)
{
    const struct gt_basic_block *block = &program->blocks[b];

    return b == head || (block->count <= SMALL_INSTRUCTIONS && block->edge_count == 1 &&
                         program->edges[block->first_edge].to == head);
}

/* The only edge of a small block that does not go back to it; GT_NONE where there is none, or several. */
static uint32_t way_on(const struct gt_program *program, uint32_t b)
{
    const struct gt_basic_block *block = &program->blocks[b];
    uint32_t found = GT_NONE;

    if (block->count > SMALL_INSTRUCTIONS || (block->end != GT_END_FALL && block->end != GT_END_BRANCH))
        return GT_NONE;
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
        if (goes_back(program, program->edges[e].to, b))
            continue;
        if (found != GT_NONE)
            return GT_NONE;
        found = e;
    }
    return found;
}

/* Does the way that leaves `from` for `b` poll and come back to `behind`? */
static bool find_way(const struct gt_program *program, uint32_t from, uint32_t b, uint32_t behind, struct way *way)
{
    bool polled = false;

    way->count = 0;
    while (b != behind && way->count < STEPS) {
        uint32_t on = way_on(program, b);

        if (on == GT_NONE || b == from)
            return false;
        polled |= waits(program, &program->blocks[b]);
        way->edges[way->count++] = on;
        b = program->edges[on].to;
    }
    return b == behind && polled;
}

/* Leave `kept` of `of` in the counts of a block and its edges. */
static void scale(struct gt_program *program, uint32_t b, uint64_t kept, uint64_t of)
{
    struct gt_basic_block *block = &program->blocks[b];

    block->executions = (uint64_t)((double)block->executions * (double)kept / (double)of);
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        program->edges[e].executions = (uint64_t)((double)program->edges[e].executions * (double)kept / (double)of);
}

/* Take visits out of a block that goes on by `on`, with its tries in the same share. */
static void thin(struct gt_program *program, uint32_t b, uint32_t on, uint64_t visits)
{
    const struct gt_basic_block *block = &program->blocks[b];
    uint64_t left = program->edges[on].executions, kept = left > visits ? left - visits : 0;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count && left > 0; e++)
        if (e != on && program->edges[e].to != b)
            scale(program, program->edges[e].to, kept, left);
    if (left > 0)
        scale(program, b, kept, left);
}

static void lead_past(struct gt_build *build, struct gt_edge *away, struct gt_edge *on, const struct way *way)
{
    for (uint32_t i = 0; i < way->count; i++)
        thin(build->program, build->edge_from[way->edges[i]], way->edges[i], away->executions);
    on->executions += away->executions;
    away->executions = 0;
}

void gt_build_polls(struct gt_build *build)
{
    struct gt_program *program = build->program;
    struct way way;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        struct gt_edge *edges = &program->edges[block->first_edge];

        if (block->end != GT_END_BRANCH || block->edge_count != 2 ||
            !(build->taint[block->first + block->count - 1] & GT_TAINT_WAIT))
            continue;
        for (int away = 0; away < 2; away++) {
            if (!find_way(program, b, edges[away].to, edges[!away].to, &way))
                continue;
            lead_past(build, &edges[away], &edges[!away], &way);
            break;
        }
    }
}
