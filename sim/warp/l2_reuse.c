#include "sim/warp/l2_reuse.h"

#include <math.h>

#include "sim/workload/program.h"

/* Looked at no further: that many launches that touch next to nothing have not filled L2. */
enum { LAUNCHES_BACK = 64 };

/* Of a launch of the program's own size what it reads from DRAM with cold caches, and writes; scaled. */
struct touched {
    double read_bytes, written_bytes;
};

static struct touched touched_by(const struct gt_workload *workload, gt_op_index op)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    const struct gt_program *program = kernel->program;
    double warps = (double)gt_kernel_blocks(kernel) * program->warps_per_block;
    double scale = warps / fmax(1, (double)program->warps);

    return (struct touched){ (double)program->use.dram_read_bytes * scale,
                             (double)program->use.l2_write_sectors * GT_SECTOR_BYTES * scale };
}

double gt_l2_played_bytes(const struct gt_workload *workload)
{
    double sum = 0;

    for (uint32_t op = 0; op < workload->op_count; op++) {
        if (workload->ops[op].kind == GT_OP_KERNEL && workload->kernels[workload->ops[op].kernel].program != NULL) {
            struct touched touched = touched_by(workload, op);

            sum += touched.read_bytes + touched.written_bytes;
        } else if (workload->ops[op].kind != GT_OP_KERNEL) {
            sum += (double)workload->ops[op].bytes;
        }
    }
    return sum;
}

double gt_l2_kept_part(const struct gt_device *device, double bytes)
{
    double keeps = (double)device->warp.l2_reuse_bytes;
    double left = keeps > 0 ? fmax(0, fmin(1, 2 - bytes / keeps)) : 0;

    return left * left;
}

double gt_l2_reuse_fraction(const struct gt_device *device, const struct gt_workload *workload, gt_op_index op,
                            const uint32_t *before, double played_bytes)
{
    double keeps = (double)device->warp.l2_reuse_bytes, left = keeps, found = 0;
    struct touched now = touched_by(workload, op);

    if (gt_workload_profile(workload, op) != NULL || workload->kernels[workload->ops[op].kernel].program->warm_caches)
        return 0;
    if (workload->ops[op].start_ps == GT_TIME_NONE)
        return gt_l2_kept_part(device, played_bytes);
    if (before[op] == GT_NONE || now.read_bytes + now.written_bytes > keeps)
        return 0;
    for (uint32_t i = 0, at = before[op]; i < LAUNCHES_BACK && at != GT_NONE && left > 0; i++) {
        struct touched last = touched_by(workload, at);
        double all = last.read_bytes + last.written_bytes;

        found += (i == 0 ? all : last.written_bytes) * fmin(1, left / fmax(1, all));
        left -= all;
        at = before[at];
    }
    return now.read_bytes > 0 ? fmin(1, found / now.read_bytes) : 1;
}
