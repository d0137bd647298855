/* change.h - what a kind of change is: one row of the table in changes.c, one file of functions.
 *
 * A new kind: a file change_NAME.c with a const struct gt_change_kind, its declaration below, its row in changes.c.
 */
#ifndef GRIDTIDE_SIM_CHANGES_CHANGE_H
#define GRIDTIDE_SIM_CHANGES_CHANGE_H

#include "sim/rewrite/scenario.h"

/* Does a kind take an argument ("NAME=ARGUMENT")? */
enum gt_change_argument { GT_ARGUMENT_NONE, GT_ARGUMENT_OPTIONAL, GT_ARGUMENT_NEEDED };

struct gt_change_kind {
    const char *name;     /* as typed: "streams"; NULL: any device key */
    const char *argument; /* as help and errors name it: "N"; NULL where it takes none */
    enum gt_change_argument takes;
    const char *help; /* what it asks, in half a sentence */
    bool keeps_gpu;   /* it rests on recorded durations alone: no model of the GPU is needed */
    bool allocates;   /* the program then allocates other memory, and how much is not modelled */
    /* Arguments that `whatif --all` tries ("" for none), NULL-ended; NULL: it tries none. */
    const char *const *tried;
    /* The one that it tries of this baseline, where the trace itself says which: `crowded` is the stream that waits for
     * room on SMs the most (see gt_timeline_crowded()).  Malloced; NULL: none.  NULL: there never is. */
    char *(*proposed)(const struct gt_scenario *scenario, gt_stream_index crowded);
    /* Would it change anything here?  Asked by --all alone, of the baseline.  NULL: always. */
    bool (*applies)(const struct gt_scenario *scenario, const char *argument);
    /* Change scenario->workload (in place, or gt_scenario_replace()) or its device, and say what that assumes. All times of the
     * workload are stated (sim/baseline/stated.h); those of the host are before_ps, duration_ps and visible_ps of calls.
     * Changes that are asked for together are applied in the order of the table in changes.c.
     * `argument` is "" where none was given.  Returns 0; -1 with what is wrong with the argument, or why this trace
     * refuses the change (naming the call): the scenario then is only good for gt_scenario_free(). */
    int (*apply)(struct gt_scenario *scenario, const char *argument, struct gt_error *error);
};

extern const struct gt_change_kind gt_change_device, gt_change_connections, gt_change_launch_cost, gt_change_key,
    gt_change_kernel, gt_change_remove, gt_change_priority, gt_change_pinned, gt_change_async, gt_change_no_readback,
    gt_change_prefetch, gt_change_streams, gt_change_graph, gt_change_accumulate, gt_change_ddp,
    gt_change_collective_sms, gt_change_batch, gt_change_seq, gt_change_hidden, gt_change_shape, gt_change_dtype,
    gt_change_no_lock, gt_change_share, gt_change_delay;

#endif
