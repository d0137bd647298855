/* progress_limit.h - what a block of a kernel asks of resources that it shares with others, and how fast it could go if nothing
 * but time held it back.
 *
 * Known of kernels whose cost is their program's (the warp tier).  A block has its work: so much time of each
 * resource, counted while the launch ran alone.  It progresses at a rate, 1 being the mean pace of the
 * launch alone, and:
 *
 *   - the warp tier says how long n blocks of its kernel take on one SM where c SMs ask of L2 and DRAM what
 *     this one does.  Neighbours count by what they ask, as the kernel's own blocks would: c is the sum over
 *     SMs of what the blocks there ask for of the resource that this kernel needs most, in units of what
 *     this SM's do, but none above 1, for SMs are served in turn.  That is the limit of its rate;
 *   - what it takes of its SM beside blocks of other kernels, and of the GPU's L2 and DRAM, is its work at
 *     that rate, and nothing gives more than there is (sim/base/fair_share.h says who gets how much).
 *
 * Waves of the launch alone would, by this, take what single waves take; the launch as the warp tier ran it
 * takes a little more or less, since its waves do not begin together.  That factor (`slack`) stays with the
 * blocks whatever is beside them, so that a launch alone lasts what it lasted.
 *
 * Not so: L1 that neighbours empty, DRAM's work for what they drive out of L2 (progress_limit.c), clocks that fall, DRAM
 * rows that other streams close.
 */
#ifndef GRIDTIDE_SIM_GPU_PROGRESS_LIMIT_H
#define GRIDTIDE_SIM_GPU_PROGRESS_LIMIT_H

#include "sim/devices/occupancy.h"
#include "sim/machine/machine.h"
#include "sim/warp/kernel_model.h"

struct gt_demand {
    const struct gt_kernel_model *modelled;
    const struct gt_kernel_model_launch *launch;
    double block_cycles;         /* of each wave of blocks, alone: rate 1 */
    double slack;                /* see above */
    double amount[GT_RESOURCES]; /* that one block takes at rate 1: part of its SM's, of the GPU's */
    double pipe_waits;           /* part of their time that warps wait for a pipe, alone */
    uint32_t busiest_pipe;       /* or register bank, alone: a gt_resource */
    double mixed;                /* of DRAM: 0 it reads or writes only, 1 as much of both */
};

/* The demands of a launch on `device`, on which it was modelled without a failure. */
struct gt_demand gt_demand_of(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                              const struct gt_device *device, const struct gt_occupancy *occupancy);

/* The part of their time that the warps of a launch wait for `stall` (gt_stall), 0..1. */
double gt_progress_waits(const struct gt_warp_result *result, uint32_t stall);

/* Whether a resource (gt_resource) of an SM goes by turns, issue slots, register banks and pipes: each group has what those
 * with an earlier turn leave it.  Of the others all have shares. */
bool gt_progress_by_turns(uint32_t resource);

/* The place of each group of an SM in the order of turns, into its `rank`.  `first`: of the SM's groups. */
void gt_progress_turns(struct gt_machine *m, gt_group_index first);

/* The limits of the rates of the groups of one SM of each kind (m->sm_kinds, `kinds` of them), and what part of
 * its SM each is: into `limit` and `sm_part`. */
void gt_progress_limits(struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds);

#endif
