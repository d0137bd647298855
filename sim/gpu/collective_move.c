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

static const struct gt_kernel *kernel_of(const struct gt_machine *m, const struct gt_collective_meeting *meeting)
{
    const struct gt_collectives *c = m->collectives;

    return gt_collective_kernel(m->workload, c->parts.parts[c->by_meeting[meeting->first]].op);
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
static gt_time_ps least_stated_ps(const struct gt_machine *m, const struct gt_collective_meeting *meeting)
{
    const struct gt_collectives *c = m->collectives;
    gt_time_ps least_ps = GT_TIME_NONE;

    for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const struct gt_op *op = &m->workload->ops[c->parts.parts[c->by_meeting[i]].op];
        gt_time_ps stated_ps =
            op->duration_ps != GT_TIME_NONE ? op->duration_ps : m->workload->kernels[op->kernel].duration_ps;

        least_ps = stated_ps < least_ps ? stated_ps : least_ps;
    }
    return least_ps;
}

/* What it takes of each link and of each memory, alone: never more of a link than there is. */
static void plan_takes(const struct gt_machine *m, struct gt_collective_meeting *meeting)
{
    const struct gt_kernel *kernel = kernel_of(m, meeting);
    double bytes = (double)kernel->collective.bytes *
                   gt_ring_way((enum gt_collective_kind)kernel->collective.kind, ranks_of(m, kernel)).share;
    double most_gbps = fmin(m->device->link_gpu_gbps, m->device->link_duplex_gbps / 2);

    meeting->link_gbps = fmin(most_gbps, bytes * 1000 / fmax(1, (double)meeting->plan.transfer_ps));
    meeting->memory_gbps = meeting->link_gbps * m->device->collective.memory_pct / 100;
}

/* What is stated says nothing of who was done first, and has in it what others were in its way. */
static void plan(struct gt_machine *m, struct gt_collective_meeting *meeting)
{
    const struct gt_kernel *kernel = kernel_of(m, meeting);
    gt_time_ps stated_ps = least_stated_ps(m, meeting);

    meeting->plan = gt_collective_plan(m->device, kernel, ranks_of(m, kernel));
    if (stated_ps != GT_TIME_NONE) {
        meeting->plan.transfer_ps = meeting->plan.fetch_ps = gt_whole_ps((double)stated_ps * slower(m, kernel));
        meeting->plan.lag_ps = 0;
    } else {
        plan_takes(m, meeting);
        m->extrapolated +=
            kernel->collective.kind != GT_SEND_RECV && gt_collective_extrapolated(m->device, ranks_of(m, kernel));
    }
    if (meeting->sender == GT_NONE)
        meeting->plan.lag_ps = meeting->plan.fetch_ps = 0;
    meeting->planned = true;
    meeting->left_ps = (double)meeting->plan.transfer_ps;
}

/* How much must be left until all have come. */
static double kept_back_ps(const struct gt_collective_meeting *meeting)
{
    return meeting->missing > 0 ? (double)meeting->plan.transfer_ps * (1 - meeting->plan.ahead) : 0;
}

static void settle(struct gt_machine *m, struct gt_collective_meeting *meeting)
{
    meeting->left_ps -= (double)(m->engine.now_ps - meeting->updated_ps) * meeting->rate;
    meeting->updated_ps = m->engine.now_ps;
}

static void schedule(struct gt_machine *m, uint32_t number)
{
    struct gt_collective_meeting *meeting = &m->collectives->meetings[number];
    double left_ps = fmax(0, meeting->left_ps - kept_back_ps(meeting));

    gt_engine_schedule(&m->engine, m->engine.now_ps + gt_whole_ps(left_ps / meeting->rate), GT_PHASE_END,
                       GT_HANDLE_COLLECTIVE, number, ++meeting->stamp);
}

/* GPU of one of its parts: those that it moves data through have come, all or the sender. */
static gt_gpu_index gpu_of(const struct gt_machine *m, const struct gt_collective_meeting *meeting, uint32_t i)
{
    const struct gt_collectives *c = m->collectives;

    return m->streams[m->workload->ops[c->parts.parts[c->by_meeting[meeting->first + i]].op].stream].gpu;
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
    struct gt_collective_meeting *meeting = &m->collectives->meetings[number];
    double rate = 1;

    if (!(meeting->link_gbps > 0))
        return;
    for (uint32_t i = 0; i < meeting->count; i++)
        rate = fmin(rate, memory_rate(m, gpu_of(m, meeting, i)));
    m->fired[GT_RULE_COLLECTIVE_MEMORY] += rate < 1;
    rate = fmin(rate, meeting->link_rate);
    if (rate == meeting->rate)
        return;
    settle(m, meeting);
    meeting->rate = rate;
    schedule(m, number);
}

void gt_collective_set_link_rate(struct gt_machine *m, uint32_t number, double rate)
{
    m->collectives->meetings[number].link_rate = rate;
    set_rate(m, number);
}

int gt_collective_memory_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_collectives *c = m->collectives;

    (void)stamp;
    (void)error;
    for (uint32_t i = 0; i < c->moving_count; i++) {
        const struct gt_collective_meeting *meeting = &c->meetings[c->moving[i]];
        bool there = false;

        for (uint32_t j = 0; j < meeting->count; j++)
            there = there || gpu_of(m, meeting, j) == gpu;
        if (there)
            set_rate(m, c->moving[i]);
    }
    return 0;
}

/* Its data has set off or stopped: others have less or more of links and memory from now on. */
static void tell_others(struct gt_machine *m, const struct gt_collective_meeting *changed)
{
    const struct gt_collectives *c = m->collectives;

    for (gt_gpu_index gpu = 0; gpu < m->gpu_count; gpu++)
        m->gpus[gpu].collective_gbps = 0;
    for (uint32_t i = 0; i < c->moving_count; i++)
        for (uint32_t j = 0; j < c->meetings[c->moving[i]].count; j++)
            m->gpus[gpu_of(m, &c->meetings[c->moving[i]], j)].collective_gbps +=
                c->meetings[c->moving[i]].memory_gbps;
    for (uint32_t j = 0; j < changed->count && changed->memory_gbps > 0; j++)
        gt_block_progress_copies_changed(m, gpu_of(m, changed, j));
    gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_RATES, GT_HANDLE_LINKS, 0, GT_STAMP_COLLECTIVES);
}

static void move(struct gt_machine *m, uint32_t number)
{
    struct gt_collectives *c = m->collectives;
    struct gt_collective_meeting *meeting = &c->meetings[number];

    meeting->moving = true;
    meeting->rate = meeting->link_rate = 1;
    meeting->updated_ps = m->engine.now_ps;
    c->moving[c->moving_count++] = number;
    schedule(m, number);
    set_rate(m, number);
    tell_others(m, meeting);
}

static void stop(struct gt_machine *m, uint32_t number)
{
    struct gt_collectives *c = m->collectives;
    uint32_t i = 0;

    while (c->moving[i] != number)
        i++;
    for (c->moving_count--; i < c->moving_count; i++)
        c->moving[i] = c->moving[i + 1];
    c->meetings[number].moving = false;
    tell_others(m, &c->meetings[number]);
}

static bool has_come(const struct gt_collectives *c, uint32_t part)
{
    uint32_t first;

    gt_collective_parts_of(&c->parts, c->parts.parts[part].op, &first);
    return c->comers[first].come_ps != GT_TIME_NONE;
}

void gt_collective_set_off(struct gt_machine *m, uint32_t number)
{
    struct gt_collective_meeting *meeting = &m->collectives->meetings[number];

    if (!meeting->planned)
        plan(m, meeting);
    if (meeting->moved_ps != GT_TIME_NONE || m->options->serialize)
        return;
    if (meeting->missing > 0 && (meeting->sender == GT_NONE || !has_come(m->collectives, meeting->sender) ||
                                 meeting->left_ps <= kept_back_ps(meeting)))
        return;
    if (meeting->moving) {
        settle(m, meeting);
        schedule(m, number);
        return;
    }
    m->fired[GT_RULE_COLLECTIVE]++;
    m->fired[GT_RULE_SENDS_AHEAD] += meeting->missing > 0;
    move(m, number);
}

int gt_collective_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_collective_meeting *meeting = &m->collectives->meetings[number];

    (void)error;
    if (stamp != meeting->stamp)
        return 0;
    stop(m, number);
    meeting->left_ps = kept_back_ps(meeting);
    if (meeting->left_ps > 0)
        return 0; /* the buffers are full: on when all have come */
    meeting->moved_ps = m->engine.now_ps;
    for (uint32_t i = meeting->first; i < meeting->first + meeting->count; i++)
        gt_collective_go_on(m, m->collectives->parts.parts[m->collectives->by_meeting[i]].op);
    return m->failed ? -1 : 0;
}

gt_time_ps gt_collective_part_end_ps(const struct gt_machine *m, uint32_t part)
{
    const struct gt_collectives *c = m->collectives;
    const struct gt_collective_meeting *meeting = &c->meetings[c->parts.parts[part].meeting];
    gt_time_ps come_ps, done_ps;
    uint32_t first;

    gt_collective_parts_of(&c->parts, c->parts.parts[part].op, &first);
    come_ps = c->comers[first].come_ps;
    if (m->options->serialize) /* nobody else can be there */
        return come_ps + meeting->plan.transfer_ps + meeting->plan.lag_ps;
    if (meeting->moved_ps == GT_TIME_NONE || part == meeting->sender)
        return meeting->moved_ps;
    done_ps = meeting->moved_ps + meeting->plan.lag_ps;
    return come_ps + meeting->plan.fetch_ps > done_ps ? come_ps + meeting->plan.fetch_ps : done_ps;
}
