/* Batches: blocks that start, and what is due for them. */
#include "sim/gpu/batches.h"

#include "sim/gpu/block_progress.h"
#include "sim/gpu/driver_kernel.h"
#include "sim/gpu/ends_apart.h"
#include "sim/gpu/grid_sync.h"
#include "sim/gpu/placement.h"
#include "sim/gpu/sm.h"
#include "sim/gpu/steady_state.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/child_launch.h"
#include "sim/workload/block_cost.h"

gt_time_ps gt_batch_cost_ps(const struct gt_machine *m, const struct gt_grid *grid, uint64_t block)
{
    if (grid->early_ps > 0)
        return grid->block_ps - gt_block_early_ps(grid->early_ps, block, gt_grid_last_wave(m, grid));
    if (grid->block_ps != GT_TIME_NONE)
        return grid->block_ps;
    return gt_block_cost_ps(&m->workload->kernels[grid->kernel], m->options->seed, grid->op, block);
}

/* When blocks placed now may start: dispatched one after the other, in a slot that is ready again.
 * An inverted cost holds both already. */
static gt_time_ps start_time(const struct gt_machine *m, const struct gt_gpu_state *gpu, const struct gt_grid *grid,
                             gt_sm_index sm, uint64_t behind)
{
    gt_time_ps start_ps = m->engine.now_ps;

    if (grid->inverted)
        return start_ps;
    start_ps += behind * m->device->dispatch_ps;
    return start_ps > gpu->sms[sm].ready_ps ? start_ps : gpu->sms[sm].ready_ps;
}

static void begin_grid(struct gt_machine *m, const struct gt_gpu_state *gpu, const struct gt_grid *grid,
                       gt_time_ps start_ps)
{
    gt_command_index command = grid->command;

    m->commands[command].start_ps = start_ps;
    gt_stream_command_hold(m, command, GT_WAIT_RESOURCE, start_ps, GT_CAUSE_OP, gpu->freed_by_op);
}

void gt_batch_schedule(struct gt_machine *m, gt_batch_index batch, gt_time_ps due_ps, uint64_t stamp)
{
    struct gt_last_due *last = &m->last_due;

    if (last->batch != GT_NONE && last->sequence == m->engine.sequence && last->due_ps == due_ps &&
        last->stamp == stamp && due_ps > m->engine.now_ps && m->batches[last->batch].grid == m->batches[batch].grid) {
        m->batches[last->batch].next_due = batch;
        gt_engine_schedule_next(&m->engine);
    } else {
        gt_engine_schedule(&m->engine, due_ps, GT_PHASE_END, GT_HANDLE_BLOCKS, batch, stamp);
    }
    *last = (struct gt_last_due){ batch, due_ps, stamp, m->engine.sequence };
}

gt_batch_index gt_batch_take_next(void *machine, gt_batch_index batch)
{
    struct gt_machine *m = machine;
    gt_batch_index next = m->batches[batch].next_due;

    m->batches[batch].next_due = GT_NONE;
    return next;
}

static void tell_started(struct gt_machine *m, gt_batch_index batch, gt_time_ps end_ps)
{
    const struct gt_batch *b = &m->batches[batch];
    const struct gt_grid *grid = &m->grids[b->grid];
    struct gt_block_record record = {
        .op = grid->op,
        .gpu = m->gpus[b->gpu].of,
        .sm = b->sm,
        .blocks = b->blocks,
        .first_block = b->first_block,
        .warps_per_block = grid->occupancy.need.warps,
        .start_ps = b->start_ps,
        .end_ps = end_ps,
    };

    gt_steady_state_started(m, b->grid, &record);
    if (m->probe->blocks != NULL && m->probe->blocks(m->probe->user, &record, m->error) != 0)
        m->failed = true;
}

void gt_batch_tell_ended(struct gt_machine *m, const struct gt_batch *batch)
{
    const struct gt_grid *grid = &m->grids[batch->grid];
    /* clang-format off */
    struct gt_block_record record = {
        .op = grid->op, .gpu = m->gpus[batch->gpu].of, .sm = batch->sm, .blocks = batch->blocks,
        .first_block = batch->first_block, .warps_per_block = grid->occupancy.need.warps,
        .start_ps = batch->start_ps, .end_ps = m->engine.now_ps,
    };
    /* clang-format on */

    if (m->probe->blocks != NULL && m->probe->blocks(m->probe->user, &record, m->error) != 0)
        m->failed = true;
}

/* A batch of blocks that are on their SM. */
static gt_batch_index begin_batch(struct gt_machine *m, gt_gpu_index gpu, const struct gt_batch *begun)
{
    struct gt_grid *g = &m->grids[begun->grid];
    gt_batch_index batch = gt_batch_new(m);

    if (begun->first_block == 0) {
        begin_grid(m, &m->gpus[gpu], g, begun->start_ps);
        if (g->copies)
            gt_block_progress_copy_within(m, gpu, 1);
    }
    m->blocks += begun->blocks;
    m->gpus[gpu].resident_blocks += begun->blocks;
    m->batches[batch] = *begun;
    return batch;
}

void gt_batch_start_deferred(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];
    gt_time_ps now_ps = m->engine.now_ps;
    struct gt_batch all = { .gpu = gpu,
                            .grid = grid,
                            .sm = GT_NONE,
                            .blocks = (uint32_t)g->blocks,
                            .start_ps = now_ps,
                            .next_due = GT_NONE };
    gt_batch_index batch = begin_batch(m, gpu, &all);

    gt_driver_kernel_placed(g, g->blocks);
    g->dispatched = g->blocks;
    gt_engine_schedule(&m->engine, now_ps + g->block_ps, GT_PHASE_END, GT_HANDLE_BLOCKS, batch, GT_STAMP_END);
    gt_deferred_placement_begin(m, gpu, batch);
}

void gt_batch_due(struct gt_machine *m, gt_batch_index batch, gt_time_ps end_ps)
{
    gt_batch_schedule(m, batch, end_ps, GT_STAMP_END);
    if (m->blocks_may_stop) /* told when it ends */
        return;
    if (m->grids[m->batches[batch].grid].apart_ps == 0 && (m->probe->blocks != NULL || m->steady_state != NULL))
        tell_started(m, batch, end_ps);
}

void gt_batch_start(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm, uint32_t blocks,
                    uint64_t first, uint64_t behind)
{
    const struct gt_gpu_state *state = &m->gpus[gpu];
    const struct gt_grid *g = &m->grids[grid];
    gt_time_ps start_ps = start_time(m, state, g, sm, behind);
    gt_time_ps end_ps = start_ps + gt_batch_cost_ps(m, g, first);
    gt_batch_index batch;
    struct gt_batch begun = {
        .gpu = gpu,
        .grid = grid,
        .sm = sm,
        .blocks = blocks,
        .first_block = first,
        .start_ps = start_ps,
        .next_due = GT_NONE,
    };

    if (g->launches)
        end_ps += gt_child_block_starts(m, g->op, first, start_ps, end_ps - start_ps);
    m->fired[GT_RULE_REFILL] += start_ps > m->engine.now_ps && start_ps == state->sms[sm].ready_ps;
    gt_sm_allocate(m, gpu, sm, &g->occupancy.need, blocks, begun.odd_warps);
    batch = begin_batch(m, gpu, &begun);
    if (g->launch != NULL) {
        gt_block_progress_batch_begins(m, batch);
        return;
    }
    if (g->block_begins != NULL) {
        g->block_begins(m, batch);
        return;
    }
    if (g->sync.held) {
        if (gt_grid_sync_started(m, batch, &end_ps))
            return;
    } else if (m->programmatic && g->kernel != GT_NONE) {
        gt_grid_sync_will_end(m, grid, start_ps, end_ps);
    }
    gt_batch_due(m, batch, end_ps);
}
