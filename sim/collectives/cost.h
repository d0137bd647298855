/* cost.h - what a collective takes by itself, from the last rank's coming until all are done.
 *
 * A device file has a curve for each kind and protocol, measured with collective.measured_ranks GPUs (`gridtide calibrate
 * --group collectives`); between its points times are straight lines.  Where there is none, NCCL's own reckoning stands in
 * (choice.h).
 *
 * Another number of ranks: extrapolated.  The time of 16 bytes changes by the steps that the ring has more, at what NCCL
 * holds a step to take; the rest is that of the bytes that each link then has.
 *
 * Links that are slower than copy.p2p_gbps: no faster than each link's share of the bytes at its own rate; extrapolated, too,
 * unless the curves say that they were measured over such.  The ring is taken to go over the GPUs of the lowest numbers.
 *
 * Another number of channels than NCCL takes: channels alone would take their bytes at collective.*_channel_gbps each, the
 * links alone what is left, and both together the root of the sum of the squares; of 2 H200s with 1 to 32 channels.
 */
#ifndef GRIDTIDE_SIM_COLLECTIVES_COST_H
#define GRIDTIDE_SIM_COLLECTIVES_COST_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* How a collective is done. */
struct gt_collective_plan {
    enum gt_collective_protocol protocol;
    uint32_t channels;      /* blocks of each rank */
    uint32_t threads;       /* of a block */
    gt_time_ps transfer_ps; /* from the last rank's coming until all is moved */
    /* Where one only sends: what its data needs more until those who get it are done; what one of them takes that comes when
     * all has been sent; how much of it can be sent before. 0 where all wait for all. */
    gt_time_ps lag_ps, fetch_ps;
    double ahead;
};

/* As NCCL would do it for `ranks` ranks on such devices; what the kernel states (protocol, shape) is kept, but for blocks
 * beyond collective.most_channels. */
struct gt_collective_plan gt_collective_plan(const struct gt_device *device, const struct gt_kernel *kernel,
                                             uint32_t ranks);

/* The kernel with the grid, block, registers and shared memory that it has on the device. */
struct gt_kernel gt_collective_shape(const struct gt_device *device, const struct gt_kernel *kernel, uint32_t ranks);

/* Is the time for so many ranks more than was measured: with fewer GPUs, on another kind of GPU, over faster links? */
bool gt_collective_extrapolated(const struct gt_device *device, uint32_t ranks);
/* Then: what else than the number of ranks makes it so, as half a sentence; malloced; NULL: nothing else. */
char *gt_collective_why_extrapolated(const struct gt_device *device);

#endif
