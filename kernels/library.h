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

#include "kernels/base/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct gt_library_kernel *const gt_library_kernels[];
extern const unsigned gt_library_kernel_count;

/* The kernel of that name; NULL with an error that lists the names there are. */
const struct gt_library_kernel *gt_library_kernel_find(const char *name, struct gt_error *error);

/* Fill arguments[parameter_count] with the fallbacks. */
void gt_library_defaults(const struct gt_library_kernel *kernel, double *arguments);

/* Set the argument `name` from `text`, a number or one of the parameter's choices.
 * Returns 0, or -1 with the names, choices or range that there are. */
int gt_library_argument(const struct gt_library_kernel *kernel, const char *name, const char *text, double *arguments,
                        struct gt_error *error);

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
int gt_library_check(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch, uint64_t seed,
                     struct gt_error *error);

/* What reads or writes another GPU's memory: gt_gpu_launch.peer. */
extern const struct gt_library_kernel gt_kernel_peer;

#ifdef __cplusplus
}
#endif
#endif
