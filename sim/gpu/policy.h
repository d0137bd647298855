/* policy.h - decisions that papers and chips disagree on, as tables.
 *
 * To add one: write its function in placement.c or arbitration.c, add a row, name it
 * in a device file (scheduling.placement, scheduling.arbitration).
 */
#ifndef GRIDTIDE_SIM_GPU_POLICY_H
#define GRIDTIDE_SIM_GPU_POLICY_H

#include "sim/base/named_table.h"
#include "sim/machine/machine.h"

/* Which SM gets the next block. */
struct gt_place_policy {
    struct gt_named named;
    /* The SM for one more block of the shape that the rooms are kept for
     * (gpu->free_block_sets, sms[].room), or GT_NONE where no SM has room.  Called once a block;
     * may change only the policy's own state (round_robin). */
    uint32_t (*pick)(struct gt_gpu_state *gpu, const struct gt_device *device);
};
const struct gt_place_policy *gt_place_policy_find(const char *name, struct gt_error *error);

/* Whose block is next, when the grid that was tried has no room left for a block. */
struct gt_arbitration_policy {
    struct gt_named named;
    /* The grid to try after `grid` (GT_NONE: the first one), or GT_NONE to stop. Called until it
     * returns GT_NONE; must not change anything. */
    uint32_t (*next)(const struct gt_machine *m, const struct gt_gpu_state *gpu, gt_grid_index grid);
};
const struct gt_arbitration_policy *gt_arbitration_policy_find(const char *name, struct gt_error *error);

#endif
