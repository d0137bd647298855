/* What fits on an SM.  How many more blocks each has room for is kept for the one shape that is being
 * dispatched, as sets of SMs by that number, so that the SM with the most is found without a scan.  Of SMs that
 * blocks have left it is worked out when a block is to be placed: often many leave before one comes. */
#include "sim/gpu/sm.h"

#include "sim/gpu/sm_partitions.h"

#include <string.h>

/* A block's warps are spread over the sub-partitions, an equal share each; what is left over goes, a warp each, to
 * those with the most registers free.  False, and nothing taken, where one has too few. */
static bool deal_registers(const struct gt_device *device, uint32_t *registers, const struct gt_block_need *need,
                           uint8_t *odd_warps)
{
    uint32_t partitions = device->register_partitions, per_warp = need->registers / need->warps;
    uint32_t share = need->warps / partitions * per_warp, odd = need->warps % partitions, taken = 0;

    for (uint32_t i = 0; i < partitions; i++)
        if (registers[i] < share)
            return false;
    for (uint32_t left = odd; left > 0; left--) {
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < partitions; i++)
            if (!(taken & UINT32_C(1) << i) && (best == UINT32_MAX || registers[i] > registers[best]))
                best = i;
        if (registers[best] < share + per_warp)
            return false;
        taken |= UINT32_C(1) << best;
    }
    for (uint32_t i = 0; i < partitions; i++) {
        bool one_more = taken & UINT32_C(1) << i;

        registers[i] -= share + (one_more ? per_warp : 0);
        odd_warps[i] += one_more;
    }
    return true;
}

/* Blocks that fit one after the other where the shares are not all the same, `most` at most. */
static uint32_t fit_unequal(const struct gt_device *device, const struct gt_sm_state *sm,
                            const struct gt_block_need *need, uint32_t most)
{
    uint32_t registers[GT_DEVICE_MAX_PARTITIONS], blocks = 0;
    uint8_t unused[GT_DEVICE_MAX_PARTITIONS] = { 0 };

    memcpy(registers, sm->registers, sizeof registers);
    while (blocks < most && deal_registers(device, registers, need, unused))
        blocks++;
    return blocks;
}

/* Blocks that the registers of an SM are enough for, `most` at most. */
static uint32_t fit_registers(struct gt_machine *m, const struct gt_sm_state *sm, const struct gt_block_need *need,
                              uint32_t most)
{
    uint32_t least = sm->registers[0], whole = sm->registers[0], partitions = m->device->register_partitions, blocks;

    for (uint32_t i = 1; i < partitions; i++) {
        least = sm->registers[i] < least ? sm->registers[i] : least;
        whole += sm->registers[i];
    }
    if (need->partition_registers > 0) {
        blocks = least / need->partition_registers;
        blocks = blocks < most ? blocks : most;
    } else {
        blocks = fit_unequal(m->device, sm, need, most);
    }
    m->fired[GT_RULE_PARTITIONS] += blocks < most && (uint64_t)(blocks + 1) * need->registers <= whole;
    return blocks;
}

/* Is shared memory all that a block could lack? */
static bool fits_otherwise(struct gt_machine *m, const struct gt_sm_state *sm, const struct gt_block_need *need)
{
    return sm->blocks > 0 && sm->threads >= need->threads && sm->warps >= need->warps &&
           (need->registers == 0 || fit_registers(m, sm, need, 1) == 1);
}

static uint32_t free_blocks(struct gt_machine *m, const struct gt_sm_state *sm, const struct gt_block_need *need)
{
    uint32_t blocks = sm->blocks, fit;

    if (sm->resident > 0 && sm->carveout_bytes < need->carveout_bytes) { /* it is set anew only when idle */
        m->fired[GT_RULE_CARVEOUT] += fits_otherwise(m, sm, need);
        return 0;
    }
    if (need->threads > 0 && (fit = sm->threads / need->threads) < blocks)
        blocks = fit;
    if (need->warps > 0 && (fit = sm->warps / need->warps) < blocks)
        blocks = fit;
    if (need->registers > 0)
        blocks = fit_registers(m, sm, need, blocks);
    if (need->shared_bytes > 0 && (fit = sm->shared_bytes / need->shared_bytes) < blocks) {
        m->fired[GT_RULE_CARVEOUT] += sm->carveout_bytes > 0 && sm->carveout_bytes < m->device->shared_bytes_per_sm;
        blocks = fit;
    }
    return blocks;
}

static void set_free_blocks(struct gt_gpu_state *gpu, gt_sm_index sm, uint32_t blocks)
{
    uint32_t rank = gpu->rank[sm];

    gpu->free_block_sets[gpu->sms[sm].free_blocks][rank / 64] &= ~(UINT64_C(1) << rank % 64);
    gpu->free_block_sets[blocks][rank / 64] |= UINT64_C(1) << rank % 64;
    gpu->sms[sm].free_blocks = blocks;
    gpu->room_changed[sm / 64] |= UINT64_C(1) << sm % 64;
    if (blocks > gpu->free_blocks_most)
        gpu->free_blocks_most = blocks;
}

static bool is_empty(const uint64_t *set, uint32_t sms)
{
    for (uint32_t word = 0; word * 64 < sms; word++)
        if (set[word] != 0)
            return false;
    return true;
}

/* The last set may have lost its last SM. */
static void lower_most(struct gt_gpu_state *gpu, uint32_t sms)
{
    while (gpu->free_blocks_most > 0 && is_empty(gpu->free_block_sets[gpu->free_blocks_most], sms))
        gpu->free_blocks_most--;
}

static bool same_need(const struct gt_block_need *a, const struct gt_block_need *b)
{
    return a->partition == b->partition && a->threads == b->threads && a->warps == b->warps &&
           a->registers == b->registers && a->shared_bytes == b->shared_bytes &&
           a->carveout_bytes == b->carveout_bytes && a->sets_bytes == b->sets_bytes;
}

/* Do two SMs have the same free? */
static bool equivalent(const struct gt_sm_state *a, const struct gt_sm_state *b)
{
    return a->threads == b->threads && a->warps == b->warps &&
           memcmp(a->registers, b->registers, sizeof a->registers) == 0 && a->shared_bytes == b->shared_bytes &&
           a->blocks == b->blocks && a->resident == b->resident && a->carveout_bytes == b->carveout_bytes;
}

/* All sets anew, for another shape.  SMs with the same free are many, and divisions slow. */
static void find_for(struct gt_machine *m, struct gt_gpu_state *gpu, const struct gt_block_need *need)
{
    const struct gt_sm_state *before = NULL; /* the SM before it in the order, whose room is known */
    uint32_t blocks = 0;

    memset(gpu->free_block_sets, 0, (gpu->free_blocks_most + 1) * sizeof gpu->free_block_sets[0]);
    memset(gpu->released, 0, sizeof gpu->released);
    gpu->free_blocks_for = *need;
    gpu->free_blocks_most = 0;
    gpu->room_unknown = true;
    for (uint32_t rank = 0; rank < m->device->sms; rank++) {
        struct gt_sm_state *sm = &gpu->sms[gpu->order[rank]];

        if (!gt_sm_is_in(m, need->partition, gpu->order[rank])) {
            sm->free_blocks = 0;
            gpu->free_block_sets[0][rank / 64] |= UINT64_C(1) << rank % 64;
            before = NULL;
            continue;
        }
        if (before == NULL || !equivalent(sm, before)) {
            blocks = free_blocks(m, sm, need);
            gpu->free_blocks_most = blocks > gpu->free_blocks_most ? blocks : gpu->free_blocks_most;
        }
        gpu->free_block_sets[blocks][rank / 64] |= UINT64_C(1) << rank % 64;
        sm->free_blocks = blocks;
        before = sm;
    }
}

void gt_sm_find_free_blocks(struct gt_machine *m, gt_gpu_index gpu, const struct gt_block_need *need)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    if (!same_need(&state->free_blocks_for, need) || need->partition > 0) {
        find_for(m, state, need);
        return;
    }
    for (uint32_t word = 0; word * 64 < m->device->sms; word++) {
        for (; state->released[word] != 0; state->released[word] &= state->released[word] - 1) {
            gt_sm_index sm = word * 64 + (uint32_t)__builtin_ctzll(state->released[word]);

            set_free_blocks(state, sm, free_blocks(m, &state->sms[sm], need));
        }
    }
    lower_most(state, m->device->sms);
}

void gt_sm_keep_to_used(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        if (!gt_sm_partition_uses(m, state->free_blocks_for.partition, sm))
            set_free_blocks(state, sm, 0);
    lower_most(state, m->device->sms);
}

/* One less, whatever it is that limits them: what an idle SM sets itself to holds as many as fit otherwise
 * (occupancy.h). */
void gt_sm_promise(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    set_free_blocks(state, sm, state->sms[sm].free_blocks - 1);
    if (gt_sm_partition_takes(m, state->free_blocks_for.partition, sm))
        gt_sm_keep_to_used(m, gpu);
    lower_most(state, m->device->sms);
}

/* How many SMs. */
static uint64_t count(const uint64_t *set, uint32_t sms)
{
    uint64_t bits = 0;

    for (uint32_t word = 0; word * 64 < sms; word++)
        bits += (set[word] & (set[word] - 1)) == 0 ? set[word] != 0 : (uint64_t)__builtin_popcountll(set[word]);
    return bits;
}

uint32_t gt_sm_promise_rounds(struct gt_machine *m, gt_gpu_index gpu, uint64_t blocks, uint32_t at_most,
                              uint64_t round[GT_FREE_BLOCK_WORDS])
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    uint32_t most = state->free_blocks_most, rounds = 1;
    uint64_t *set = state->free_block_sets[most], sms = m->device->sms;

    if (blocks < sms * most) /* else there are enough however many SMs it is */
        sms = count(set, m->device->sms);
    if (most == 0 || sms > blocks)
        return 0;
    while (rounds < at_most && rounds < most && (rounds + 1) * sms <= blocks &&
           is_empty(state->free_block_sets[most - rounds], m->device->sms))
        rounds++;
    state->free_blocks_most -= rounds;
    state->room_unknown = true;
    for (uint32_t word = 0; word * 64 < m->device->sms; word++) {
        round[word] = set[word];
        for (uint64_t ranks = set[word]; ranks != 0; ranks &= ranks - 1)
            state->sms[state->order[word * 64 + (uint32_t)__builtin_ctzll(ranks)]].free_blocks -= rounds;
        state->free_block_sets[most - rounds][word] |= set[word];
        set[word] = 0;
    }
    return rounds;
}

/* More than its reserve. */
static bool uses_shared(const struct gt_device *device, const struct gt_block_need *need)
{
    return need->shared_bytes >= device->shared_reserved_bytes + device->shared_unit_bytes;
}

static void take(struct gt_machine *m, struct gt_sm_state *state, const struct gt_block_need *need, uint32_t blocks,
                 uint8_t *odd_warps)
{
    if (state->resident == 0 && need->carveout_bytes > 0) {
        state->shared_bytes = state->carveout_bytes = need->sets_bytes;
        m->fired[uses_shared(m->device, need) ? GT_RULE_SPARE_CARVEOUT : GT_RULE_IDLE_CARVEOUT] +=
            need->sets_bytes > need->carveout_bytes;
    }
    state->resident += blocks;
    state->blocks -= blocks;
    state->threads -= need->threads * blocks;
    state->warps -= need->warps * blocks;
    if (need->partition_registers > 0) {
        for (uint32_t i = 0; i < m->device->register_partitions; i++)
            state->registers[i] -= need->partition_registers * blocks;
    } else {
        for (uint32_t i = 0; i < blocks && need->registers > 0; i++)
            deal_registers(m->device, state->registers, need, odd_warps);
    }
    state->shared_bytes -= need->shared_bytes * blocks;
}

void gt_sm_allocate(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need,
                    uint32_t blocks, uint8_t *odd_warps)
{
    take(m, &m->gpus[gpu].sms[sm], need, blocks, odd_warps);
}

bool gt_sm_has_room_beside(struct gt_machine *m, gt_gpu_index gpu, const struct gt_block_need *there, uint32_t blocks,
                           const struct gt_block_need *need)
{
    struct gt_sm_state sm = m->gpus[gpu].sms[0];
    uint8_t unused[GT_DEVICE_MAX_PARTITIONS] = { 0 };

    take(m, &sm, there, blocks, unused);
    return free_blocks(m, &sm, need) > 0;
}

void gt_sm_changed(struct gt_machine *m, gt_gpu_index gpu, uint32_t sms)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    for (uint32_t rank = 0; rank < sms; rank++)
        state->released[state->order[rank] / 64] |= UINT64_C(1) << state->order[rank] % 64;
}

void gt_sm_take_block(struct gt_batch *batch, const struct gt_device *device, uint32_t warps, uint8_t *odd_warps)
{
    for (uint32_t left = warps % device->register_partitions; left > 0; left--) {
        uint32_t most = 0;

        for (uint32_t i = 1; i < device->register_partitions; i++)
            if (batch->odd_warps[i] > batch->odd_warps[most])
                most = i;
        if (batch->odd_warps[most] > 0) {
            batch->odd_warps[most]--;
            odd_warps[most]++;
        }
    }
    batch->blocks--;
}

/* The registers of so many blocks, with these of their warps beyond an equal share. */
static void free_registers(const struct gt_device *device, uint32_t *registers, const struct gt_block_need *need,
                           uint32_t blocks, const uint8_t *odd_warps)
{
    uint32_t per_warp;

    if (need->partition_registers > 0) {
        for (uint32_t i = 0; i < device->register_partitions; i++)
            registers[i] += need->partition_registers * blocks;
        return;
    }
    per_warp = need->registers / need->warps;
    for (uint32_t i = 0; i < device->register_partitions; i++)
        registers[i] += (need->warps / device->register_partitions * blocks + odd_warps[i]) * per_warp;
}

void gt_sm_release(struct gt_machine *m, gt_gpu_index gpu, gt_sm_index sm, const struct gt_block_need *need,
                   uint32_t blocks, const uint8_t *odd_warps)
{
    struct gt_gpu_state *g = &m->gpus[gpu];
    struct gt_sm_state *state = &g->sms[sm];

    state->blocks += blocks;
    state->threads += need->threads * blocks;
    state->warps += need->warps * blocks;
    free_registers(m->device, state->registers, need, blocks, odd_warps);
    state->shared_bytes += need->shared_bytes * blocks;
    state->resident -= blocks;
    if (state->resident == 0) {
        state->carveout_bytes = 0;
        state->shared_bytes = m->device->shared_bytes_per_sm;
    }
    g->released[sm / 64] |= UINT64_C(1) << sm % 64;
    gt_sm_partition_leaves(m, need->partition, sm, blocks);
}
