/* What fits on an SM.  Rooms (how many more blocks of a shape) are kept as sets by room number, for
 * the one shape being dispatched, so that the SM with the most room is found without a scan. */
#include "sim/gpu/sm.h"

#include <string.h>

static uint32_t free_blocks(const struct gt_sm_state *sm, const struct gt_block_need *need)
{
    uint32_t room = sm->blocks, fit;

    if (sm->resident > 0 && sm->carveout_bytes < need->carveout_bytes)
        return 0; /* it is set anew only when idle */
    if (need->threads > 0 && (fit = sm->threads / need->threads) < room)
        room = fit;
    if (need->warps > 0 && (fit = sm->warps / need->warps) < room)
        room = fit;
    if (need->registers > 0 && (fit = sm->registers / need->registers) < room)
        room = fit;
    if (need->shared_bytes > 0 && (fit = sm->shared_bytes / need->shared_bytes) < room)
        room = fit;
    return room;
}

static void set_room(struct gt_gpu_state *gpu, uint32_t sm, uint32_t room)
{
    uint32_t rank = gpu->rank[sm];

    gpu->free_block_sets[gpu->sms[sm].free_blocks][rank / 64] &= ~(UINT64_C(1) << rank % 64);
    gpu->free_block_sets[room][rank / 64] |= UINT64_C(1) << rank % 64;
    gpu->sms[sm].free_blocks = room;
    if (room > gpu->free_blocks_most)
        gpu->free_blocks_most = room;
}

void gt_sm_find_free_blocks(struct gt_machine *m, uint32_t number, const struct gt_block_need *need)
{
    struct gt_gpu_state *gpu = &m->gpus[number];

    if (memcmp(&gpu->free_blocks_for, need, sizeof *need) == 0)
        return;
    gpu->free_blocks_for = *need;
    memset(gpu->free_block_sets, 0, sizeof gpu->free_block_sets);
    gpu->free_blocks_most = 0;
    for (uint32_t sm = 0; sm < m->device->sms; sm++) {
        gpu->sms[sm].free_blocks = 0;
        set_room(gpu, sm, free_blocks(&gpu->sms[sm], need));
    }
}

void gt_sm_allocate(struct gt_machine *m, uint32_t number, uint32_t sm, const struct gt_block_need *need)
{
    struct gt_gpu_state *gpu = &m->gpus[number];
    struct gt_sm_state *state = &gpu->sms[sm];

    if (state->resident++ == 0 && need->carveout_bytes > 0)
        state->shared_bytes = state->carveout_bytes = need->sets_bytes;
    state->blocks--;
    state->threads -= need->threads;
    state->warps -= need->warps;
    state->registers -= need->registers;
    state->shared_bytes -= need->shared_bytes;
    set_room(gpu, sm, free_blocks(state, &gpu->free_blocks_for));
}

void gt_sm_release(struct gt_machine *m, uint32_t number, uint32_t sm, const struct gt_block_need *need,
                uint32_t blocks)
{
    struct gt_gpu_state *gpu = &m->gpus[number];
    struct gt_sm_state *state = &gpu->sms[sm];

    state->blocks += blocks;
    state->threads += need->threads * blocks;
    state->warps += need->warps * blocks;
    state->registers += need->registers * blocks;
    state->shared_bytes += need->shared_bytes * blocks;
    state->resident -= blocks;
    if (state->resident == 0) {
        state->carveout_bytes = 0;
        state->shared_bytes = m->device->shared_bytes_per_sm;
    }
    set_room(gpu, sm, free_blocks(state, &gpu->free_blocks_for));
}
