/* demand.h - what a block of a kernel asks of resources that it shares with others.
 *
 * Known of kernels whose cost is their program's (the warp tier).  A block has its work: so much time of each
 * resource, counted while the launch ran alone.  It progresses at a rate, 1 being the mean pace of the
 * launch alone, and:
 *
 *   - with n blocks of its kernel on its SM and nothing else anywhere, it is as fast as the warp tier says
 *     of n blocks on one SM with an idle GPU around it (the limit: latency, and what the n take from each
 *     other);
 *   - what it takes of the GPU's L2 and DRAM, and of its SM beside blocks of other kernels, is its work at
 *     that rate, and no resource gives more than there is (share.h says who gets how much).
 *
 * Waves of the launch alone would, by this, take max(the limit, the GPU's busiest resource).  The launch as
 * the warp tier ran it takes a little longer, since queues are not fair and waves do not meet: that factor
 * (`slack`) stays with the blocks whatever is beside them, so that a launch alone lasts what it lasted.
 *
 * Not so: caches that neighbours empty (hit rates stay those of the program), the latency that grows before
 * bandwidth is used up, clocks that fall, DRAM rows that other streams close.
 */
#ifndef GRIDTIDE_SIM_DEMAND_H
#define GRIDTIDE_SIM_DEMAND_H

#include "sim/modelled.h"
#include "sim/occupancy.h"

struct gt_demand {
    const struct gt_modelled *modelled;
    const struct gt_modelled_launch *launch;
    double block_cycles;            /* of each wave of blocks, alone: rate 1 */
    double slack;                   /* see above */
    double amount[GT_RESOURCES];    /* that one block takes at rate 1: part of its SM's, of the GPU's */
};

/* The demands of a launch on `device`, on which it was modelled without a failure. */
struct gt_demand gt_demand_of(const struct gt_modelled *modelled, const struct gt_modelled_launch *launch,
                              const struct gt_device *device, const struct gt_occupancy *occupancy);

/* The fastest that blocks go, `residents` of them on one SM: a rate, above 1 where the launch alone held
 * them back more. */
double gt_demand_limit(const struct gt_demand *demand, uint32_t residents);

#endif
