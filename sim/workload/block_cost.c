#include "sim/workload/block_cost.h"

/* A number in [0, 2^64) that depends on nothing but its arguments (splitmix64's finaliser,
 * Steele et al. 2014), so that a block costs the same wherever and whenever it runs. */
uint64_t gt_random_bits(uint64_t seed, uint64_t op, uint64_t block)
{
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + op * UINT64_C(0xd1342543de82ef95) + block;

    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

gt_time_ps gt_block_cost_ps(const struct gt_kernel *kernel, uint64_t seed, gt_op_index op, uint64_t block)
{
    if (kernel->cost == GT_COST_LIST)
        return kernel->block_list_ps[block % kernel->block_list_length];
    return kernel->block_min_ps + (gt_time_ps)((unsigned __int128)(kernel->block_max_ps - kernel->block_min_ps + 1) *
                                                   gt_random_bits(seed, op, block) >>
                                               64);
}

gt_time_ps gt_block_phase_ps(const struct gt_kernel *kernel, gt_time_ps cost_ps, uint32_t barrier)
{
    const gt_time_ps *end_ps = kernel->phase_end_ps;

    if (barrier == kernel->grid_barriers)
        return cost_ps;
    if (end_ps == NULL)
        return cost_ps / (kernel->grid_barriers + 1ull) * (barrier + 1ull);
    return (gt_time_ps)((unsigned __int128)cost_ps * end_ps[barrier] / end_ps[kernel->grid_barriers]);
}

/* Multiples of the golden ratio fill a range evenly, however many there are. */
gt_time_ps gt_block_early_ps(gt_time_ps most_ps, uint64_t block, uint64_t first)
{
    static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* of 2^64 */

    return block < first ? 0 : (gt_time_ps)((unsigned __int128)most_ps * ((block - first) * golden) >> 64);
}
