/* launch_types.h - a launch of a program, and what the warp tier says of it. */
#ifndef GRIDTIDE_SIM_WARP_LAUNCH_TYPES_H
#define GRIDTIDE_SIM_WARP_LAUNCH_TYPES_H

#include "sim/workload/program.h"

/* Sub-partitions of an SM, each a warp instruction a cycle at most: Volta to Hopper. */
enum { GT_WARP_SUBS = 4 };

struct gt_scheduler_policy;

/* A launch of a program. */
struct gt_warp_launch {
    const struct gt_program *program;
    uint64_t blocks; /* of the grid */
    uint32_t warps_per_block;
    uint32_t blocks_per_sm;             /* that fit an SM at once, see occupancy.h */
    uint32_t cluster_blocks;            /* thread blocks of a cluster; 1 without */
    const struct gt_memory_use *use;    /* NULL: the program's */
    uint64_t warp_instructions;         /* executed where nothing was counted by instruction; 0 unknown */
    uint64_t busiest_warp_instructions; /* by the sub-partition that executes most; 0 unknown */
    uint32_t counted_sms;               /* of the GPU that counted that; 0: as many as there are */
    double competing;                   /* SMs that want of L2 and DRAM what this one does; 0: as the grid has it */
    double grid_blocks, blocks_at_once; /* of a grid of which `blocks` are a part: all, those that run at once; 0: as
                                         * many as `blocks`, as many as fit */
    bool coarse;                        /* a tenth of the trips of long loops will do */
    double l2_reuse_fraction;           /* of its DRAM reads: served by L2 as it is found, see l2_reuse.h */
    double clock_share;                 /* of the SMs' usual clock, see gt_program; 0: all. Cycles do not heed it */
    const struct gt_scheduler_policy *scheduler; /* that a program brings, see scheduler.h; NULL: none */
    bool full;                                   /* every block of the SM, however many: no extrapolation */
};

/* What blocks share: first what each SM has, then what the GPU has. */
enum gt_resource {
    GT_RESOURCE_ISSUE, /* issue slots */
    GT_RESOURCE_LSU,   /* the load/store unit */
    GT_RESOURCE_PORT,  /* the way from L2 into the SM */
    GT_RESOURCE_BANKS, /* the register bank that is read most */
    GT_RESOURCE_PIPE,  /* + gt_pipe */
    GT_SM_RESOURCES = GT_RESOURCE_PIPE + GT_PIPES,
    GT_RESOURCE_L2_READ = GT_SM_RESOURCES,
    GT_RESOURCE_L2_WRITE,
    GT_RESOURCE_L2_REQUESTS,
    GT_RESOURCE_L2_FABRIC,
    GT_RESOURCE_DRAM,
    GT_RESOURCE_ATOMIC, /* the L2 slice with the most atomics; another kernel's is another one */
    GT_RESOURCES
};

/* What the model says of it. */
struct gt_warp_result {
    double cycles;       /* as gpc__cycles_elapsed.max: launch, all blocks, drain */
    double bound_cycles; /* +-: how far steady state was from steady where it was extrapolated */
    double launch_cycles, run_cycles, drain_cycles;  /* the parts of `cycles` */
    uint64_t simulated;                              /* warp instructions executed by the model */
    uint64_t covered;                                /* warp instructions of the whole launch that they stand for */
    uint64_t issued[GT_PIPES];                       /* of those simulated */
    double stalls[GT_STALLS];                        /* warp cycles, simulated; SELECTED: issue slots */
    double *stalls_by_instruction;                   /* [instruction * GT_STALLS + reason]; the caller's to free() */
    double l2_bytes_per_cycle, dram_bytes_per_cycle; /* of all SMs, mean over the run */
    uint64_t forced;          /* waits at mbarriers that the model could not follow and let pass */
    double issue_share;       /* issue slots used, 0..1 */
    double read_latency;      /* cycles from L1 to L2 or DRAM and back, mean; 0 nothing read there */
    double issue_run_length;  /* warp instructions that a warp could issue in a row, mean */
    double lsu_share;         /* cycles that the load/store unit worked, 0..1 */
    double warps_mean;        /* resident, on the SM */
    double atomic_row_cycles; /* that a warp waits to send an atomic to L2 */
    double uneven;  /* times the mean work that the SM has which has most; 1: all have alike, or not known */
    double at_once; /* blocks that an SM works at, oldest first; 0 unknown, as many as it holds: in step */
    double busy[GT_RESOURCES]; /* part of the run that each worked: the SM's own, the GPU's for all SMs */
};

#endif
