/* placement.h - on which SM a block is placed, at once or when the SM's earlier blocks of the same time are known. */
#ifndef GRIDTIDE_SIM_GPU_PLACEMENT_H
#define GRIDTIDE_SIM_GPU_PLACEMENT_H

#include "sim/base/named_table.h"
#include "sim/machine/gpu_state.h"
#include "sim/machine/machine.h"

/* What a policy may look at; the distributor's, and good during the call only. */
struct gt_placement_view {
    const struct gt_device *device;
    const struct gt_gpu_state *gpu; /* SMs: free_blocks, free_block_sets are room for more blocks of `grid` */
    const struct gt_grid *grid;     /* `dispatched` is the number of the block to place */
    const double *parameters;       /* in the order of the policy's row */
};

struct gt_placement_policy {
    struct gt_named named;
    /* State of its own, one for each GPU of a run, made before anything runs; the policy's, told to end when the
     * run is over.  Both NULL: it has none, and `state` below is NULL. */
    void *(*create)(const struct gt_device *device, const double *parameters);
    void (*free)(void *state);
    /* An SM with free_blocks > 0, which gets one more block of the grid then; or GT_NONE to place none for now.
     * Called again for the next block until then, and from the start whenever a block ends or a grid comes.  May
     * change nothing but `state`, and depend on nothing but that and `view`. */
    gt_sm_index (*pick)(void *state, const struct gt_placement_view *view);
    /* All of `state` that later picks depend on, as a number: where it comes back with the SMs as they were, waves of
     * a huge grid are passed over at once.  NULL: there is none, or, of a policy with state, grids go block by
     * block. */
    uint64_t (*position)(const void *state);
    /* It picks, of the SMs with room for the most blocks, the first in the device's order, always: of a grid that has
     * as many blocks left as there are such SMs each of them gets one, and nobody asks. */
    bool in_rounds;
};

/* The policy that a device's text names: `more`, which a program may bring beside those of the table (NULL: none),
 * or one of these; with its parameters.  NULL with the reason. */
const struct gt_placement_policy *gt_placement_find(const char *text, const struct gt_placement_policy *more,
                                                    double *parameters, struct gt_error *error);

/* May it be so with this grid, one of the driver's? */
bool gt_deferred_placement_suits(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid);
/* `batch` stands for all its blocks from now on, and the event scheduled last ends it. */
void gt_deferred_placement_begin(struct gt_machine *m, gt_gpu_index gpu, gt_batch_index batch);
/* That batch, of no SM, ends now. */
void gt_deferred_placement_end(struct gt_machine *m, const struct gt_batch *batch);

/* Blocks of this grid are to be placed: the SMs get what they hold, where that matters.  False: they hold so much
 * that none has room. */
bool gt_deferred_placement_make_way(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid);

#endif
