/* link_share.h - copies between GPUs that run at one time, collectives and kernels that work in another GPU's memory share what
 * lies between (sim/devices/links.h).
 *
 * Over NVLink: what a GPU sends, what it receives, and both directions between two GPUs together.  Over PCIe, or by way of
 * the host's memory: the links of both GPUs to the host, which copies to and from the host use as well.  Max-min fair; a
 * collective weighs as much less than a copy as it asks for less, and link.kernel_pct of that; a kernel link.kernel_pct of a
 * copy with link.kernel_threads on every SM, else less.
 */
#ifndef GRIDTIDE_SIM_GPU_LINK_SHARE_H
#define GRIDTIDE_SIM_GPU_LINK_SHARE_H

#include "sim/devices/links.h"
#include "sim/machine/machine.h"

/* Added to a copy over NVLink that starts now, by one that runs the other way and by which it was not measured. */
gt_time_ps gt_link_busy_ps(const struct gt_machine *m, const struct gt_op *op);

/* A copy at work, a collective or a kernel in another GPU's memory, and its part of the rate that it has alone. */
struct gt_link_rate {
    uint32_t engine;             /* GT_NONE: no copy */
    uint32_t instance;           /* collective_move.h; GT_NONE: no collective */
    struct gt_peer_kernel *peer; /* peer_kernel.h; NULL: no such kernel */
    double rate, gbps;           /* the part, and how much that is */
};
/* How many may be at work: all engines, the collectives and the kernels. */
uint32_t gt_link_users(const struct gt_machine *m);
/* All running copies between GPUs, collectives and kernels in other GPUs' memory, if there are any, into `rates`, which has
 * room for gt_link_users(); with copies to and from the host where
 * one goes over their link, which *over_host says.  Returns how many. */
uint32_t gt_link_share(struct gt_machine *m, struct gt_link_rate *rates, bool *over_host);

#endif
