#include "sim/warm.h"

#include <math.h>

#include "sim/program.h"

enum { SECTOR_BYTES = 32 };

/* Of a launch of the program's own size what it reads from DRAM with cold caches, and writes; scaled. */
struct touched { double read_bytes, written_bytes; };

static struct touched touched_by(const struct gt_workload *workload, uint32_t op)
{
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];
    const struct gt_program *program = kernel->program;
    double warps = (double)gt_kernel_blocks(kernel) * program->warps_per_block;
    double scale = warps / fmax(1, (double)program->warps);

    return (struct touched){ (double)program->use.dram_read_bytes * scale,
                             (double)program->use.l2_write_sectors * SECTOR_BYTES * scale };
}

double gt_warm_share(const struct gt_device *device, const struct gt_workload *workload, uint32_t op,
                     uint32_t before)
{
    struct touched now, last;

    if (before == GT_NONE || workload->ops[op].start_ps == GT_TIME_NONE
        || gt_workload_profile(workload, op) != NULL)
        return 0;
    now = touched_by(workload, op);
    last = touched_by(workload, before);
    double left = last.read_bytes + last.written_bytes;
    if (now.read_bytes + now.written_bytes + left > (double)device->warp.l2_reuse_bytes)
        return 0;
    return now.read_bytes > 0 ? fmin(1, left / now.read_bytes) : 1;
}
