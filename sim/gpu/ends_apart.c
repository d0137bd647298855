/* How far apart equal blocks end, so that SMs have room for another kernel's blocks at different times.
 *
 * On an H200 (validate/recordings/block-ends.csv, November 2026) half of the SMs ended 3 % of the launch before the last
 * one where warps always wait for memory, 0.3 % where they compute; with several waves, a fifth of a block before it.  Few ended
 * much earlier or later than most.  Where one SM has u times the mean work, and all of its blocks at once (gt_warp_result.uneven), others have less: with a
 * Mandelbrot set half of the SMs ended after half of the launch.  How early is drawn by the block's number, the same
 * in each run; the first block of the last wave ends when the launch alone does. */
#include "sim/gpu/ends_apart.h"

#include <math.h>

#include "sim/gpu/progress_limit.h"
#include "sim/machine/durations.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/block_cost.h"

/* Its multiples, modulo 1, are spread evenly. */
#define GOLDEN_PART 0.6180339887498949

/* Up to so many times the mean work on one SM, SMs end evenly spread over the end of the launch. */
#define EVEN_ENDS 2

/* The blocks of one SM spread over a third of what SMs spread over. */
#define SM_PART 3

/* A block takes at least this part of its time. */
#define LEAST_PART 0.05

uint64_t gt_grid_last_wave(const struct gt_machine *m, const struct gt_grid *grid)
{
    uint64_t wave = (uint64_t)m->device->sms * grid->occupancy.blocks_per_sm;

    return (grid->blocks - 1) / wave * wave;
}

/* From 0 to 1 in few values, with small steps at the beginning, where others wait for the first place: the paces of all SMs are
 * computed again whenever blocks end. */
static double level_of(double drawn)
{
    enum { STEPS = 4, LAST_LEVELS = 4 };
    double step;

    if (drawn > 0.5)
        return 1 - (drawn > 1 - exp2(-LAST_LEVELS) ? 0 : exp2(ceil(log2(1 - drawn)) - 1));
    step = exp2(floor(log2(drawn))) / STEPS;
    return (floor(drawn / step) + 0.5) * step;
}

/* Of the first block of the last wave 1.  In one wave the blocks of an SM end together; in the last of several each was started
 * at its own time, and many end on one SM, by chance, while others have not ended any. */
static double drawn_level(const struct gt_machine *m, const struct gt_grid *grid, uint64_t block)
{
    if (block == gt_grid_last_wave(m, grid))
        return 1;
    if (grid->occupancy.waves > 1)
        return level_of((double)(gt_random_bits(0, grid->kernel, block) >> 32) / 0x1p32 + 0x1p-33);
    return level_of(1 - fmod((double)(block % m->device->sms) * GOLDEN_PART, 1));
}

/* Where between the first and the last end: few are early or late. */
static double end_level(double drawn)
{
    return 0.5 + asin(2 * drawn - 1) / M_PI;
}

/* By how much they end apart, as a part of a block's time. */
static double apart_part(const struct gt_machine *m, const struct gt_grid *grid)
{
    const struct gt_warp_costs *costs = &m->device->warp;
    const struct gt_warp_result *result = &grid->launch->result;
    double waits =
        gt_progress_waits(result, GT_STALL_LONG_SCOREBOARD) + gt_progress_waits(result, GT_STALL_LG_THROTTLE);
    double starts = (double)costs->apart_ps / (double)grid->block_ps;

    return fmin(1, starts + (grid->occupancy.waves > 1 ? costs->apart_in_waves_part
                                                       : costs->apart_part + costs->apart_by_waits_part * waits));
}

/* How many whole waves of blocks come behind the batch's; 0: it is of the last one. */
static uint64_t waves_behind(const struct gt_machine *m, const struct gt_grid *grid, const struct gt_batch *batch)
{
    uint64_t last = gt_grid_last_wave(m, grid), wave = (uint64_t)m->device->sms * grid->occupancy.blocks_per_sm;

    return batch->first_block >= last ? 0 : (last - batch->first_block + wave - 1) / wave;
}

/* An SM of a small CPC shares the CPC's way to L2 with three others, not five, and ends earlier where warps wait to send. */
static double small_cpc_part(const struct gt_machine *m, const struct gt_batch *batch, const struct gt_grid *grid)
{
    if (batch->first_block == gt_grid_last_wave(m, grid))
        return 0;
    for (uint32_t i = 0; i < m->device->small_cpcs; i++)
        if (m->device->small_cpc_sms[i] == batch->sm)
            return fmin(1 - 4.0 / 6, m->device->warp.small_cpc_part *
                                         gt_progress_waits(&grid->launch->result, GT_STALL_LG_THROTTLE));
    return 0;
}

bool gt_blocks_end_singly(const struct gt_machine *m, const struct gt_grid *grid, const struct gt_batch *batch)
{
    return m->kernels_apart && grid->block_ps > 0 && grid->occupancy.waves > 1 && waves_behind(m, grid, batch) <= 1 &&
           apart_part(m, grid) > 0 && grid->launch->result.uneven <= EVEN_ENDS;
}

/* Of a block's time, where each ends at its own.  The blocks of the last wave but one end around it, so that those of the last
 * begin apart, by a third of the range each way.  These end when as many blocks in a row would have ended on time, or up to two
 * thirds of the range before that. */
static double single_end(const struct gt_machine *m, const struct gt_grid *grid, const struct gt_batch *batch,
                         double done_ps)
{
    double part = apart_part(m, grid) / 3, level = end_level(drawn_level(m, grid, batch->first_block));
    double blocks = done_ps / (double)grid->block_ps;

    if (waves_behind(m, grid, batch) == 1)
        return 1 + part * (2 * level - 1);
    return (1 - (blocks - round(blocks)) - 2 * part * (1 - level)) * (1 - small_cpc_part(m, batch, grid));
}

/* Of a block's time, where the blocks of the batch, of a grid of one wave, end one after the other; sets by how much. */
static double first_end(const struct gt_machine *m, const struct gt_grid *grid, struct gt_batch *batch)
{
    double uneven = grid->launch->result.uneven, part = apart_part(m, grid), each = part / SM_PART / batch->blocks;
    double level = drawn_level(m, grid, batch->first_block);

    if (uneven > EVEN_ENDS)
        return pow(level, uneven - 1);
    part = fmax(part, 2 - 2 / fmax(1, uneven));
    batch->leaves_every_ps = gt_whole_ps(each * (double)grid->block_ps);
    return (1 - small_cpc_part(m, batch, grid)) * (1 - part * (1 - end_level(level)) - each * (batch->blocks - 1));
}

double gt_block_until_first_ps(const struct gt_machine *m, const struct gt_grid *grid, struct gt_batch *batch,
                               double done_ps)
{
    double block_ps = (double)grid->block_ps;

    if (gt_blocks_end_singly(m, grid, batch))
        return block_ps * fmax(LEAST_PART, single_end(m, grid, batch, done_ps));
    if (!m->kernels_apart || grid->block_ps == 0 || waves_behind(m, grid, batch) > 0)
        return block_ps;
    return block_ps * fmax(LEAST_PART, first_end(m, grid, batch));
}
