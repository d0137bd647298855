/* Arbitration: whose block is next. Grids stand in lists by priority level, in order of arrival. */
#include "sim/gpu/policy.h"

static uint32_t first_grid(const struct gt_gpu_state *gpu)
{
    return gpu->levels_used == 0 ? GT_NONE : gpu->level_head[__builtin_ctzll(gpu->levels_used)];
}

/* Rules X1 and A2 of Amert et al., RTSS'17, and seen on H200: only the head grid of the most urgent
 * level hands out blocks; one that does not fit holds back all behind it. */
static uint32_t leftover(const struct gt_machine *m, const struct gt_gpu_state *gpu, gt_grid_index grid)
{
    (void)m;
    return grid == GT_NONE ? first_grid(gpu) : GT_NONE;
}

/* What-if: later grids may fill the room that the ones before them cannot use. */
static uint32_t backfill(const struct gt_machine *m, const struct gt_gpu_state *gpu, gt_grid_index grid)
{
    uint64_t behind;

    if (grid == GT_NONE)
        return first_grid(gpu);
    if (m->grids[grid].next != GT_NONE)
        return m->grids[grid].next;
    behind = m->grids[grid].level == 63 ? 0 : gpu->levels_used & ~UINT64_C(0) << (m->grids[grid].level + 1);
    return behind == 0 ? GT_NONE : gpu->level_head[__builtin_ctzll(behind)];
}

static const struct gt_arbitration_policy policies[] = {
    { { "leftover", "all blocks of the head grid leave before a later grid's may" }, leftover },
    { { "backfill", "later grids fill room that the grids before them cannot use" }, backfill },
};

const struct gt_arbitration_policy *gt_arbitration_policy_find(const char *name, struct gt_error *error)
{
    return gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0],
                          "scheduling.arbitration", name, error);
}
