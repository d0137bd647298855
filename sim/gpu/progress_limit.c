/* progress_limit.c - how fast a group could go if nothing but time held it back: what the warp tier says of its
 * waves, then what others cost.
 *
 * Who competes for L2 and DRAM: progress_limit.h.  Beside that, as seen on an H200 with pairs of kernels, November
 * 2026:
 *
 * Turns.  A scheduler goes on with the warp that issued last until that stalls, and finds the next one among
 * those that issued not long ago.  Chains of multiply-adds that never stall let others wait until they end:
 * a latency-bound chain, double precision, a walk through memory and a matrix product beside them took as
 * long as all one after the other, whichever began first; of two such kernels the first keeps the slots.  So
 * warps that hardly ever stall have their turn first, the others theirs together.  Of issue slots and pipes
 * groups have what those with an earlier turn leave, in equal parts of what they want, and a warp that
 * stalled waits for the slot, s / (1 - s) bursts in the mean, where the part s of the slots goes to bursts
 * of so many instructions.
 *
 * Queues.  Of kernels that have their turn together none waits for the other to end, but each warp for those that
 * came before it, at the issue slots, the load/store unit and each pipe.  An instruction that keeps one of these for a
 * cycle finds it busy with others' for the part b of the time, and waits b / (2 (1 - b)) cycles in the mean, as in any
 * queue served at a steady pace (Pollaczek and Khinchine).  Who waits for something else most of the time hardly
 * notices; n-body with a warp a sub-partition had half of its pace beside a kernel of shared loads.
 *
 * Latency.  Reads by few warps took twice as long while a copy on other SMs kept DRAM busy for 0.8 by our
 * count: latency grows with what others keep busy as it does with what the kernel does (gt_warp_queueing_delay()),
 * the more if they mix reads and writes.  On one SM reads leave in one row, and take as long as those that
 * take longest: n-body and a tiled product, which read little, had a half and a fifth of their pace beside a
 * copy.  Kernels that bandwidth holds back anyway do not notice: it is the less that counts.
 */
#include "sim/gpu/progress_limit.h"

#include <math.h>

#include "sim/warp/kernel_model.h"
#include "sim/warp/memory.h"

double gt_progress_waits(const struct gt_warp_result *result, uint32_t stall)
{
    double warp_cycles = result->warps_mean * result->run_cycles;

    return warp_cycles > 0 ? fmin(1, result->stalls[stall] / warp_cycles) : 0;
}

bool gt_progress_by_turns(uint32_t resource)
{
    return resource == GT_RESOURCE_ISSUE || (resource >= GT_RESOURCE_BANKS && resource < GT_SM_RESOURCES);
}

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
    demand.pipe_waits = gt_progress_waits(result, GT_STALL_MATH_PIPE);
    demand.busiest_pipe = GT_RESOURCE_BANKS;
    for (uint32_t r = GT_RESOURCE_BANKS; r < GT_SM_RESOURCES; r++)
        demand.busiest_pipe = result->busy[r] > result->busy[demand.busiest_pipe] ? r : demand.busiest_pipe;
    return demand;
}

/* The fastest that blocks go, `residents` of them on one SM and `competing` SMs: a rate, above 1 where the
 * launch alone held them back more. */
static double demand_limit(const struct gt_demand *demand, uint32_t residents, double competing)
{
    double cycles = gt_kernel_model_wave(demand->modelled, demand->launch, residents, competing);

    return cycles > 0 ? demand->block_cycles / (cycles * demand->slack) : 1;
}

/* Of L2 and DRAM, or of atomics' slice, what it takes most of. */
static enum gt_resource most_of(const struct gt_demand *demand)
{
    enum gt_resource most = GT_SM_RESOURCES;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCES; r++)
        most = demand->amount[r] > demand->amount[most] ? (enum gt_resource)r : most;
    return most;
}

static const struct gt_demand *demand_of(const struct gt_machine *m, const struct gt_resident_group *group)
{
    return m->grids[group->grid].demand;
}

static const struct gt_warp_result *result_of(const struct gt_machine *m, const struct gt_resident_group *group)
{
    return &m->grids[group->grid].launch->result;
}

static double warps_of(const struct gt_machine *m, const struct gt_resident_group *group)
{
    return (double)group->blocks * m->grids[group->grid].occupancy.need.warps;
}

/* What a group takes of a resource of its SM, or its part of the GPU's, at its limit. */
static double takes(const struct gt_machine *m, const struct gt_resident_group *group, uint32_t resource)
{
    return demand_of(m, group)->amount[resource] * group->blocks * group->limit;
}

static bool keeps_issuing(const struct gt_machine *m, const struct gt_resident_group *group)
{
    return result_of(m, group)->issue_run_length >= m->device->warp.run_instructions;
}

/* The pipe, or register bank, for which others of the group's warps always wait, in each sub-partition; GT_SM_RESOURCES: there
 * is none.  The oldest warp is served first, so younger groups do not get to it. */
static uint32_t full_pipe(const struct gt_machine *m, const struct gt_resident_group *group)
{
    const struct gt_demand *demand = demand_of(m, group);
    double waiting = demand->pipe_waits * warps_of(m, group) / GT_WARP_SUBS;

    return waiting >= m->device->warp.full_pipe_warps ? demand->busiest_pipe : GT_SM_RESOURCES;
}

/* Does a have its turn before b? */
static bool before(const struct gt_machine *m, const struct gt_resident_group *a, const struct gt_resident_group *b)
{
    gt_time_ps a_ps = m->batches[a->head].start_ps, b_ps = m->batches[b->head].start_ps;
    bool older = a_ps != b_ps ? a_ps < b_ps : a->grid < b->grid;

    if (keeps_issuing(m, a) != keeps_issuing(m, b))
        return keeps_issuing(m, a);
    return older && (keeps_issuing(m, a) || full_pipe(m, a) < GT_SM_RESOURCES);
}

void gt_progress_turns(struct gt_machine *m, gt_group_index first)
{
    for (uint32_t i = first; i != GT_NONE; i = m->groups[i].next) {
        m->groups[i].turn = 0;
        for (uint32_t j = first; j != GT_NONE; j = m->groups[j].next)
            m->groups[i].turn += i != j && before(m, &m->groups[j], &m->groups[i]);
    }
}

/* What a group would take of a resource of the GPU if it were the only one anywhere, by its part of its SM. */
static double appetite(const struct gt_machine *m, const struct gt_resident_group *group, enum gt_resource resource)
{
    const struct gt_demand *demand = demand_of(m, group);

    return demand->amount[resource] * group->blocks * demand_limit(demand, group->blocks, 1) / group->sm_part;
}

/* The most that an SM with another group is served of a resource, in units of this group's: as much, but of DRAM as
 * many reads, or writes, whichever are more, and what else it moves with them. */
static double most_served(const struct gt_machine *m, const struct gt_resident_group *group,
                          const struct gt_resident_group *other, enum gt_resource resource)
{
    return resource == GT_RESOURCE_DRAM ? (1 - demand_of(m, group)->mixed / 2) / (1 - demand_of(m, other)->mixed / 2)
                                        : 1;
}

/* How many SMs compete with a group for what it needs most. Atomics of other grids do not. */
static double competing(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                        const struct gt_resident_group *group)
{
    enum gt_resource most = most_of(demand_of(m, group));
    double wants = appetite(m, group, most), sum = 0;

    if (!(wants > 0))
        return 1;
    for (uint32_t k = 0; k < kinds; k++) {
        for (gt_group_index at = gpu->groups[m->sm_kinds[k].sm]; at != GT_NONE; at = m->groups[at].next) {
            const struct gt_resident_group *other = &m->groups[at];

            if (most != GT_RESOURCE_ATOMIC || other->grid == group->grid)
                sum += m->sm_kinds[k].sms * other->sm_part / group->sm_part *
                       fmin(most_served(m, group, other, most), appetite(m, other, most) / wants);
        }
    }
    return fmax(1, sum);
}

/* Each group's part of its SM, by its warps. */
static void part_sm(struct gt_machine *m, gt_group_index first)
{
    double warps = 0;

    for (gt_group_index group = first; group != GT_NONE; group = m->groups[group].next)
        warps += warps_of(m, &m->groups[group]);
    for (gt_group_index group = first; group != GT_NONE; group = m->groups[group].next)
        m->groups[group].sm_part = warps_of(m, &m->groups[group]) / warps;
}

/* Cycles by which others make DRAM, or L2, slower to answer, who keep `resource` busy. */
static double queueing_delay(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                             const struct gt_resident_group *group, uint32_t resource)
{
    const struct gt_warp_costs *costs = &m->device->warp;
    double busy = 0, of_copies = 0, cycles = costs->l2_queueing_cycles;

    for (uint32_t k = 0; k < kinds; k++) {
        for (gt_group_index at = gpu->groups[m->sm_kinds[k].sm]; at != GT_NONE; at = m->groups[at].next) {
            const struct gt_resident_group *other = &m->groups[at];
            double takes_of_it = other->grid == group->grid ? 0 : takes(m, other, resource) * m->sm_kinds[k].sms;

            busy += takes_of_it;
            of_copies += takes_of_it * demand_of(m, other)->mixed;
        }
    }
    if (resource == GT_RESOURCE_DRAM) {
        busy += gpu->collective_gbps / costs->dram_gbps;
        of_copies += gpu->collective_gbps / costs->dram_gbps;
    }
    if (resource == GT_RESOURCE_DRAM && busy > 0)
        cycles = costs->dram_queueing_cycles +
                 (costs->dram_mixed_queueing_cycles - costs->dram_queueing_cycles) * of_copies / busy;
    return gt_warp_queueing_delay(busy, cycles);
}

/* What a kernel that reads its bytes from L2 again and again does not find there beside others.
 *
 * L2 has what was touched last, as much as memory.l2_reuse_bytes: what others move through it comes in the place of
 * what the kernel will read again.  A line is read again after some time, its own in the mean, evenly drawn: of what is
 * gone when it is, the part is exp(-T / t), where T is the time in which the kernel's own bytes and those of others
 * fill L2 (Che, Tung, Wang: "Hierarchical Web Caching Systems", 2002) and t how long the kernel takes to read once
 * as many bytes as it has: its bytes are those that it reads from DRAM with cold caches.
 *
 * Evidence: warps on 66 SMs that walk at random through 4, 8 and 16 MiB while 66 others read at 2.1 TB/s missed in
 * 0.19, 0.47 and 0.81 of their steps, by the times (H200, November 2026), which is a T of 6 to 10 us, or 13 to 20 MB;
 * a ring of 16 MiB, a table of 4 MiB and a product beside a copy (traces/scenarios/pairs). */

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

/* The part, 0 to 1, of what a grid's warps read beyond L1 that waits for DRAM since others keep it busy for the part
 * `others_busy`; `rate`: how fast its blocks go otherwise. */
static double evicted_part(const struct gt_machine *m, const struct gt_grid *grid, double rate, double others_busy)
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

/* Cycles by which its reads take longer that others' bytes have driven out of L2, in the mean of all its reads. */
static double eviction_delay(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                             const struct gt_resident_group *group)
{
    const struct gt_warp_costs *costs = &m->device->warp;
    double others = 0;

    for (uint32_t k = 0; k < kinds; k++)
        for (gt_group_index at = gpu->groups[m->sm_kinds[k].sm]; at != GT_NONE; at = m->groups[at].next)
            if (m->groups[at].grid != group->grid)
                others += takes(m, &m->groups[at], GT_RESOURCE_DRAM) * m->sm_kinds[k].sms;
    return evicted_part(m, &m->grids[group->grid], group->limit, others) *
           fmax(0, costs->dram_latency + costs->dram_spread - costs->l2_near_latency);
}

/* The longest that reads of others on its SM are under way, in units of its own: they leave the SM in one
 * row. */
static double row_on_sm(const struct gt_machine *m, const struct gt_gpu_state *gpu,
                        const struct gt_resident_group *group)
{
    double own = result_of(m, group)->read_latency, longest = own;

    for (gt_group_index at = gpu->groups[group->sm]; at != GT_NONE; at = m->groups[at].next)
        longest = fmax(longest, result_of(m, &m->groups[at])->read_latency);
    return own > 0 ? longest / own : 1;
}

/* Cycles that an access of a group to memory waits for atomics of other kernels to leave its SM, beyond what it waits alone:
 * loads, stores and accesses to shared memory are served in the order in which they came.  An n-body, a reduction, a copy
 * pipeline and a scan made hardly any progress beside atomics that kept L2 busy (H200, pairs-h200-43, November 2026). */
static double row_of_atomics(const struct gt_machine *m, const struct gt_gpu_state *gpu,
                             const struct gt_resident_group *group)
{
    double row = 0;

    for (gt_group_index at = gpu->groups[group->sm]; at != GT_NONE; at = m->groups[at].next) {
        const struct gt_grid *grid = &m->grids[m->groups[at].grid];
        double rows = ceil((double)grid->blocks / m->device->sms), held = grid->occupancy.blocks_per_sm;

        if (m->groups[at].grid != group->grid)
            row += result_of(m, &m->groups[at])->atomic_row_cycles * m->groups[at].blocks / fmin(rows, held);
    }
    return m->device->warp.atomic_row_part * fmax(0, row - result_of(m, group)->atomic_row_cycles);
}

/* Its limit where all that others do is make L2 and DRAM slow to answer. */
static double limit_by_latency(const struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds,
                               const struct gt_resident_group *group)
{
    const struct gt_warp_result *result = result_of(m, group);
    double row = row_of_atomics(m, gpu, group), more = 0, growth;

    for (uint32_t r = GT_SM_RESOURCES; r < GT_RESOURCE_ATOMIC; r++)
        if (demand_of(m, group)->amount[r] > 0)
            more = fmax(more, queueing_delay(m, gpu, kinds, group, r));
    more += eviction_delay(m, gpu, kinds, group);
    growth = fmax(result->read_latency > 0 ? more / result->read_latency : 0, row_on_sm(m, gpu, group) - 1);
    growth = fmax(growth, result->read_latency > 0 ? row / result->read_latency : 0);
    return demand_limit(demand_of(m, group), group->blocks, 1) /
           (1 + gt_progress_waits(result, GT_STALL_LONG_SCOREBOARD) * growth +
            gt_progress_waits(result, GT_STALL_SHORT_SCOREBOARD) * row / m->device->warp.shared_latency);
}

/* Of its limit, what waiting for the issue slot leaves a group whose warps come back for it so often, where
 * others take `slots` of it in bursts. */
static double pace_of_turns(const struct gt_machine *m, const struct gt_resident_group *group, double slots,
                            double bursts)
{
    const struct gt_warp_result *result = result_of(m, group);
    double a_cycle = takes(m, group, GT_RESOURCE_ISSUE) * GT_WARP_SUBS / warps_of(m, group);

    if (!(slots > 0) || !(result->issue_run_length > 0))
        return 1;
    return 1 / (1 + a_cycle / result->issue_run_length * bursts / fmax(1 - slots, m->device->warp.least_issue_part));
}

/* Of its limit, what the groups with an earlier turn leave a group, and those that have the same one beside
 * it: of issue slots and pipes, and in time. */
static double left_pace(const struct gt_machine *m, gt_group_index first, const struct gt_resident_group *group)
{
    double pace = 1, slots = 0, bursts = 0;

    for (uint32_t r = 0; r < GT_SM_RESOURCES; r++) {
        double wanted = 0, left = 1;

        for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next) {
            left -= m->groups[at].turn >= group->turn   ? 0
                    : full_pipe(m, &m->groups[at]) == r ? 1
                                                        : takes(m, &m->groups[at], r);
            wanted += m->groups[at].turn == group->turn ? takes(m, &m->groups[at], r) : 0;
        }
        if (gt_progress_by_turns(r) && takes(m, group, r) > 0)
            pace = fmin(pace, left / wanted);
    }
    for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next) {
        if (m->groups[at].turn < group->turn) {
            slots += takes(m, &m->groups[at], GT_RESOURCE_ISSUE);
            bursts += takes(m, &m->groups[at], GT_RESOURCE_ISSUE) * result_of(m, &m->groups[at])->issue_run_length;
        }
    }
    return fmax(m->device->warp.least_issue_part, fmin(pace, pace_of_turns(m, group, slots, bursts)));
}

/* The groups of an SM in the order of their turns: each has its limit, or what is left. */
static void limit_by_turns(struct gt_machine *m, gt_group_index first)
{
    uint32_t last = 0;

    for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
        last = m->groups[at].turn > last ? m->groups[at].turn : last;
    for (uint32_t turn = 0; turn <= last; turn++) {
        for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
            m->groups[at].pace = m->groups[at].turn == turn ? left_pace(m, first, &m->groups[at]) : 1;
        for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
            m->groups[at].limit *= m->groups[at].pace;
    }
}

/* Others keep a resource no longer than this busy, as those do who wait for it: queues are bounded. */
#define MOST_TAKEN 0.9

/* Of its limit, what is left to a group whose warps queue behind those of the others on the SM. */
static double queues_pace(const struct gt_machine *m, gt_group_index first, const struct gt_resident_group *group)
{
    const struct gt_warp_result *result = result_of(m, group);
    double issue = result->busy[GT_RESOURCE_ISSUE], waits = 0;

    if (!(issue * result->warps_mean > 0))
        return 1;
    for (uint32_t r = 0; r < GT_SM_RESOURCES; r++) {
        bool of_sm = r == GT_RESOURCE_LSU || r == GT_RESOURCE_PORT;
        double each = result->busy[r] / issue / (of_sm ? GT_WARP_SUBS : 1), taken = 0;

        for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
            if (&m->groups[at] != group && (r != GT_RESOURCE_ISSUE || m->groups[at].turn == group->turn))
                taken += takes(m, &m->groups[at], r) * m->groups[at].queue;
        taken = fmin(taken, MOST_TAKEN);
        waits += each * taken / (2 * (1 - taken));
    }
    double cycles = result->warps_mean / (issue * GT_WARP_SUBS); /* of a warp, from one instruction to the next */
    return cycles / (cycles + waits);
}

/* Beside what its turn leaves a group (`pace`), the less counts.  Who waits takes less, and others wait less for him:
 * rounds until that settles. */
static void limit_by_queues(struct gt_machine *m, gt_group_index first)
{
    enum { ROUNDS = 4 };

    if (first == GT_NONE || m->groups[first].next == GT_NONE)
        return;
    for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
        m->groups[at].queue = 1;
    for (int round = 0; round < ROUNDS; round++)
        for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
            m->groups[at].queue = fmin(1, queues_pace(m, first, &m->groups[at]) / m->groups[at].pace);
    for (gt_group_index at = first; at != GT_NONE; at = m->groups[at].next)
        m->groups[at].limit *= m->groups[at].queue;
}

void gt_progress_limits(struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds)
{
    for (uint32_t k = 0; k < kinds; k++)
        part_sm(m, gpu->groups[m->sm_kinds[k].sm]);
    for (uint32_t k = 0; k < kinds; k++)
        for (gt_group_index at = gpu->groups[m->sm_kinds[k].sm]; at != GT_NONE; at = m->groups[at].next)
            m->groups[at].limit = demand_limit(demand_of(m, &m->groups[at]), m->groups[at].blocks,
                                               competing(m, gpu, kinds, &m->groups[at]));
    for (uint32_t k = 0; k < kinds; k++) {
        limit_by_turns(m, gpu->groups[m->sm_kinds[k].sm]);
        limit_by_queues(m, gpu->groups[m->sm_kinds[k].sm]);
    }
    for (uint32_t k = 0; k < kinds; k++)
        for (gt_group_index at = gpu->groups[m->sm_kinds[k].sm]; at != GT_NONE; at = m->groups[at].next)
            m->groups[at].limit = fmin(m->groups[at].limit, limit_by_latency(m, gpu, kinds, &m->groups[at]));
}
