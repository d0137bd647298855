/* launch.h - what a kernel of the library is, and one launch of it: what every kernel file is written against. */
#ifndef GRIDTIDE_KERNELS_BASE_LAUNCH_H
#define GRIDTIDE_KERNELS_BASE_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "sim/base/error.h"

struct gt_executor;
struct gt_network_part;

enum { GT_LIBRARY_PARAMETERS = 8 }; /* no kernel has more */

/* What one block writes when asked, at [x + grid.x * (y + grid.y * z)]. */
struct gt_block_log {
    uint32_t sm, reserved;
    uint64_t start_ns, end_ns;         /* global timer; ticks every 32 ns on an H200 */
    uint64_t start_cycles, end_cycles; /* the SM's own clock: compare within one SM only */
};

struct gt_kernel_parameter {
    const char *name;
    const char *unit; /* "cycles", "bytes", "" for a plain number */
    const char *help;
    double low, high, fallback; /* whole numbers */
    const char *const *choices; /* names of the values 0, 1, ... up to `high`; NULL: a number */
};

struct gt_gpu_launch {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a thread block cluster; 1 or 0 a side: none */
    uint32_t dynamic_shared_bytes;
    uint32_t registers_per_thread; /* 0: what the kernel takes by itself; else only for kernels that
                                     * can take registers to order (registers_to_order) */
    cudaStream_t stream;
    const double *arguments;      /* in the order of the parameter table, all of them */
    const uint64_t *block_cycles; /* spin: device memory; block i runs [i % block_cycles_length]
                                     * instead of the argument `cycles`; NULL: all run `cycles` */
    uint32_t block_cycles_length;
    int cooperative;            /* all blocks at once, or not at all */
    int has_priority, priority; /* of its own, whatever its stream's is */
    int programmatic;           /* its blocks may come before the kernel ahead of it in its stream is over */
    /* spin_phases: a block's time is in equal parts between so many barriers over the grid, or (phase_shares, device
     * memory, one a barrier) that share of it is over at each; so much of it is left, in per cent, when it lets the next
     * kernel come (0: at its end); it waits for the kernel before after so many cycles, if `programmatic` */
    uint32_t grid_barriers, early_pct;
    const double *phase_shares;
    uint64_t prologue_cycles;
    struct gt_block_log *log; /* device memory, a record a block; NULL: no logging */
    const struct gt_executor
        *tasks; /* executor: what its blocks do (kernels/executor/executor.h); the structure is the host's,
                                      * what it points to the device's */
    const struct gt_network_part
        *part;      /* operator: what its first block does (kernels/executor/network.h); the host's */
    float *network; /* operator: the memory that it works in */
    void *peer;     /* peer: memory of another GPU, as large as its own; NULL: it takes its own */
    void *scratch;  /* device memory, scratch_bytes() of it, inputs and outputs; launches
                                     * that may run at the same time need one each */
};

struct gt_library_kernel {
    const char *name;
    const char *help;        /* what it computes, how that is checked */
    const char *restriction; /* on its shape, for people; NULL: any legal grid and block */
    const struct gt_kernel_parameter *parameters;
    uint32_t parameter_count;
    int registers_to_order; /* gt_gpu_launch.registers_per_thread is heeded */

    /* The kernel's own limits on shape and arguments, beyond the parameters' ranges.
     * Returns 0, or -1 with what is wrong. NULL: none. */
    int (*accepts)(const struct gt_gpu_launch *launch, struct gt_error *error);
    /* The compiled function that this launch runs: for cudaFuncGetAttributes() and its like. */
    const void *(*entry)(const struct gt_gpu_launch *launch);
    /* Device memory that this launch works on; 0 where it needs none. NULL: none. */
    size_t (*scratch_bytes)(const struct gt_gpu_launch *launch);
    /* Put inputs made from `seed` into the scratch, in stream order. NULL: has none. */
    cudaError_t (*fill)(const struct gt_gpu_launch *launch, uint64_t seed);
    /* Exactly one kernel launch on launch->stream; nothing waits, nothing is allocated. */
    cudaError_t (*launch)(const struct gt_gpu_launch *launch);
    /* After one launch on inputs of `seed` has ended: compare the outputs with the CPU reference.
     * Returns 0, or -1 with what differs and by how much. */
    int (*verify)(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error);
};

#endif
