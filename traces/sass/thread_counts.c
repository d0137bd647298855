/* thread_counts.c - how often the sides of a branch were taken, by the threads that took them.
 *
 * Conservation of flow leaves a choice where a branch goes past a loop of one block to where the loop ends:
 * arrivals are the same whether few warps make many trips or many make few.  The profiler also counts
 * threads: those that meet the guard of a branch jump, the other active ones fall through.  A warp that takes
 * a side has between 1 and 32 threads there, and visits that split take both.
 */
#include <math.h>

#include "traces/sass/control_flow.h"

enum { WARP_THREADS = 32 };

/* Without counts of threads a program has none or whole warps at each instruction. */
static bool threads_counted(const struct gt_program *program)
{
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct gt_instruction *in = &program->instructions[i];

        if (in->executions > 0 && in->threads > 0 && (in->threads < WARP_THREADS || in->threads_on < WARP_THREADS))
            return true;
    }
    return false;
}

/* Warps that take a side with `threads` threads, of `visits`: at least, at most. */
static double fewest(double threads)
{
    return ceil(threads / WARP_THREADS - 1e-3);
}

static double most(double threads, double visits)
{
    return fmin(ceil(threads - 1e-3), visits);
}

/* Visits of block `b` that jump, and how many more they might be; false: its branch does not tell. */
static bool jumps(const struct gt_build *build, uint32_t b, uint64_t divergent, double *taken, double *doubt)
{
    const struct gt_program *program = build->program;
    const struct gt_basic_block *block = &program->blocks[b];
    const struct gt_instruction *branch = &program->instructions[block->first + block->count - 1];

    if (block->end != GT_END_BRANCH || block->edge_count != 2 || build->known[block->first_edge] ||
        build->known[block->first_edge + 1] || branch->threads <= 0 || !branch->guard_decides)
        return false;
    double visits = (double)block->executions, leave = visits + (double)divergent;
    double jump = branch->threads_on * visits, fall = (branch->threads - branch->threads_on) * visits;
    double low = fmax((double)divergent, fmax(fewest(jump), leave - most(fall, visits)));
    double high = fmin(most(jump, visits), leave - fewest(fall));
    /* Visits that split are taken to part their threads in halves. */
    double halves = jump / branch->threads + (double)divergent / 2;
    *taken = fmin(fmax(fmin(round(halves), high), low), visits);
    *doubt = fmax(0, high - low);
    return true;
}

uint32_t gt_build_jumps_by_threads(const struct gt_build *build, uint64_t *executions)
{
    const struct gt_program *program = build->program;
    double taken, doubt, least = INFINITY;
    uint32_t found = GT_NONE;

    if (!threads_counted(program))
        return GT_NONE;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        uint32_t last = block->first + block->count - 1;
        uint64_t divergent = build->divergent != NULL ? build->divergent[last] : 0;

        if (!jumps(build, b, divergent, &taken, &doubt) || doubt >= least)
            continue;
        uint32_t to = build->block_of[build->flows[last].target];
        least = doubt;
        found = program->edges[block->first_edge].to == to ? block->first_edge : block->first_edge + 1;
        *executions = (uint64_t)taken;
    }
    return found;
}
