#include "sim/gpu/deferred_placement.h"

#include "sim/gpu/placement.h"
#include "sim/gpu/sm.h"
#include "sim/machine/free_lists.h"

bool gt_deferred_placement_suits(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    const struct gt_gpu_state *state = &m->gpus[gpu];

    return m->grids[grid].dispatched == 0 && state->resident_blocks == 0 && m->placement->in_rounds;
}

/* SMs that hold any: those first in the order. */
static uint32_t sms_used(const struct gt_machine *m, uint64_t blocks)
{
    return blocks < m->device->sms ? (uint32_t)blocks : m->device->sms;
}

/* Each SM's end has its number in the row of events. */
void gt_deferred_placement_begin(struct gt_machine *m, gt_gpu_index gpu, gt_batch_index batch)
{
    m->gpus[gpu].deferred.batch = batch;
    for (uint32_t i = 1; i < sms_used(m, m->batches[batch].blocks); i++)
        gt_engine_schedule_next(&m->engine);
}

/* Its places are ready again on the SMs that it had. */
static void ready_sms(struct gt_gpu_state *gpu)
{
    for (uint32_t rank = 0; rank < gpu->deferred.ready_sms; rank++)
        gpu->sms[gpu->order[rank]].ready_ps = gpu->deferred.ready_ps;
    gpu->deferred.ready_sms = 0;
}

void gt_deferred_placement_end(struct gt_machine *m, const struct gt_batch *batch)
{
    struct gt_deferred_state *deferred = &m->gpus[batch->gpu].deferred;

    deferred->ready_sms = sms_used(m, batch->blocks);
    deferred->ready_ps = m->engine.now_ps + m->device->refill_ps;
    deferred->batch = GT_NONE;
}

/* A batch for each SM; their ends share the place in the heap of the one that stood for all. */
static void place(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    gt_batch_index last = state->deferred.batch;
    const struct gt_batch all = m->batches[last];
    const struct gt_block_need *need = &m->grids[all.grid].occupancy.need;

    for (uint32_t rank = 0; rank < sms_used(m, all.blocks); rank++) {
        gt_batch_index batch = rank == 0 ? last : gt_batch_new(m);
        struct gt_batch *b = &m->batches[batch];

        *b = all;
        b->sm = state->order[rank];
        b->first_block = rank;
        b->blocks = all.blocks / m->device->sms + (rank < all.blocks % m->device->sms);
        gt_sm_allocate(m, gpu, b->sm, need, b->blocks, b->odd_warps);
        if (rank > 0)
            m->batches[last].next_due = batch;
        last = batch;
    }
    gt_sm_changed(m, gpu, sms_used(m, all.blocks));
    state->deferred.batch = GT_NONE;
}

bool gt_deferred_placement_make_way(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    const struct gt_batch *all;

    if (state->deferred.ready_sms > 0)
        ready_sms(state);
    if (state->deferred.batch == GT_NONE)
        return true;
    all = &m->batches[state->deferred.batch];
    if (!gt_sm_has_room_beside(m, gpu, &m->grids[all->grid].occupancy.need, all->blocks / m->device->sms,
                               &grid->occupancy.need))
        return false;
    place(m, gpu);
    return true;
}
