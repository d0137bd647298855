/* Placement: which SM gets the next block. */
#include "sim/gpu/policy.h"

/* The SM of the lowest rank in a set, from rank `from` on; GT_NONE when there is none. */
static uint32_t first_in(const struct gt_gpu_state *gpu, const uint64_t *set, uint32_t from, uint32_t sms)
{
    for (uint32_t word = from / 64; word * 64 < sms; word++) {
        uint64_t bits = set[word];

        if (word == from / 64)
            bits &= ~UINT64_C(0) << from % 64;
        if (bits != 0)
            return gpu->order[word * 64 + (uint32_t)__builtin_ctzll(bits)];
    }
    return GT_NONE;
}

/* Gilman et al. 2020, and seen on H200: the SM that could host the most additional blocks of this
 * kernel, ties by the device's order. */
static uint32_t most_room(struct gt_gpu_state *gpu, const struct gt_device *device)
{
    for (uint32_t blocks = gpu->free_blocks_most; blocks > 0; blocks--) {
        gt_sm_index sm = first_in(gpu, gpu->free_block_sets[blocks], 0, device->sms);

        gpu->free_blocks_most = blocks;
        if (sm != GT_NONE)
            return sm;
    }
    return GT_NONE;
}

/* The first SM in the device's order that has room: fills one before it turns to the next. */
static uint32_t first_fit(struct gt_gpu_state *gpu, const struct gt_device *device)
{
    for (uint32_t rank = 0; rank < device->sms; rank++) {
        if (gpu->sms[gpu->order[rank]].free_blocks > 0)
            return gpu->order[rank];
    }
    return GT_NONE;
}

/* The next SM after the one served last: what textbooks draw. */
static uint32_t round_robin(struct gt_gpu_state *gpu, const struct gt_device *device)
{
    for (uint32_t step = 0; step < device->sms; step++) {
        uint32_t rank = (gpu->round_robin + step) % device->sms;

        if (gpu->sms[gpu->order[rank]].free_blocks > 0) {
            gpu->round_robin = (rank + 1) % device->sms;
            return gpu->order[rank];
        }
    }
    return GT_NONE;
}

static const struct gt_place_policy policies[] = {
    { { "most-room", "the SM with room for the most blocks of the kernel, ties in the device's order" },
      most_room },
    { { "first-fit", "the first SM in the device's order that has room" }, first_fit },
    { { "round-robin", "the next SM after the one served last" }, round_robin },
};

const struct gt_place_policy *gt_place_policy_find(const char *name, struct gt_error *error)
{
    return gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0],
                          "scheduling.placement", name, error);
}
