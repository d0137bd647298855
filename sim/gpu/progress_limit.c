/* rate_limit.c - how fast a load could go if nothing but time held it back: what the warp tier says of its
 * waves, then what others cost.
 *
 * Who competes for L2 and DRAM: demand.h.  Beside that, as seen on an H200 with pairs of kernels, November
 * 2026:
 *
 * Turns.  A scheduler goes on with the warp that issued last until that stalls, and finds the next one among
 * those that issued not long ago.  Chains of multiply-adds that never stall let others wait until they end:
 * a latency-bound chain, double precision, a walk through memory and a matrix product beside them took as
 * long as all one after the other, whichever began first; of two such kernels the first keeps the slots.  So
 * warps that hardly ever stall have their turn first, the others theirs together.  Of issue slots and pipes
 * loads have what those with an earlier turn leave, in equal parts of what they want, and a warp that
 * stalled waits for the slot, s / (1 - s) bursts in the mean, where the part s of the slots goes to bursts
 * of so many instructions.
 *
 * Latency.  Reads by few warps took twice as long while a copy on other SMs kept DRAM busy for 0.8 by our
 * count: latency grows with what others keep busy as it does with what the kernel does (gt_warp_crowd()),
 * the more if they mix reads and writes.  On one SM reads leave in one row, and take as long as those that
 * take longest: n-body and a tiled product, which read little, had a half and a fifth of their pace beside a
 * copy.  Kernels that bandwidth holds back anyway do not notice: it is the less that counts.
 */
#include "sim/gpu/block_progress.h"

#include <math.h>

/* Warp instructions in a row from which on a warp counts as one that hardly ever stalls.  Loops of
 * independent multiply-adds and SGEMM have 30 to 65, everything else of 170 kernels 1 to 4. */
#define KEEPS_ISSUING 16
/* Of its pace, what a load keeps that the others leave no issue slots. */
#define LEAST_PACE 0.01

static const struct gt_demand *demand_of(const struct gt_machine *m, const struct gt_load *load)
{
    return m->grids[load->grid].demand;
}

static const struct gt_warp_result *result_of(const struct gt_machine *m, const struct gt_load *load)
{
    return &m->grids[load->grid].launch->result;
}

static double warps_of(const struct gt_machine *m, const struct gt_load *load)
{
    return (double)load->blocks * m->grids[load->grid].occupancy.need.warps;
}

/* What a load takes of a resource of its SM, or its part of the GPU's, at its limit. */
static double takes(const struct gt_machine *m, const struct gt_load *load, uint32_t resource)
{
    return demand_of(m, load)->amount[resource] * load->blocks * load->limit;
}

static bool keeps_issuing(const struct gt_machine *m, const struct gt_load *load)
{
    return result_of(m, load)->burst >= KEEPS_ISSUING;
}

/* Does a have its turn before b? */
static bool before(const struct gt_machine *m, const struct gt_load *a, const struct gt_load *b)
{
    gt_time_ps a_ps = m->batches[a->head].start_ps, b_ps = m->batches[b->head].start_ps;

    if (!keeps_issuing(m, a) || !keeps_issuing(m, b))
        return keeps_issuing(m, a);
    return a_ps != b_ps ? a_ps < b_ps : a->grid < b->grid;
}

void gt_rate_rank(struct gt_machine *m, uint32_t first)
{
    for (uint32_t i = first; i != GT_NONE; i = m->loads[i].next) {
        m->loads[i].rank = 0;
        for (uint32_t j = first; j != GT_NONE; j = m->loads[j].next)
            m->loads[i].rank += i != j && before(m, &m->loads[j], &m->loads[i]);
    }
}

/* What a load would take of a resource of the GPU if it were the only one anywhere, by its part of its SM. */
static double appetite(const struct gt_machine *m, const struct gt_load *load, enum gt_resource resource)
{
    const struct gt_demand *demand = demand_of(m, load);

    return demand->amount[resource] * load->blocks * gt_demand_limit(demand, load->blocks, 1) / load->sm_part;
}

/* How many SMs compete with a load for what it needs most (demand.h). Atomics of other grids do not. */
static double competing(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                        const struct gt_load *load)
{
    enum gt_resource most = gt_demand_most(demand_of(m, load));
    double wants = appetite(m, load, most), sum = 0;

    if (!(wants > 0))
        return 1;
    for (uint32_t k = 0; k < kinds; k++) {
        for (uint32_t at = gpu->loads[m->sm_kinds[k].sm]; at != GT_NONE; at = m->loads[at].next) {
            const struct gt_load *other = &m->loads[at];

            if (most != GT_RESOURCE_ATOMIC || other->grid == load->grid)
                sum += m->sm_kinds[k].sms * other->sm_part / load->sm_part
                       * fmin(1, appetite(m, other, most) / wants);
        }
    }
    return fmax(1, sum);
}

/* Each load's part of its SM, by its warps. */
static void part_sm(struct gt_machine *m, uint32_t first)
{
    double warps = 0;

    for (uint32_t load = first; load != GT_NONE; load = m->loads[load].next)
        warps += warps_of(m, &m->loads[load]);
    for (uint32_t load = first; load != GT_NONE; load = m->loads[load].next)
        m->loads[load].sm_part = warps_of(m, &m->loads[load]) / warps;
}

/* How much a launch mixes reads and writes of DRAM: 0 one of them only, 1 as much of both. */
static double mixed(const struct gt_warp_launch *launch)
{
    const struct gt_memory_use *use = launch->use != NULL || launch->program == NULL ? launch->use
                                                                                     : &launch->program->use;
    double all = use != NULL ? (double)use->dram_read_bytes + (double)use->dram_write_bytes : 0;

    return all > 0 ? 2 * fmin((double)use->dram_read_bytes, (double)use->dram_write_bytes) / all : 0;
}

/* Cycles by which others make DRAM, or L2, slower to answer, who keep `resource` busy. */
static double crowd(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                    const struct gt_load *load, uint32_t resource)
{
    const struct gt_warp_costs *costs = &m->device->warp;
    double busy = 0, of_copies = 0, cycles = costs->l2_crowd_cycles;

    for (uint32_t k = 0; k < kinds; k++) {
        for (uint32_t at = gpu->loads[m->sm_kinds[k].sm]; at != GT_NONE; at = m->loads[at].next) {
            const struct gt_load *other = &m->loads[at];
            double takes_of_it = other->grid == load->grid ? 0
                               : takes(m, other, resource) * m->sm_kinds[k].sms;

            busy += takes_of_it;
            of_copies += takes_of_it * mixed(&m->grids[other->grid].launch->launch);
        }
    }
    if (resource == GT_RESOURCE_DRAM && busy > 0)
        cycles = costs->dram_crowd_cycles
                 + (costs->dram_mixed_crowd_cycles - costs->dram_crowd_cycles) * of_copies / busy;
    return gt_warp_crowd(busy, cycles);
}

/* The longest that reads of others on its SM are under way, in units of its own: they leave the SM in one
 * row. */
static double row_on_sm(const struct gt_machine *m, const struct gt_gpu_state *gpu,
                        const struct gt_load *load)
{
    double own = result_of(m, load)->read_latency, longest = own;

    for (uint32_t at = gpu->loads[load->sm]; at != GT_NONE; at = m->loads[at].next)
        longest = fmax(longest, result_of(m, &m->loads[at])->read_latency);
    return own > 0 ? longest / own : 1;
}

/* Its limit where all that others do is make L2 and DRAM slow to answer. */
static double limit_by_latency(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                               const struct gt_load *load)
{
    const struct gt_warp_result *result = result_of(m, load);
    double warp_cycles = result->warps_mean * result->run_cycles, more = 0, growth;
    double waits = warp_cycles > 0 ? fmin(1, result->stalls[GT_STALL_LONG_SCOREBOARD] / warp_cycles) : 0;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCE_ATOMIC; r++)
        if (demand_of(m, load)->amount[r] > 0)
            more = fmax(more, crowd(m, gpu, kinds, load, r));
    growth = fmax(result->read_latency > 0 ? more / result->read_latency : 0, row_on_sm(m, gpu, load) - 1);
    return gt_demand_limit(demand_of(m, load), load->blocks, 1) / (1 + waits * growth);
}

/* Of its limit, what waiting for the issue slot leaves a load whose warps come back for it so often, where
 * others take `slots` of it in bursts. */
static double pace_of_turns(const struct gt_machine *m, const struct gt_load *load, double slots,
                            double bursts)
{
    const struct gt_warp_result *result = result_of(m, load);
    double a_cycle = takes(m, load, GT_RESOURCE_ISSUE) * GT_WARP_SUBS / warps_of(m, load);

    if (!(slots > 0) || !(result->burst > 0))
        return 1;
    return 1 / (1 + a_cycle / result->burst * bursts / fmax(1 - slots, LEAST_PACE));
}

/* Of its limit, what the loads with an earlier turn leave a load, and those that have the same one beside
 * it: of issue slots and pipes, and in time. */
static double left_pace(const struct gt_machine *m, uint32_t first, const struct gt_load *load)
{
    double pace = 1, slots = 0, bursts = 0;

    for (uint32_t r = 0; r < GT_SM_RESOURCES; r++) {
        double wanted = 0, left = 1;

        for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next) {
            left -= m->loads[at].rank < load->rank ? takes(m, &m->loads[at], r) : 0;
            wanted += m->loads[at].rank == load->rank ? takes(m, &m->loads[at], r) : 0;
        }
        if (gt_rate_by_turns(r) && takes(m, load, r) > 0)
            pace = fmin(pace, left / wanted);
    }
    for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next) {
        if (m->loads[at].rank < load->rank) {
            slots += takes(m, &m->loads[at], GT_RESOURCE_ISSUE);
            bursts += takes(m, &m->loads[at], GT_RESOURCE_ISSUE) * result_of(m, &m->loads[at])->burst;
        }
    }
    return fmax(LEAST_PACE, fmin(pace, pace_of_turns(m, load, slots, bursts)));
}

/* The loads of an SM in the order of their turns: each has its limit, or what is left. */
static void take_turns(struct gt_machine *m, uint32_t first)
{
    uint32_t last = 0;

    for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
        last = m->loads[at].rank > last ? m->loads[at].rank : last;
    for (uint32_t rank = 0; rank <= last; rank++) {
        for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
            m->loads[at].pace = m->loads[at].rank == rank ? left_pace(m, first, &m->loads[at]) : 1;
        for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
            m->loads[at].limit *= m->loads[at].pace;
    }
}

void gt_rate_limits(struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds)
{
    for (uint32_t k = 0; k < kinds; k++)
        part_sm(m, gpu->loads[m->sm_kinds[k].sm]);
    for (uint32_t k = 0; k < kinds; k++)
        for (uint32_t at = gpu->loads[m->sm_kinds[k].sm]; at != GT_NONE; at = m->loads[at].next)
            m->loads[at].limit = gt_demand_limit(demand_of(m, &m->loads[at]), m->loads[at].blocks,
                                                 competing(m, gpu, kinds, &m->loads[at]));
    for (uint32_t k = 0; k < kinds; k++)
        take_turns(m, gpu->loads[m->sm_kinds[k].sm]);
    for (uint32_t k = 0; k < kinds; k++)
        for (uint32_t at = gpu->loads[m->sm_kinds[k].sm]; at != GT_NONE; at = m->loads[at].next)
            m->loads[at].limit = fmin(m->loads[at].limit,
                                      limit_by_latency(m, gpu, kinds, &m->loads[at]));
}
