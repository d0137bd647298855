#include "sim/gpu/collective_move.h"

#include <math.h>

#include "sim/collectives/choice.h"
#include "sim/gpu/block_progress.h"
#include "sim/machine/durations.h"
#include "sim/warp/memory.h"

bool gt_collective_only_sends(const struct gt_workload *workload, const struct gt_collective_part *part)
{
    const struct gt_collective *collective = &gt_collective_kernel(workload, part->op)->collective;
    uint32_t ranks = workload->groups[part->group].size;

    switch ((enum gt_collective_kind)collective->kind) {
    case GT_BROADCAST: return part->rank == collective->root;
    case GT_REDUCE: return part->rank == (collective->root + 1) % ranks; /* the chain begins behind the root */
    case GT_SEND_RECV: return collective->from == GT_NONE;
    default: return false;
    }
}

static uint32_t ranks_of(const struct gt_machine *m, const struct gt_kernel *kernel)
{
    return m->workload->groups[kernel->collective.group].size;
}

static const struct gt_kernel *kernel_of(const struct gt_machine *m, const struct gt_collective_instance *instance)
{
    const struct gt_collectives *c = m->collectives;

    return gt_collective_kernel(m->workload, c->parts.parts[c->by_instance[instance->first]].op);
}

/* By how much it takes longer on this device than on the one recorded. */
static double slower(const struct gt_machine *m, const struct gt_kernel *kernel)
{
    uint32_t ranks = ranks_of(m, kernel);
    double here, there;

    if (m->device == m->recorded)
        return 1;
    here = (double)gt_collective_plan(m->device, kernel, ranks).transfer_ps;
    there = (double)gt_collective_plan(m->recorded, kernel, ranks).transfer_ps;
    return there > 0 ? here / there : 1;
}

/* Recorded or stated durations of parts hold their waiting; that of the part that waited least has the least of it. */
static gt_time_ps least_stated_ps(const struct gt_machine *m, const struct gt_collective_instance *instance)
{
    const struct gt_collectives *c = m->collectives;
    gt_time_ps least_ps = GT_TIME_NONE;

    for (uint32_t i = instance->first; i < instance->first + instance->count; i++) {
        const struct gt_op *op = &m->workload->ops[c->parts.parts[c->by_instance[i]].op];
        gt_time_ps stated_ps =
            op->duration_ps != GT_TIME_NONE ? op->duration_ps : m->workload->kernels[op->kernel].duration_ps;

        least_ps = stated_ps < least_ps ? stated_ps : least_ps;
    }
    return least_ps;
}

/* What it takes of each link and of each memory, alone: never more of a link than there is. */
static void plan_takes(const struct gt_machine *m, struct gt_collective_instance *instance)
{
    const struct gt_kernel *kernel = kernel_of(m, instance);
    double bytes = (double)kernel->collective.bytes *
                   gt_ring_way((enum gt_collective_kind)kernel->collective.kind, ranks_of(m, kernel)).share;
    double most_gbps = fmin(m->device->link_gpu_gbps, m->device->link_duplex_gbps / 2);

    instance->link_gbps = fmin(most_gbps, bytes * 1000 / fmax(1, (double)instance->plan.transfer_ps));
    instance->memory_gbps = instance->link_gbps * m->device->collective.memory_pct / 100;
}

/* What is stated says nothing of who was done first, and has in it what others were in its way. */
static void plan(struct gt_machine *m, struct gt_collective_instance *instance)
{
    const struct gt_kernel *kernel = kernel_of(m, instance);
    gt_time_ps stated_ps = least_stated_ps(m, instance);

    instance->plan = gt_collective_plan(m->device, kernel, ranks_of(m, kernel));
    if (stated_ps != GT_TIME_NONE) {
        instance->plan.transfer_ps = instance->plan.fetch_ps = gt_whole_ps((double)stated_ps * slower(m, kernel));
        instance->plan.lag_ps = 0;
    } else {
        plan_takes(m, instance);
        m->extrapolated +=
            kernel->collective.kind != GT_SEND_RECV && gt_collective_extrapolated(m->device, ranks_of(m, kernel));
    }
    if (instance->sender == GT_NONE)
        instance->plan.lag_ps = instance->plan.fetch_ps = 0;
    instance->planned = true;
    instance->left_ps = (double)instance->plan.transfer_ps;
}

/* How much must be left until all have come. */
static double kept_back_ps(const struct gt_collective_instance *instance)
{
    return instance->missing > 0 ? (double)instance->plan.transfer_ps * (1 - instance->plan.ahead) : 0;
}

static void settle(struct gt_machine *m, struct gt_collective_instance *instance)
{
    instance->left_ps -= (double)(m->engine.now_ps - instance->updated_ps) * instance->rate;
    instance->updated_ps = m->engine.now_ps;
}

static void schedule(struct gt_machine *m, uint32_t number)
{
    struct gt_collective_instance *instance = &m->collectives->instances[number];
    double left_ps = fmax(0, instance->left_ps - kept_back_ps(instance));

    gt_engine_schedule(&m->engine, m->engine.now_ps + gt_whole_ps(left_ps / instance->rate), GT_PHASE_END,
                       GT_HANDLE_COLLECTIVE, number, ++instance->stamp);
}

/* GPU of one of its parts: those that it moves data through have come, all or the sender. */
static gt_gpu_index gpu_of(const struct gt_machine *m, const struct gt_collective_instance *instance, uint32_t i)
{
    const struct gt_collectives *c = m->collectives;

    return m->streams[m->workload->ops[c->parts.parts[c->by_instance[instance->first + i]].op].stream].gpu;
}

/* Memory is slower to answer by what kernels keep busy of it, the more so if they mix reads and writes
 * (gt_warp_queueing_delay()): so much of its pace is left on that GPU. */
static double memory_rate(const struct gt_machine *m, gt_gpu_index gpu)
{
    const struct gt_warp_costs *costs = &m->device->warp;
    const struct gt_gpu_state *state = &m->gpus[gpu];
    double cycles, delay;

    if (!(state->memory_busy > 0) || m->device->collective.memory_cycles == 0)
        return 1;
    cycles = costs->dram_queueing_cycles + (costs->dram_mixed_queueing_cycles - costs->dram_queueing_cycles) *
                                               state->memory_mixed / state->memory_busy;
    delay = gt_warp_queueing_delay(state->memory_busy, cycles);
    return m->device->collective.memory_cycles / (m->device->collective.memory_cycles + delay);
}

/* The slowest of its GPUs holds up all. */
static void set_rate(struct gt_machine *m, uint32_t number)
{
    struct gt_collective_instance *instance = &m->collectives->instances[number];
    double rate = 1;

    if (!(instance->link_gbps > 0))
        return;
    for (uint32_t i = 0; i < instance->count; i++)
        rate = fmin(rate, memory_rate(m, gpu_of(m, instance, i)));
    m->fired[GT_RULE_COLLECTIVE_MEMORY] += rate < 1;
    rate = fmin(rate, instance->link_rate);
    if (rate == instance->rate)
        return;
    settle(m, instance);
    instance->rate = rate;
    schedule(m, number);
}

void gt_collective_set_link_rate(struct gt_machine *m, uint32_t number, double rate)
{
    m->collectives->instances[number].link_rate = rate;
    set_rate(m, number);
}

int gt_collective_memory_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_collectives *c = m->collectives;

    (void)stamp;
    (void)error;
    for (uint32_t i = 0; i < c->moving_count; i++) {
        const struct gt_collective_instance *instance = &c->instances[c->moving[i]];
        bool there = false;

        for (uint32_t j = 0; j < instance->count; j++)
            there = there || gpu_of(m, instance, j) == gpu;
        if (there)
            set_rate(m, c->moving[i]);
    }
    return 0;
}

/* Its data has set off or stopped: others have less or more of links and memory from now on. */
static void tell_others(struct gt_machine *m, const struct gt_collective_instance *changed)
{
    const struct gt_collectives *c = m->collectives;

    for (gt_gpu_index gpu = 0; gpu < m->gpu_count; gpu++)
        m->gpus[gpu].collective_gbps = 0;
    for (uint32_t i = 0; i < c->moving_count; i++)
        for (uint32_t j = 0; j < c->instances[c->moving[i]].count; j++)
            m->gpus[gpu_of(m, &c->instances[c->moving[i]], j)].collective_gbps +=
                c->instances[c->moving[i]].memory_gbps;
    for (uint32_t j = 0; j < changed->count && changed->memory_gbps > 0; j++)
        gt_block_progress_copies_changed(m, gpu_of(m, changed, j));
    gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_RATES, GT_HANDLE_LINKS, 0, GT_STAMP_COLLECTIVES);
}

static void move(struct gt_machine *m, uint32_t number)
{
    struct gt_collectives *c = m->collectives;
    struct gt_collective_instance *instance = &c->instances[number];

    instance->moving = true;
    instance->rate = instance->link_rate = 1;
    instance->updated_ps = m->engine.now_ps;
    c->moving[c->moving_count++] = number;
    schedule(m, number);
    set_rate(m, number);
    tell_others(m, instance);
}

static void stop(struct gt_machine *m, uint32_t number)
{
    struct gt_collectives *c = m->collectives;
    uint32_t i = 0;

    while (c->moving[i] != number)
        i++;
    for (c->moving_count--; i < c->moving_count; i++)
        c->moving[i] = c->moving[i + 1];
    c->instances[number].moving = false;
    tell_others(m, &c->instances[number]);
}

static bool has_come(const struct gt_collectives *c, uint32_t part)
{
    uint32_t first;

    gt_collective_parts_of(&c->parts, c->parts.parts[part].op, &first);
    return c->comers[first].come_ps != GT_TIME_NONE;
}

void gt_collective_set_off(struct gt_machine *m, uint32_t number)
{
    struct gt_collective_instance *instance = &m->collectives->instances[number];

    if (!instance->planned)
        plan(m, instance);
    if (instance->moved_ps != GT_TIME_NONE || m->options->serialize)
        return;
    if (instance->missing > 0 && (instance->sender == GT_NONE || !has_come(m->collectives, instance->sender) ||
                                  instance->left_ps <= kept_back_ps(instance)))
        return;
    if (instance->moving) {
        settle(m, instance);
        schedule(m, number);
        return;
    }
    m->fired[GT_RULE_COLLECTIVE]++;
    m->fired[GT_RULE_SENDS_AHEAD] += instance->missing > 0;
    move(m, number);
}

int gt_collective_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_collective_instance *instance = &m->collectives->instances[number];

    (void)error;
    if (stamp != instance->stamp)
        return 0;
    stop(m, number);
    instance->left_ps = kept_back_ps(instance);
    if (instance->left_ps > 0)
        return 0; /* the buffers are full: on when all have come */
    instance->moved_ps = m->engine.now_ps;
    for (uint32_t i = instance->first; i < instance->first + instance->count; i++)
        gt_collective_go_on(m, m->collectives->parts.parts[m->collectives->by_instance[i]].op);
    return m->failed ? -1 : 0;
}

gt_time_ps gt_collective_part_end_ps(const struct gt_machine *m, uint32_t part)
{
    const struct gt_collectives *c = m->collectives;
    const struct gt_collective_instance *instance = &c->instances[c->parts.parts[part].instance];
    gt_time_ps come_ps, done_ps;
    uint32_t first;

    gt_collective_parts_of(&c->parts, c->parts.parts[part].op, &first);
    come_ps = c->comers[first].come_ps;
    if (m->options->serialize) /* nobody else can be there */
        return come_ps + instance->plan.transfer_ps + instance->plan.lag_ps;
    if (instance->moved_ps == GT_TIME_NONE || part == instance->sender)
        return instance->moved_ps;
    done_ps = instance->moved_ps + instance->plan.lag_ps;
    return come_ps + instance->plan.fetch_ps > done_ps ? come_ps + instance->plan.fetch_ps : done_ps;
}
