#include "sim/rates/l2_eviction.h"

#include <math.h>

#include "sim/warp/kernel_model.h"

/* What a launch reads: from DRAM, each byte once, and beyond L1 in all. */
struct reads {
    double once_bytes, all_bytes;
};

static struct reads reads_of(const struct gt_warp_launch *launch)
{
    const struct gt_program *program = launch->program;
    const struct gt_memory_use *use = launch->use != NULL || program == NULL ? launch->use : &program->use;
    double warps = (double)launch->blocks * launch->warps_per_block, scale = 1;

    if (use == NULL)
        return (struct reads){ 0, 0 };
    if (program != NULL)
        scale = warps / fmax(1, (double)program->warps);
    return (struct reads){ (double)use->dram_read_bytes * scale,
                           (double)use->l2_read_sectors * GT_SECTOR_BYTES * scale };
}

/* How many times as long as until a byte is read again L2 takes to fill, if others move `moved_bytes` until then. */
static double filled_after(double moved_bytes, double own_bytes, double keeps_bytes)
{
    enum { HALVINGS = 40, LONG = 60 };
    double low = 0, high = LONG;

    for (int i = 0; i < HALVINGS; i++) {
        double times = (low + high) / 2;

        if (moved_bytes * times + own_bytes * (1 - exp(-times)) > keeps_bytes)
            high = times;
        else
            low = times;
    }
    return low;
}

double gt_l2_evicted_part(const struct gt_machine *m, const struct gt_grid *grid, double rate, double others_busy)
{
    const struct gt_device *device = m->device;
    struct reads reads = reads_of(&grid->launch->launch);
    double bytes_per_cycle = device->warp.dram_gbps * 1e3 / device->clock_mhz, again_cycles, moved_bytes;

    if (!(others_busy > 0) || !(rate > 0) || !(reads.once_bytes > 0) || reads.all_bytes <= reads.once_bytes)
        return 0;
    again_cycles = grid->launch->result.run_cycles * reads.once_bytes / reads.all_bytes / rate;
    moved_bytes = fmin(1, others_busy) * bytes_per_cycle * again_cycles;
    return exp(-filled_after(moved_bytes, reads.once_bytes, (double)device->warp.l2_reuse_bytes)) *
           (1 - reads.once_bytes / reads.all_bytes);
}

double gt_l2_evicted_cycles(const struct gt_device *device)
{
    return fmax(0, device->warp.dram_latency + device->warp.dram_spread - device->warp.l2_near_latency);
}
