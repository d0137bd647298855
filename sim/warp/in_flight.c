/* in_flight.c - loads that wait for DRAM though others ask for the data first.
 *
 * The profiler counts a read that finds its sector on its way from DRAM as a hit of L2.  Blocks that run at the same
 * time and read the same data in the same order, as those of a matrix product do, wait for it together: the block
 * ahead misses, and those behind catch up with it.  A 64 x 64 WMMA product of one wave, 79 % of whose reads hit L2,
 * waited 570 to 760 cycles for each of its loads, where L2 answers in 300 (sampled on an H200).
 *
 * How much of a load's executions that are, as far as counts and code tell:
 *  - Blocks that run later, and later trips of the loops around a load's own loop, find the data in L2.
 *  - A sector that DRAM reads has as many readers at once as there are blocks, at most.
 *  - What loads outside loops read before is in L2.
 *  - A load that takes a part of what L2 fetches at once (a sector of a line) finds the rest there later.
 *  - What launches before left in L2 saves nobody from waiting as long as some of each trip's lines are not there: a
 *    product of 5 MB took 62 us behind a kernel that left it there, 65 behind one that did not.
 *  - Where loaded data say what is read, blocks do not read the same at the same time.
 */
#include <math.h>

#include "sim/warp/internal.h"

/* Trips of the loops around a loop. */
static double outer_trips(const struct gt_program *program, uint32_t loop)
{
    double trips = 1;

    for (uint32_t l = program->loops[loop].parent; l != GT_NONE; l = program->loops[l].parent)
        trips *= gt_warp_mean_trips(&program->loops[l]);
    return trips;
}

/* Of the executions of a load, those that are the first to touch a sector of what L2 fetches at once. */
static double first_touches(const struct gt_access *access, const struct gt_warp_costs *costs)
{
    double fetched = fmax(access->l2_fetch_bytes, (double)costs->dram_burst_bytes) / GT_SECTOR_BYTES;

    return fmin(1, access->sectors_ideal / (fmax(1, access->tag_requests) * fetched));
}

/* Part of the sectors that loops bring from DRAM: what loads outside of loops leave of them. */
static double left_for_loops(const struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;
    double once = 0, in_loops = 0, missed = 0;

    for (uint32_t b = 0; b < program->block_count; b++)
        for (uint32_t i = program->blocks[b].first; i < program->blocks[b].first + program->blocks[b].count; i++) {
            double sectors = code->ops[i].l2_miss > 0 ? gt_warp_sectors_asked(code, i, true) : 0;

            missed += sectors * code->ops[i].l2_miss;
            if (program->blocks[b].loop == GT_NONE)
                once += sectors;
            else
                in_loops += sectors * code->ops[i].l2_miss;
        }
    return in_loops > 0 ? fmax(0, fmin(1, (missed - once) / in_loops)) : 0;
}

/* Part of a load's executions, of those in loops, that wait for DRAM: `at_once` is the part of the grid that runs at the
 * same time, `readers` how many a sector of what loops bring has at most. */
static double waits(const struct gt_decoded_program *code, uint32_t block, const struct gt_decoded_inst *op,
                    const struct gt_warp_costs *costs, double at_once, double readers)
{
    uint32_t loop = code->program->blocks[block].loop;

    if (loop == GT_NONE || op->access == NULL || op->access->data_address || op->l2_miss <= 0)
        return 0;
    return fmin(fmin(1, at_once / outer_trips(code->program, loop)), readers * op->l2_miss) *
           first_touches(op->access, costs);
}

void gt_warp_find_in_flight(struct gt_decoded_program *code, const struct gt_warp_launch *launch,
                            const struct gt_warp_costs *costs, uint32_t sms)
{
    const struct gt_program *program = code->program;
    double blocks = launch->grid_blocks > 0 ? launch->grid_blocks : (double)launch->blocks;
    double fit = launch->blocks_at_once > 0 ? launch->blocks_at_once : (double)launch->blocks_per_sm * sms;
    double resident = fmin(blocks, fit), left = left_for_loops(code);

    for (uint32_t b = 0; b < program->block_count; b++)
        for (uint32_t i = program->blocks[b].first; i < program->blocks[b].first + program->blocks[b].count; i++) {
            struct gt_decoded_inst *op = &code->ops[i];

            op->l2_wait = fmaxf(op->l2_miss, (float)waits(code, b, op, costs, resident / blocks, left * resident));
        }
}
