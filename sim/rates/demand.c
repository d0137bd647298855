#include "sim/rates/demand.h"

#include <math.h>

/* How much a launch mixes reads and writes of DRAM. */
static double mixed(const struct gt_warp_launch *launch)
{
    const struct gt_memory_use *use =
        launch->use != NULL || launch->program == NULL ? launch->use : &launch->program->use;
    double all = use != NULL ? (double)use->dram_read_bytes + (double)use->dram_write_bytes : 0;

    return all > 0 ? 2 * fmin((double)use->dram_read_bytes, (double)use->dram_write_bytes) / all : 0;
}

struct gt_demand gt_demand_of(const struct gt_kernel_model *modelled, const struct gt_kernel_model_launch *launch,
                              const struct gt_device *device, const struct gt_occupancy *occupancy)
{
    const struct gt_warp_result *result = &launch->result;
    struct gt_demand demand = { .modelled = modelled, .launch = launch, .mixed = mixed(&launch->launch) };
    double blocks = (double)launch->launch.blocks, full = (double)device->sms * occupancy->blocks_per_sm;
    double waves = (double)occupancy->waves, last = blocks - (waves - 1) * full;
    double rows = ceil(blocks / device->sms), tail = ceil(last / device->sms), alone;

    alone = gt_kernel_model_wave(modelled, launch, (uint32_t)tail, last / tail);
    if (waves > 1)
        alone += (waves - 1) * gt_kernel_model_wave(modelled, launch, occupancy->blocks_per_sm, device->sms);
    demand.slack = alone > 0 ? result->run_cycles / alone : 1;
    demand.block_cycles = result->run_cycles / waves;
    for (uint32_t r = 0; r < GT_RESOURCES; r++)
        demand.amount[r] = result->busy[r] * waves / (r < GT_SM_RESOURCES ? rows : blocks);
    return demand;
}

double gt_demand_limit(const struct gt_demand *demand, uint32_t residents, double competing)
{
    double cycles = gt_kernel_model_wave(demand->modelled, demand->launch, residents, competing);

    return cycles > 0 ? demand->block_cycles / (cycles * demand->slack) : 1;
}

enum gt_resource gt_demand_most(const struct gt_demand *demand)
{
    enum gt_resource most = GT_SM_RESOURCES;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCES; r++)
        most = demand->amount[r] > demand->amount[most] ? (enum gt_resource)r : most;
    return most;
}
