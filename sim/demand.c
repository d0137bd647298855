#include "sim/demand.h"

#include <math.h>

/* Cycles of a wave of `blocks`, `residents` of them on an SM: as one SM alone takes for these, or as long as the
 * GPU's busiest resource works for all. */
static double wave_cycles(const struct gt_demand *demand, const double *work, uint32_t residents,
                          double blocks)
{
    double cycles = gt_modelled_solo_cycles(demand->modelled, demand->launch, residents);

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCES; r++)
        cycles = fmax(cycles, work[r] * blocks);
    return cycles;
}

struct gt_demand gt_demand_of(const struct gt_modelled *modelled, const struct gt_modelled_launch *launch,
                              const struct gt_device *device, const struct gt_occupancy *occupancy)
{
    const struct gt_warp_result *result = &launch->result;
    struct gt_demand demand = { .modelled = modelled, .launch = launch };
    double blocks = (double)launch->launch.blocks, full = (double)device->sms * occupancy->blocks_per_sm;
    double waves = (double)occupancy->waves, last = blocks - (waves - 1) * full;
    double rows = ceil(blocks / device->sms), work[GT_RESOURCES], alone;

    for (uint32_t r = 0; r < GT_RESOURCES; r++)
        work[r] = result->busy[r] * result->run_cycles / (r < GT_SM_RESOURCES ? rows : blocks);
    alone = wave_cycles(&demand, work, (uint32_t)ceil(last / device->sms), last);
    if (waves > 1)
        alone += (waves - 1) * wave_cycles(&demand, work, occupancy->blocks_per_sm, full);
    demand.slack = alone > 0 ? result->run_cycles / alone : 1;
    demand.block_cycles = result->run_cycles / waves;
    for (uint32_t r = 0; r < GT_RESOURCES; r++)
        demand.amount[r] = work[r] / demand.block_cycles * (r < GT_SM_RESOURCES ? 1 : demand.slack);
    return demand;
}

double gt_demand_limit(const struct gt_demand *demand, uint32_t residents)
{
    double cycles = gt_modelled_solo_cycles(demand->modelled, demand->launch, residents);

    return cycles > 0 ? demand->block_cycles / (cycles * demand->slack) : 1;
}
