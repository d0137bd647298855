/* blocks.c - blocks come to the SM and leave it.
 *
 * The SM is the fullest one: it gets a block of each row, where row r is the grid's blocks r * SMs to
 * r * SMs + SMs - 1.  How many other SMs have a block of a row says how many compete for L2 and DRAM.
 */
#include <math.h>
#include <string.h>

#include "sim/warp/internal.h"

static double cycles_of(const struct gt_sm_core *sm, uint64_t ps)
{
    return (double)ps * sm->device->clock_mhz * 1e-6;
}

/* Blocks of the grid in `row`.  In a last wave of which some SMs get more than others do, as many in each. */
static double row_blocks(const struct gt_sm_core *sm, uint64_t row)
{
    uint64_t slots = sm->launch->blocks_per_sm, last_wave = (sm->sm_blocks - 1) / slots * slots;

    if (sm->more_rows > 0 && row >= last_wave)
        return fmax(1, ((double)sm->launch->blocks - (double)(last_wave * sm->device->sms)) /
                           (double)(sm->sm_blocks - last_wave));
    uint64_t sms = sm->device->sms, before = row * sms;
    uint64_t left = sm->launch->blocks > before ? sm->launch->blocks - before : 0;

    return left < sms ? (double)left : (double)sms;
}

/* SMs that compete, counted in what this one has.
 *
 * Each has its part of L2 and DRAM, and a burst cannot borrow what others leave.  So more SMs with the same L2 and
 * DRAM may take longer: fewer blocks an SM have a smaller part each, and less beside them to do while they wait for it.
 * Of 438 launches profiled on an H200 64 take more than 0.05 % longer on 264 SMs than on its 132, 14 % at most; with
 * L2 and DRAM twice as fast too, 3 do, 3.9 % at most. */
static void set_share(struct gt_sm_core *sm)
{
    double blocks = 0;

    for (uint32_t i = 0; i < sm->launch->blocks_per_sm; i++)
        if (sm->blocks[i].used)
            blocks += row_blocks(sm, sm->blocks[i].row);
    if (sm->launch->competing > 0)
        sm->share = sm->launch->competing;
    else
        sm->share = sm->resident > 0 ? fmax(1, blocks / sm->resident) : 1;
}

static void plan_start(struct gt_sm_core *sm, uint64_t at)
{
    uint32_t i = sm->start_count++;

    for (; i > 0 && sm->starts[i - 1] > at; i--)
        sm->starts[i] = sm->starts[i - 1];
    sm->starts[i] = at;
}

void gt_warp_grid_begin(struct gt_sm_core *sm)
{
    uint64_t first = sm->sm_blocks < sm->launch->blocks_per_sm ? sm->sm_blocks : sm->launch->blocks_per_sm;

    for (uint64_t i = 0; i < first; i++)
        plan_start(sm, (uint64_t)((double)i * (cycles_of(sm, sm->device->dispatch_ps) * sm->device->sms +
                                               sm->costs->block_start_cycles)));
}

static void reset_walk(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    const struct gt_program *program = sm->code.program;
    struct gt_warp_state keep = *warp;

    memset(warp, 0, sizeof *warp);
    warp->trips = keep.trips;
    warp->exits = keep.exits;
    warp->fixed_trips = keep.fixed_trips;
    warp->entries = keep.entries;
    warp->visits = keep.visits;
    warp->decided = keep.decided;
    warp->barrier = GT_NONE;
    memset(warp->decided, 0, program->block_count);
    memset(warp->visits, 0, program->block_count * sizeof *warp->visits);
    memset(warp->entries, 0, program->loop_count * sizeof *warp->entries);
    for (uint32_t l = 0; l < program->loop_count; l++)
        warp->exits[l] = warp->fixed_trips[l] = GT_NONE;
}

/* A place in the sub-partition with the fewest warps. */
static void seat(struct gt_sm_core *sm, struct gt_warp_state *warp)
{
    uint32_t best = 0, place = 0;

    for (uint32_t s = 1; s < GT_WARP_SUBS; s++)
        if (sm->subs[s].warps < sm->subs[best].warps)
            best = s;
    struct gt_smsp *sub = &sm->subs[best];
    while (sub->warp[place] != NULL)
        place++;
    sub->warp[place] = warp;
    sub->age[place] = sm->ages++;
    sub->warps++;
    sub->places = place >= sub->places ? place + 1 : sub->places;
    warp->sub = (uint8_t)best;
    warp->place = (uint8_t)place;
}

static void count_residents(struct gt_sm_core *sm, uint64_t now, int change)
{
    sm->warp_cycles += (double)(now - sm->resident_since) * sm->resident * sm->launch->warps_per_block;
    sm->resident_since = now;
    sm->resident = (uint32_t)((int)sm->resident + change);
    set_share(sm);
}

void gt_warp_block_place(struct gt_sm_core *sm, struct gt_wblock *block)
{
    struct gt_wblock fresh = { .used = true,
                               .warps = sm->launch->warps_per_block,
                               .alive = sm->launch->warps_per_block,
                               .row = (uint32_t)sm->sm_blocks_started++,
                               .members = block->members,
                               .trips = block->trips,
                               .choices = block->choices };

    *block = fresh;
    memset(block->choices, 0, sm->code.program->block_count * sizeof *block->choices);
    memset(block->trips, 0, sm->code.program->loop_count * sizeof *block->trips);
    for (uint32_t i = 0; i < block->warps; i++) {
        struct gt_warp_state *warp = &sm->warps[sm->free_warps[--sm->free_warp_count]];

        reset_walk(sm, warp);
        warp->slot = (uint32_t)(block - sm->blocks);
        warp->number = i;
        block->members[i] = warp;
        gt_warp_walk_start(sm, warp);
    }
}

void gt_warp_block_start(struct gt_sm_core *sm, uint64_t now)
{
    struct gt_wblock *block = sm->blocks;

    sm->start_count--;
    memmove(sm->starts, sm->starts + 1, sm->start_count * sizeof *sm->starts);
    while (block->used)
        block++;
    gt_warp_block_place(sm, block);
    count_residents(sm, now, 1);
    for (uint32_t i = 0; i < block->warps; i++) {
        struct gt_warp_state *warp = block->members[i];

        warp->since = now > 0 ? now - 1 : 0;
        warp->stall_until = now;
        seat(sm, warp);
        gt_warp_set_ready(sm, warp);
    }
}

void gt_warp_block_end(struct gt_sm_core *sm, struct gt_wblock *block, uint64_t now)
{
    /* A block keeps its place until L2 has what it stored. */
    double done = fmax((double)now, (double)block->stores_done);

    block->used = false;
    sm->retire_free = fmax(sm->retire_free, done) + cycles_of(sm, sm->device->retire_ps);
    sm->ended_at[sm->rows_ended++] = (uint64_t)sm->retire_free;
    count_residents(sm, now, -1);
    if (sm->sm_blocks_started + sm->start_count < sm->sm_blocks)
        plan_start(sm, (uint64_t)(sm->retire_free + cycles_of(sm, sm->device->refill_ps)));
}
