/* proxy_kernel.h - what a kernel of a trace is played by. No CUDA.
 *
 * A kernel that names a library kernel is played by that one.  Any other is played by `spin`: the same
 * grid, block, registers and shared memory, each block for as long as the simulator lets it run.  One whose blocks
 * walk a task graph is played by `executor`, which walks it.
 */
#ifndef GRIDTIDE_VALIDATE_PROXY_KERNEL_H
#define GRIDTIDE_VALIDATE_PROXY_KERNEL_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* Kernels of which only the duration is known, and which run nothing of the library, become kernels whose
 * blocks take the time with which the kernel alone, on `device`, would last so long: waves, and between
 * them the refilling of slots.  So the same blocks are simulated and played.  Where the trace is a recorded
 * program's they stand in for code that is not at hand, which `allowed` must allow.  Returns how many
 * operations' kernels are such stand-ins, or -1 with the trace line and what to do. */
int64_t gt_proxy_kernels_make(struct gt_workload *workload, const struct gt_device *device, bool allowed,
                              struct gt_error *error);

/* `spin` takes so many registers a thread at least (kernels/micro/spin.cu), whatever a trace says. */
enum { GT_PROXY_REGISTERS_LEAST = 24 };
/* `executor` so many (kernels/executor/executor.cu). */
enum { GT_PROXY_TASKS_REGISTERS_LEAST = 48, GT_PROXY_WORKS_REGISTERS_LEAST = 64 }; /* whose tasks all spin, or work */
/* Kernels that blocks launch, and those that launch them, take so many (kernels/children/child_tree.h). */
enum { GT_PROXY_TREE_REGISTERS = 64 };
/* By kernel: is it such a one?  The caller frees it. */
bool *gt_proxy_kernels_in_trees(const struct gt_workload *workload);
/* The workload as it is played: kernels that spin, or walk, have these registers.  Everything but the kernels is the workload's
 * own, which must outlast it; free(played->kernels) ends it. */
void gt_proxy_kernels_as_played(const struct gt_workload *workload, struct gt_workload *played);

struct gt_part {           /* one operation's kernel, as it is played */
    const char *library;   /* name of the library kernel; lives as long as the workload */
    const char *arguments; /* JSON object of its arguments, or NULL */
    gt_time_ps *block_ps;  /* spin: block i takes [i % block_count]; NULL: the arguments say */
    uint32_t block_count;
};

/* More different block times than this are not kept for one launch. */
enum { GT_PART_BLOCKS_MAX = 1 << 24 };

/* The kernel of operation `op`; ranged block times are those that a simulation with `seed` draws.
 * Returns 0 (then gt_part_free), or -1 with the trace line and what to do. */
int gt_part_of(const struct gt_workload *workload, uint32_t op, uint64_t seed, struct gt_part *part,
               struct gt_error *error);
void gt_part_free(struct gt_part *part);

#endif
