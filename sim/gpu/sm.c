/* What fits on an SM.  How many more blocks each has room for is kept for the one shape that is being
 * dispatched, as sets of SMs by that number, so that the SM with the most is found without a scan. */
#include "sim/gpu/sm.h"

#include <string.h>

static uint32_t free_blocks(const struct gt_sm_state *sm, const struct gt_block_need *need)
{
    uint32_t blocks = sm->blocks, fit;

    if (sm->resident > 0 && sm->carveout_bytes < need->carveout_bytes)
        return 0; /* it is set anew only when idle */
    if (need->threads > 0 && (fit = sm->threads / need->threads) < blocks)
        blocks = fit;
    if (need->warps > 0 && (fit = sm->warps / need->warps) < blocks)
        blocks = fit;
    if (need->registers > 0 && (fit = sm->registers / need->registers) < blocks)
        blocks = fit;
    if (need->shared_bytes > 0 && (fit = sm->shared_bytes / need->shared_bytes) < blocks)
        blocks = fit;
    return blocks;
}

static void set_free_blocks(struct gt_gpu_state *gpu, gt_sm_index sm, uint32_t blocks)
{
    uint32_t rank = gpu->rank[sm];

    gpu->free_block_sets[gpu->sms[sm].free_blocks][rank / 64] &= ~(UINT64_C(1) << rank % 64);
    gpu->free_block_sets[blocks][rank / 64] |= UINT64_C(1) << rank % 64;
    gpu->sms[sm].free_blocks = blocks;
    if (blocks > gpu->free_blocks_most)
        gpu->free_blocks_most = blocks;
}

void gt_sm_find_free_blocks(struct gt_machine *m, gt_gpu_index gpu, const struct gt_block_need *need)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    if (memcmp(&state->free_blocks_for, need, sizeof *need) == 0)
        return;
    state->free_blocks_for = *need;
    memset(state->free_block_sets, 0, sizeof state->free_block_sets);
    state->free_blocks_most = 0;
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        state->sms[sm].free_blocks = 0;
        set_free_blocks(state, sm, free_blocks(&state->sms[sm], need));
    }
}

void gt_sm_allocate(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need)
{
    struct gt_gpu_state *g = &m->gpus[gpu];
    struct gt_sm_state *state = &g->sms[sm];

    if (state->resident++ == 0 && need->carveout_bytes > 0)
        state->shared_bytes = state->carveout_bytes = need->sets_bytes;
    state->blocks--;
    state->threads -= need->threads;
    state->warps -= need->warps;
    state->registers -= need->registers;
    state->shared_bytes -= need->shared_bytes;
    set_free_blocks(g, sm, free_blocks(state, &g->free_blocks_for));
}

void gt_sm_release(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need,
                   uint32_t blocks)
{
    struct gt_gpu_state *g = &m->gpus[gpu];
    struct gt_sm_state *state = &g->sms[sm];

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
    set_free_blocks(g, sm, free_blocks(state, &g->free_blocks_for));
}
