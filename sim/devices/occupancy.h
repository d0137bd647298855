/* occupancy.h - how many blocks of a kernel one SM holds at once, and why not more. */
#ifndef GRIDTIDE_SIM_DEVICES_OCCUPANCY_H
#define GRIDTIDE_SIM_DEVICES_OCCUPANCY_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* What one block takes from its SM, after the hardware's rounding. */
struct gt_block_need {
    uint32_t threads, warps, registers, shared_bytes;
    uint32_t carveout_bytes;      /* the shared memory that an SM must be set to, at least; 0: as it is */
    uint32_t sets_bytes;          /* what it sets an idle SM to */
    uint32_t partition_registers; /* of each sub-partition, where its warps are an equal share for all; else 0 */
    uint32_t partition;           /* of SMs, that it may be on: sim/gpu/sm_partitions.h; 0: any */
};

struct gt_occupancy {
    struct gt_block_need need;
    uint32_t blocks_per_sm;  /* at least 1 */
    const char *limiter;     /* "blocks", "warps", "threads", "registers" or "shared memory" */
    uint32_t cluster_blocks; /* that must be on one GPC at once; 1: none */
    uint64_t waves;          /* of the whole grid alone on the device, rounded up */
};

/* Registers are handed out in units a warp, a warp's in one of the sub-partitions that have them (seen on an H200:
 * 2,772 = 132 * 21 blocks of one warp with 96 registers a thread take two waves: 5 warps fit a sub-partition), shared memory in units plus the driver's reserve
 * (CUDA C++ Programming Guide, compute capabilities; facts of H200: 256 registers a warp,
 * 128 B, 1,024 B reserve).  An SM divides its memory between L1 and shared memory in a few steps: the
 * kernel wants the smallest that holds as many blocks as fit otherwise (measured on an H200 with 450
 * pairs of kernels: every pair ran side by side, or not, as this says).  Returns 0; -1 where not even one block
 * fits, saying what is too big. */
int gt_occupancy_of(const struct gt_device *device, const struct gt_kernel *kernel, struct gt_occupancy *occupancy,
                    struct gt_error *error);

#endif
