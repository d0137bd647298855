/* scheduler.h - which of a sub-partition's ready warps issues: policies by name (warp.policy of the device).
 *
 * To add one: its functions and a row of the table, both in scheduler.c.  Numbers that it takes stand in its row;
 * a device file, or --set, then says "NAME PARAMETER=NUMBER ...".
 */
#ifndef GRIDTIDE_SIM_WARP_SCHEDULER_H
#define GRIDTIDE_SIM_WARP_SCHEDULER_H

#include "sim/base/named_table.h"
#include "sim/warp/internal.h"

struct gt_scheduler_policy {
    struct gt_named named;
    /* State of its own, one for each sub-partition that is run, made before its first warp; the policy's, told to
     * end with it.  Both NULL: it has none, and `state` below is NULL. */
    void *(*create)(const struct gt_device *device, const double *parameters);
    void (*free)(void *state);
    /* The place (0 .. sub->places - 1) of the warp that issues at cycle `now`, one that is ready by gt_ready_at(); or
     * -1, and then *next is the first cycle at which one could.  Called once a sub-partition and cycle at which one
     * may be ready.  `parameters`: in the order of the policy's row.  May change nothing but `state`. */
    int (*pick)(void *state, const struct gt_smsp *sub, const double *parameters, uint64_t now, uint64_t *next);
};

/* When the warp at place `i` could issue, its pipe's gate included; GT_WARP_NEVER: there is none, or it is
 * blocked. */
static inline uint64_t gt_ready_at(const struct gt_smsp *sub, uint32_t i)
{
    uint64_t free = sub->free[sub->gate[i]];

    return sub->ready[i] > free ? sub->ready[i] : free;
}

/* The policy that a device's text names: `more`, which a program may bring beside those of the table (NULL: none),
 * or one of these; with its parameters.  NULL with the reason. */
const struct gt_scheduler_policy *gt_scheduler_find(const char *text, const struct gt_scheduler_policy *more,
                                                    double *parameters, struct gt_error *error);

#endif
