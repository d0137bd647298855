/* choice.h - how NCCL does a collective: which protocol, how many channels, how many threads.
 *
 * What NCCL 2.28.9 does on GPUs of one host that are joined by NVLink (src/graph/tuning.cc, src/enqueue.cc), as its log
 * says it (NCCL_DEBUG_SUBSYS=TUNING) and as the kernels of 2 H200s show.  Rings only: within a host its trees are chains, which
 * are never faster, and NVLS is not looked at (it was off where this was measured).
 */
#ifndef GRIDTIDE_SIM_COLLECTIVES_CHOICE_H
#define GRIDTIDE_SIM_COLLECTIVES_CHOICE_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* A collective as a ring does it: links that a byte passes one after the other, and the part of its bytes on each link. */
struct gt_ring_way {
    double steps, share;
};
struct gt_ring_way gt_ring_way(enum gt_collective_kind kind, uint32_t ranks);

/* NCCL's own idea of the time, by which it chooses. */
double gt_nccl_reckons_us(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks,
                          enum gt_collective_protocol protocol);
/* What it holds a step to take by that protocol. */
double gt_nccl_step_us(enum gt_collective_protocol protocol);

/* The protocol that it takes; messages and all-to-all have Simple alone. */
enum gt_collective_protocol gt_nccl_protocol(const struct gt_device *device, const struct gt_collective *collective,
                                             uint32_t ranks);
/* Channels, and threads of each one's block. */
uint32_t gt_nccl_channels(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks,
                          enum gt_collective_protocol protocol);
uint32_t gt_nccl_threads(const struct gt_collective *collective, uint32_t ranks, enum gt_collective_protocol protocol,
                         uint32_t channels);

#endif
