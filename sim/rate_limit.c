/* rate_limit.c - how fast a load could go if nothing but time held it back: what the warp tier says of its
 * waves, then what waits for others cost.
 *
 * Who competes for L2 and DRAM: demand.h.  Beside that, as seen on an H200 with pairs of kernels (November
 * 2026):
 *
 * Turns.  A scheduler goes on with the warp that issued last until that stalls, and finds the next one among
 * those that issued not long ago.  Chains of multiply-adds that never stall let others wait until they end:
 * a latency-bound chain, double precision or a walk through memory beside them took as long as all one after
 * the other, whichever began first.  Of two such kernels the first keeps the slots.  So loads of an SM have
 * turns: warps that hardly ever stall first, then who was there first; each has of issue slots and pipes
 * what those before it leave, and a warp that stalled waits for the slot, s / (1 - s) bursts in the mean,
 * where those before it take the part s of the slots in bursts of so many instructions.
 *
 * Latency.  Reads by few warps, that keep DRAM busy for a tenth, took twice as long while a copy on other
 * SMs kept it busy for 0.8 by our count: latency grows with U / (1 - U), of what others keep busy.  Kernels
 * that are held back by bandwidth anyway do not notice: it is the less that counts.
 */
#include "sim/rate.h"

#include <math.h>

/* Warp instructions in a row from which on a warp counts as one that hardly ever stalls.  Loops of
 * independent multiply-adds and SGEMM have 30 to 65, everything else of 170 kernels 1 to 4. */
#define KEEPS_ISSUING 16
/* Of its pace, what a load keeps that the others leave no issue slots. */
#define LEAST_PACE 0.01
/* Latency of L2 and DRAM grows by this part of itself for each U / (1 - U): see above.  U counts as this at
 * most. */
#define LATENCY_GROWTH 0.3
#define MOST_BUSY 0.9

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

/* Does a have its turn before b? */
static bool before(const struct gt_machine *m, const struct gt_load *a, const struct gt_load *b)
{
    bool a_keeps = result_of(m, a)->burst >= KEEPS_ISSUING, b_keeps = result_of(m, b)->burst >= KEEPS_ISSUING;
    gt_time_ps a_ps = m->batches[a->head].start_ps, b_ps = m->batches[b->head].start_ps;

    if (a_keeps != b_keeps)
        return a_keeps;
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

/* What others keep busy of L2 and DRAM, of the one they need most. */
static double busy_by_others(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                             const struct gt_load *load)
{
    double most = 0;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCE_ATOMIC; r++) {
        double busy = 0;

        for (uint32_t k = 0; k < kinds && demand_of(m, load)->amount[r] > 0; k++)
            for (uint32_t at = gpu->loads[m->sm_kinds[k].sm]; at != GT_NONE; at = m->loads[at].next)
                if (m->loads[at].grid != load->grid)
                    busy += takes(m, &m->loads[at], r) * m->sm_kinds[k].sms;
        most = fmax(most, busy);
    }
    return fmin(most, MOST_BUSY);
}

/* Its limit where all that others do is make L2 and DRAM slow to answer. */
static double limit_by_latency(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                               const struct gt_load *load)
{
    const struct gt_warp_result *result = result_of(m, load);
    double busy = busy_by_others(m, gpu, kinds, load), warp_cycles = result->warps_mean * result->run_cycles;
    double waits = warp_cycles > 0 ? fmin(1, result->stalls[GT_STALL_LONG_SCOREBOARD] / warp_cycles) : 0;

    return gt_demand_limit(demand_of(m, load), load->blocks, 1)
           / (1 + waits * LATENCY_GROWTH * busy / (1 - busy));
}

/* Of its limit, what waiting for the issue slot leaves a load whose warps come back for it so often, where
 * others take `slots` of it in bursts. */
static double pace_of_turns(const struct gt_machine *m, const struct gt_load *load, double slots,
                            double bursts)
{
    const struct gt_warp_result *result = result_of(m, load);
    double a_cycle = takes(m, load, GT_RESOURCE_ISSUE) * GT_SUB_PARTITIONS / warps_of(m, load);

    if (!(slots > 0) || !(result->burst > 0))
        return 1;
    return 1 / (1 + a_cycle / result->burst * bursts / fmax(1 - slots, LEAST_PACE));
}

/* Of its limit, what the loads with an earlier turn leave a load: of issue slots and pipes, and in time. */
static double left_pace(const struct gt_machine *m, uint32_t first, const struct gt_load *load)
{
    double pace = 1, slots = 0, bursts = 0;

    for (uint32_t r = 0; r < GT_SM_RESOURCES; r++) {
        double wants = takes(m, load, r), left = 1;

        for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
            if (m->loads[at].rank < load->rank)
                left -= takes(m, &m->loads[at], r);
        if (gt_rate_by_turns(r) && wants > 0)
            pace = fmin(pace, left / wants);
    }
    for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next) {
        if (m->loads[at].rank < load->rank) {
            slots += takes(m, &m->loads[at], GT_RESOURCE_ISSUE);
            bursts += takes(m, &m->loads[at], GT_RESOURCE_ISSUE) * result_of(m, &m->loads[at])->burst;
        }
    }
    return fmax(LEAST_PACE, fmin(pace, pace_of_turns(m, load, slots, bursts)));
}

/* The loads of an SM in the order of their turns: each has its limit, or what those before it leave. */
static void take_turns(struct gt_machine *m, uint32_t first)
{
    uint32_t count = 0;

    for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
        count++;
    for (uint32_t rank = 0; rank < count; rank++)
        for (uint32_t at = first; at != GT_NONE; at = m->loads[at].next)
            if (m->loads[at].rank == rank)
                m->loads[at].limit *= left_pace(m, first, &m->loads[at]);
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
