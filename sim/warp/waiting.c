/* waiting.c - loops in which warps wait for others: their trips are no work.
 *
 * How often a warp looked says how slow the profiled pass was: counting by instruction slows a kernel down, and one
 * source page counted 126 % more than the launch executed.  Loops that the program calls so, and those that sleep in
 * most trips, are gone through once.  Others may wait: they load past L1, as who waits for another SM has to, and
 * store nothing.  What was counted beyond the launch's own count is taken from their trips.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/warp/internal.h"

/* Two passes of a profiler differ by this part anyway. */
#define COUNTS_DIFFER 0.005

/* A loop that waits is small. */
enum { MOST_BLOCKS = 4, MOST_INSTRUCTIONS = 32 };

static bool stores(uint8_t action)
{
    return action == GT_ACTION_STORE || action == GT_ACTION_REDUCE || action == GT_ACTION_BULK_STORE;
}

/* Does the block's loop sleep in most trips? */
static bool sleeps(const struct gt_program *program, const struct gt_basic_block *block)
{
    if (block->executions * 2 <= program->loops[block->loop].trips)
        return false;
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (program->instructions[i].action == GT_ACTION_SLEEP)
            return true;
    return false;
}

/* What blocks that belong to a loop and to none inside it have. */
struct content {
    uint32_t blocks, instructions;
    uint64_t executed; /* warp instructions */
    bool looks, stores, inner;
};

static struct content *contents_of(const struct gt_program *program)
{
    struct content *contents = gt_calloc(program->loop_count + 1, sizeof *contents);

    for (uint32_t l = 0; l < program->loop_count; l++)
        if (program->loops[l].parent != GT_NONE)
            contents[program->loops[l].parent].inner = true;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];

        if (block->loop == GT_NONE)
            continue;
        struct content *content = &contents[block->loop];
        content->blocks++;
        content->instructions += block->count;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct gt_instruction *in = &program->instructions[i];

            content->executed += in->executions;
            content->stores |= stores(in->action);
            content->looks |=
                in->action == GT_ACTION_LOAD && in->memory != GT_NONE && program->memory[in->memory].bypass_l1;
        }
    }
    return contents;
}

/* Warp instructions of all trips but each warp's first. */
static double of_more_trips(const struct gt_loop *loop, const struct content *content)
{
    return loop->trips > loop->entries ? (double)content->executed * (1 - (double)loop->entries / (double)loop->trips)
                                       : 0;
}

static bool may_wait(const struct content *content)
{
    return content->looks && !content->stores && !content->inner && content->blocks <= MOST_BLOCKS &&
           content->instructions <= MOST_INSTRUCTIONS;
}

/* Warp instructions that the profiled launch executed by its own count; without one, all that were counted. */
static double executed(const struct gt_warp_launch *launch)
{
    double warps = (double)launch->blocks * launch->warps_per_block;

    if (launch->warp_instructions == 0)
        return (double)launch->program->warp_instructions;
    return (double)launch->warp_instructions * (double)launch->program->warps / fmax(1, warps);
}

struct gt_warp_waiting gt_warp_find_waiting(const struct gt_warp_launch *launch)
{
    const struct gt_program *program = launch->program;
    double *kept = gt_calloc(program->loop_count + 1, sizeof *kept);
    struct gt_warp_waiting waiting = { .kept = kept };
    struct content *contents = contents_of(program);
    double spare = 0;

    for (uint32_t l = 0; l < program->loop_count; l++)
        kept[l] = program->loops[l].polls ? 0 : 1;
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].loop != GT_NONE && sleeps(program, &program->blocks[b]))
            kept[program->blocks[b].loop] = 0;
    for (uint32_t l = 0; l < program->loop_count; l++) {
        waiting.idle += kept[l] == 0 ? of_more_trips(&program->loops[l], &contents[l]) : 0;
        spare += kept[l] > 0 && may_wait(&contents[l]) ? of_more_trips(&program->loops[l], &contents[l]) : 0;
    }
    double more = (double)program->warp_instructions - waiting.idle - executed(launch);
    double taken = spare > 0 && more > COUNTS_DIFFER * executed(launch) ? fmin(1, more / spare) : 0;
    for (uint32_t l = 0; l < program->loop_count && taken > 0; l++)
        if (kept[l] > 0 && may_wait(&contents[l]))
            kept[l] = 1 - taken;
    waiting.idle += taken * spare;
    free(contents);
    return waiting;
}
