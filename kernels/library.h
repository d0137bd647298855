/* library.h - the CUDA kernels that Gridtide can run, and one table of them.
 *
 * Each kernel says what it can be told (parameters), what it takes from an SM (read from the compiled
 * code, never typed in), how it is launched and how its result is checked against a CPU reference.
 * All of it is C to its callers; only the kernels themselves are CUDA C++.
 *
 * A launch goes: fill a gt_gpu_launch, gt_library_accepts(), allocate scratch_bytes() of device memory
 * if it is not 0, gt_library_prepare(), then launch() as often as one likes, on any stream.
 */
#ifndef GRIDTIDE_KERNELS_LIBRARY_H
#define GRIDTIDE_KERNELS_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "sim/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GT_LIBRARY_PARAMETERS = 8 };  /* no kernel has more */

/* What one block writes when asked, at [x + grid.x * (y + grid.y * z)]. */
struct gt_block_log {
    uint32_t sm, reserved;
    uint64_t start_ns, end_ns;          /* global timer; ticks every 32 ns on an H200 */
    uint64_t start_cycles, end_cycles;  /* the SM's own clock: compare within one SM only */
};

struct gt_kernel_parameter {
    const char *name;
    const char *unit;            /* "cycles", "bytes", "" for a plain number */
    const char *help;
    double low, high, fallback;  /* whole numbers */
    const char *const *choices;  /* names of the values 0, 1, ... up to `high`; NULL: a number */
};

struct gt_gpu_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t registers_per_thread;  /* 0: what the kernel takes by itself; else only for kernels that
                                     * can take registers to order (registers_to_order) */
    cudaStream_t stream;
    const double *arguments;        /* in the order of the parameter table, all of them */
    const uint64_t *block_cycles;   /* spin: device memory; block i runs [i % block_cycles_length]
                                     * instead of the argument `cycles`; NULL: all run `cycles` */
    uint32_t block_cycles_length;
    struct gt_block_log *log;       /* device memory, a record a block; NULL: no logging */
    void *scratch;                  /* device memory, scratch_bytes() of it, inputs and outputs; launches
                                     * that may run at the same time need one each */
};

struct gt_library_kernel {
    const char *name;
    const char *help;               /* what it computes, how that is checked */
    const char *restriction;        /* on its shape, for people; NULL: any legal grid and block */
    const struct gt_kernel_parameter *parameters;
    uint32_t parameter_count;
    int registers_to_order;         /* gt_gpu_launch.registers_per_thread is heeded */

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

extern const struct gt_library_kernel *const gt_library_kernels[];
extern const unsigned gt_library_kernel_count;

/* The kernel of that name; NULL with an error that lists the names there are. */
const struct gt_library_kernel *gt_library_kernel_find(const char *name, struct gt_error *error);

/* Fill arguments[parameter_count] with the fallbacks. */
void gt_library_defaults(const struct gt_library_kernel *kernel, double *arguments);

/* Set the argument `name` from `text`, a number or one of the parameter's choices.
 * Returns 0, or -1 with the names, choices or range that there are. */
int gt_library_argument(const struct gt_library_kernel *kernel, const char *name, const char *text,
                        double *arguments, struct gt_error *error);

/* May this launch be made on the current device? Looks at arguments, shape, registers and shared
 * memory; scratch, log and stream may still be unset. Returns 0, or -1 with the first thing wrong. */
int gt_library_accepts(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                       struct gt_error *error);

/* Resources of the function that this launch runs, from the compiled kernel. */
cudaError_t gt_library_attributes(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                                  struct cudaFuncAttributes *attributes);

/* Bytes of scratch that this launch needs, 0 where none. */
size_t gt_library_scratch_bytes(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch);

/* Allow the kernel its dynamic shared memory, poison the scratch (all bits set) and fill the inputs
 * from `seed`, in order on launch->stream. Needed once before a launch that is measured: it also makes
 * the driver load the kernel's code. */
cudaError_t gt_library_prepare(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                               uint64_t seed);

/* Prepare with `seed`, launch once, wait, compare with the CPU reference. launch->scratch must be there.
 * Returns 0, or -1 with what differs or which CUDA call failed. */
int gt_library_check(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                     uint64_t seed, struct gt_error *error);

#ifdef __cplusplus
}
#endif
#endif
