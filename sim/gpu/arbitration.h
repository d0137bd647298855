/* arbitration.h - whose block is next: policies by name (scheduling.arbitration of the device).
 *
 * To add one: its functions and a row of the table, both in arbitration.c.  Numbers that it takes stand in its row;
 * a device file, or --set, then says "NAME PARAMETER=NUMBER ...".
 */
#ifndef GRIDTIDE_SIM_GPU_ARBITRATION_H
#define GRIDTIDE_SIM_GPU_ARBITRATION_H

#include "sim/base/named_table.h"
#include "sim/machine/gpu_state.h"

/* What a policy may look at; the distributor's, and good during the call only. */
struct gt_arbitration_view {
    const struct gt_device *device;
    const struct gt_gpu_state *gpu; /* levels_used, level_head: grids with blocks left, 0 the most urgent */
    const struct gt_grid *grids;    /* by gt_grid_index; `next` is the one behind it in its level */
    const double *parameters;       /* in the order of the policy's row */
    bool partitions;                /* some processes have SMs of their own: occupancy.need.partition */
};

struct gt_arbitration_policy {
    struct gt_named named;
    /* State of its own, one for each GPU of a run, made before anything runs; the policy's, told to end when the
     * run is over.  Both NULL: it has none, and `state` below is NULL. */
    void *(*create)(const struct gt_device *device, const double *parameters);
    void (*free)(void *state);
    /* The grid to hand out blocks of after `tried`, which SMs have no room left for a block of (GT_NONE: none was
     * tried so far, or the last one tried has handed out all it had); or GT_NONE to stop.  Called until then
     * whenever a block ends or a grid comes.  May change nothing but `state`, and depend on nothing but that and
     * `view`. */
    gt_grid_index (*next)(void *state, const struct gt_arbitration_view *view, gt_grid_index tried);
    /* As of a gt_placement_policy. */
    uint64_t (*position)(const void *state);
};

/* The policy that a device's text names: `more`, which a program may bring beside those of the table (NULL: none),
 * or one of these; with its parameters.  NULL with the reason. */
const struct gt_arbitration_policy *gt_arbitration_find(const char *text, const struct gt_arbitration_policy *more,
                                                        double *parameters, struct gt_error *error);

#endif
