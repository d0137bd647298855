/* edge_counts.c - how often each edge was taken, by conservation of flow.
 *
 * What arrives at a block is what it executed: with all edges into it known but one, that one is known.
 * This alone settles nearly everything, divergence included, since sides of a divergence that meet
 * again do so at a JOIN, which may let fewer through than come.  Where it does not, what leaves a branch
 * is what it executed and what it split, and then what the threads that took it say (edge_counts.c).
 */
#include <math.h>
#include <stdlib.h>

#include "traces/sass/control_flow.h"
#include "traces/sass/taint.h"

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void settle(struct gt_build *build, uint32_t edge, uint64_t executions)
{
    const struct gt_basic_block *from = &build->program->blocks[build->edge_from[edge]];

    build->program->edges[edge].executions = at_most(executions, from->executions);
    build->known[edge] = true;
}

/* Edges that have no choice: the whole of a block goes on there. */
static void settle_certain(struct gt_build *build)
{
    const struct gt_program *program = build->program;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        bool whole = block->end == GT_END_FALL || block->end == GT_END_CALL ||
                     (block->end == GT_END_BRANCH && block->edge_count == 1);

        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
            if (whole || block->executions == 0 || program->blocks[program->edges[e].to].executions == 0)
                settle(build, e, whole ? block->executions : 0);
    }
}

/* What comes to a block by other ways than edges: the launch, and returns from calls. */
static uint64_t arrives_otherwise(const struct gt_program *program, uint32_t b)
{
    uint64_t arrives = b == 0 ? program->warps : 0;

    if (b > 0 && program->blocks[b - 1].end == GT_END_CALL)
        arrives += program->blocks[b - 1].executions;
    return arrives;
}

/* Settle the last unknown edge into each block; true where one was. */
static bool settle_by_arrivals(struct gt_build *build)
{
    const struct gt_program *program = build->program;
    bool progress = false;

    for (uint32_t b = 0; b < program->block_count; b++) {
        uint64_t arrives = arrives_otherwise(program, b);
        uint32_t unknown = GT_NONE, unknowns = 0;

        for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++) {
            uint32_t e = build->in[i];

            if (!build->known[e]) {
                unknown = e;
                unknowns++;
            }
            arrives += program->edges[e].executions;
        }
        if (unknowns != 1)
            continue;
        settle(build, unknown, less(program->blocks[b].executions, arrives));
        progress = true;
    }
    return progress;
}

static uint64_t splits(const struct gt_build *build, const struct gt_basic_block *block)
{
    return build->divergent == NULL ? 0 : build->divergent[block->first + block->count - 1];
}

/* Settle the last unknown edge out of each branch; true where one was. */
static bool settle_by_leaving(struct gt_build *build)
{
    const struct gt_program *program = build->program;
    bool progress = false;

    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        uint64_t leaves = 0;
        uint32_t unknown = GT_NONE, unknowns = 0;

        if (block->end != GT_END_BRANCH && block->end != GT_END_SWITCH)
            continue;
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
            if (!build->known[e]) {
                unknown = e;
                unknowns++;
            }
            leaves += program->edges[e].executions;
        }
        if (unknowns != 1)
            continue;
        settle(build, unknown, less(block->executions + splits(build, block), leaves));
        progress = true;
    }
    return progress;
}

/* Settle the jump of the branch whose threads say most; true where one was. */
static bool settle_by_threads(struct gt_build *build)
{
    uint64_t executions;
    uint32_t jump = gt_build_jumps_by_threads(build, &executions);

    if (jump != GT_NONE)
        settle(build, jump, executions);
    return jump != GT_NONE;
}

/* Nothing more follows: an equal share for the first edge that is unknown, then all may go on. */
static bool settle_by_guess(struct gt_build *build)
{
    const struct gt_program *program = build->program;

    for (uint32_t e = 0; e < program->edge_count; e++) {
        uint32_t to = program->edges[e].to, unknowns = 0;
        uint64_t arrives = arrives_otherwise(program, to);

        if (build->known[e])
            continue;
        for (uint32_t i = build->in_first[to]; i < build->in_first[to + 1]; i++) {
            arrives += program->edges[build->in[i]].executions;
            unknowns += !build->known[build->in[i]];
        }
        settle(build, e, less(program->blocks[to].executions, arrives) / unknowns);
        return true;
    }
    return false;
}

/* Edges that no warp took are of no use to a walk. */
static void drop_unused(struct gt_build *build)
{
    struct gt_program *program = build->program;
    uint32_t kept = 0;

    for (uint32_t b = 0; b < program->block_count; b++) {
        struct gt_basic_block *block = &program->blocks[b];
        uint32_t first = block->first_edge, end = first + block->edge_count;

        block->first_edge = kept;
        for (uint32_t e = first; e < end; e++) {
            if (program->edges[e].executions == 0)
                continue;
            build->edge_from[kept] = b;
            program->edges[kept++] = program->edges[e];
        }
        block->edge_count = kept - block->first_edge;
    }
    program->edge_count = kept;
    gt_build_index(build);
}

static uint64_t leaving(const struct gt_program *program, const struct gt_basic_block *block)
{
    uint64_t sum = 0;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        sum += program->edges[e].executions;
    return sum;
}

/* What arrives at a block, and the splits of branches. */
static uint64_t arriving(const struct gt_build *build, uint32_t b)
{
    uint64_t sum = arrives_otherwise(build->program, b);

    for (uint32_t i = build->in_first[b]; i < build->in_first[b + 1]; i++)
        sum += build->program->edges[build->in[i]].executions;
    return sum;
}

/* Of visits that take two edges, each edge has one. */
static void set_divergent(struct gt_program *program, struct gt_basic_block *block, uint64_t divergent)
{
    block->divergent = divergent;
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        program->edges[e].alone = less(program->edges[e].executions, divergent);
}

/* Warp instructions behind arrivals that do not fit, and branches whose warps go nowhere. */
static void judge(struct gt_build *build, struct gt_flow_report *report)
{
    struct gt_program *program = build->program;
    double all = 0, odd = 0, worst = 0;

    *report = (struct gt_flow_report){ .worst = GT_NONE };
    for (uint32_t b = 0; b < program->block_count; b++) {
        struct gt_basic_block *block = &program->blocks[b];
        uint64_t arrive = arriving(build, b), leave = leaving(program, block), counted = block->executions;
        bool must_leave = block->end == GT_END_BRANCH || block->end == GT_END_SWITCH;
        /* Groups of a warp's threads that come to a join while others are there go on as one. */
        bool merges = build->flows[block->first].kind == GT_SASS_JOIN;
        double wrong = (double)(less(counted, arrive) + (merges ? 0 : less(arrive, counted))) * block->count;

        all += (double)counted * block->count;
        set_divergent(program, block, must_leave ? less(leave, counted) : 0);
        if (must_leave && leave < counted)
            wrong += (double)(counted - leave);
        odd += wrong;
        if (wrong <= worst)
            continue;
        worst = wrong;
        report->worst = block->first;
        report->arrive = arrive;
        report->counted = counted;
    }
    report->imbalance = all > 0 ? odd / all : 0;
    program->flow_broken = report->imbalance * 1000 > GT_FLOW_LIMIT_PERMILLE;
}

void gt_build_counts(struct gt_build *build, struct gt_flow_report *report)
{
    build->known = gt_calloc(build->program->edge_count + 1ull, sizeof *build->known);
    settle_certain(build);
    while (settle_by_arrivals(build) || settle_by_leaving(build) || settle_by_threads(build) ||
           settle_by_guess(build))
        ;
    drop_unused(build);
    build->taint = gt_calloc(build->program->instruction_count, sizeof *build->taint);
    gt_program_taint(build->program, build->taint);
    gt_build_polls(build);
    drop_unused(build);
    judge(build, report);
}

/* How often the sides of a branch were taken, by the threads that took them.
 *
 * Conservation of flow leaves a choice where a branch goes past a loop of one block to where the loop ends:
 * arrivals are the same whether few warps make many trips or many make few.  The profiler also counts
 * threads: those that meet the guard of a branch jump, the other active ones fall through.  A warp that takes
 * a side has between 1 and 32 threads there, and visits that split take both.
 */

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
