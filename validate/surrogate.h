/* surrogate.h - what a kernel of a trace is played by. No CUDA.
 *
 * A kernel that names a library kernel is played by that one.  Any other is played by `spin`: the same
 * grid, block, registers and shared memory, each block for as long as the simulator lets it run.
 */
#ifndef GRIDTIDE_VALIDATE_SURROGATE_H
#define GRIDTIDE_VALIDATE_SURROGATE_H

#include "sim/device.h"
#include "sim/workload.h"

struct gt_part {                 /* one operation's kernel, as it is played */
    const char *library;         /* name of the library kernel; lives as long as the workload */
    const char *arguments;       /* JSON object of its arguments, or NULL */
    bool surrogate;              /* stands in for a program's kernel that is not at hand */
    gt_time_ps *block_ps;        /* spin: block i takes [i % block_count]; NULL: the arguments say */
    uint32_t block_count;
};

/* More different block times than this are not kept for one launch. */
enum { GT_PART_BLOCKS_MAX = 1 << 24 };

/* The kernel of operation `op`. `recorded_on` tells how many waves it takes alone, where only its duration
 * is known; `surrogates`: a recorded program's kernels may be stood in for. Returns 0 (then gt_part_free),
 * or -1 with the trace line and what to do. */
int gt_part_of(const struct gt_workload *workload, uint32_t op, const struct gt_device *recorded_on,
               uint64_t seed, bool surrogates, struct gt_part *part, struct gt_error *error);
void gt_part_free(struct gt_part *part);

#endif
