/* Placement: which SM gets the next block. */
#include "sim/gpu/placement.h"

#include <stdlib.h>

#include "sim/gpu/sm.h"
#include "sim/machine/free_lists.h"

/* Gilman et al. 2020, and seen on H200: the SM that could host the most additional blocks of this
 * kernel, ties by the device's order. */
static gt_sm_index most_room(void *state, const struct gt_placement_view *view)
{
    const struct gt_gpu_state *gpu = view->gpu;
    const uint64_t *set = gpu->free_block_sets[gpu->free_blocks_most];

    (void)state;
    if (gpu->free_blocks_most == 0)
        return GT_NONE;
    for (uint32_t word = 0; word * 64 < view->device->sms; word++)
        if (set[word] != 0)
            return gpu->order[word * 64 + (uint32_t)__builtin_ctzll(set[word])];
    return GT_NONE;
}

/* The first SM that has room, from `rank` on; returns its rank, or the number of SMs. */
static gt_sm_rank with_room(const struct gt_placement_view *view, gt_sm_rank rank)
{
    while (rank < view->device->sms && view->gpu->sms[view->gpu->order[rank]].free_blocks == 0)
        rank++;
    return rank;
}

/* The first SM in the device's order that has room: fills one before it turns to the next. */
static gt_sm_index first_fit(void *state, const struct gt_placement_view *view)
{
    gt_sm_rank rank = with_room(view, 0);

    (void)state;
    return rank < view->device->sms ? view->gpu->order[rank] : GT_NONE;
}

/* Round-robin's state: the rank after that of the SM served last. */
static void *new_rank(const struct gt_device *device, const double *parameters)
{
    (void)device;
    (void)parameters;
    return gt_calloc(1, sizeof(gt_sm_rank));
}

static uint64_t rank_position(const void *state)
{
    return *(const gt_sm_rank *)state;
}

/* The next SM after the one served last: what textbooks draw. */
static gt_sm_index round_robin(void *state, const struct gt_placement_view *view)
{
    gt_sm_rank *next = state, rank = with_room(view, *next);

    if (rank == view->device->sms)
        rank = with_room(view, 0);
    if (rank == view->device->sms)
        return GT_NONE;
    *next = (rank + 1) % view->device->sms;
    return view->gpu->order[rank];
}

/* clang-format off */
static const struct gt_placement_policy policies[] = {
    { .named = { .name = "most-room",
                 .help = "the SM with room for the most blocks of the kernel, ties in the device's order" },
      .pick = most_room, .in_rounds = true },
    { .named = { .name = "first-fit", .help = "the first SM in the device's order that has room" },
      .pick = first_fit },
    { .named = { .name = "round-robin", .help = "the next SM after the one served last" },
      .create = new_rank, .free = free, .pick = round_robin, .position = rank_position },
};
/* clang-format on */

const struct gt_placement_policy *gt_placement_find(const char *text, const struct gt_placement_policy *more,
                                                    double *parameters, struct gt_error *error)
{
    static const char key[] = "scheduling.placement";
    const struct gt_placement_policy *found = more;

    if (more == NULL || !gt_named_is(&more->named, text))
        found = gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0], key, text, error);
    if (found == NULL || gt_named_parameters(&found->named, key, text, parameters, error) != 0)
        return NULL;
    return found;
}

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
