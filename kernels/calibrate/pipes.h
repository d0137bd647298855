/* pipes.h - the kernels that calibration measures an SM's pipes with: loops over one instruction.
 * To C they are addresses for cudaLaunchKernel; all take a gt_pipe_run and three numbers, operands that the
 * compiler does not know. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_PIPES_H
#define GRIDTIDE_KERNELS_CALIBRATE_PIPES_H

#include <stddef.h>
#include <stdint.h>

/* A warp's stay in a measured loop, by the clock of its SM. Where the GPU has no such instruction the loop is
 * empty. */
struct gt_warp_span {
    uint64_t start_cycles, end_cycles;
};

/* spans[block * warps of a block + warp], on the device; trips of the loop; every which warp of a block, from
 * the first on, runs it; a number that no result is, so that the compiler leaves nothing out. */
struct gt_pipe_run {
    struct gt_warp_span *spans;
    uint32_t trips, every, unlikely;
};

/* One instruction. Each loop is there with two lengths of body, so that what a trip costs beside
 * the body falls out of the difference. */
struct gt_pipe_kernel {
    const char *name; /* of the instruction, as PTX has it */
    /* entries[0]: each waits for the one before; [1]: CHAINS that do not wait for each other.
     * [][0] has a body of `shorter` instructions, [][1] one of `longer`. */
    const void *entries[2][2];
    uint32_t shorter, longer;
};
#ifdef __cplusplus
extern "C" {
#endif
extern const struct gt_pipe_kernel gt_pipe_kernels[];
extern const size_t gt_pipe_kernel_count;
#ifdef __cplusplus
}
#endif

#endif
