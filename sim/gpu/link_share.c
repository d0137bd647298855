#include "sim/gpu/link_share.h"

#include <math.h>
#include <stdlib.h>

#include "sim/gpu/collective_move.h"
#include "sim/gpu/peer_kernel.h"

/* What copies share, and of which GPUs: one, or two of which the order counts or does not. */
enum shared { SENT, RECEIVED, BETWEEN, KERNELS, TO_HOST, FROM_HOST, HOST_BOTH_WAYS, STAGED_BETWEEN };

struct resource {
    enum shared shared;
    gt_gpu_index one, other; /* other GT_NONE: of one alone */
};

/* While shares are worked out. */
struct sharing {
    struct gt_machine *m;
    struct resource *resources; /* as in m->maxmin */
    struct gt_link_rate *rates; /* as its consumers */
    uint32_t count;
};

static double capacity_of(const struct gt_device *device, enum shared shared)
{
    switch (shared) {
    case BETWEEN: return device->link_duplex_gbps;
    case KERNELS: return device->link_kernel_gbps;
    case TO_HOST: return device->d2h_pinned.gbps;
    case FROM_HOST: return device->h2d_pinned.gbps;
    case HOST_BOTH_WAYS: return device->duplex_gbps;
    case STAGED_BETWEEN: return device->link_host_duplex_gbps;
    default: return device->link_gpu_gbps;
    }
}

/* The consumer added last takes of it what it copies. */
static void take(struct sharing *sharing, enum shared shared, gt_gpu_index one, gt_gpu_index other)
{
    struct gt_maxmin *maxmin = &sharing->m->maxmin;
    uint32_t i = 0;

    while (i < maxmin->resource_count && (sharing->resources[i].shared != shared ||
                                          sharing->resources[i].one != one || sharing->resources[i].other != other))
        i++;
    if (i == maxmin->resource_count) {
        gt_maxmin_add_resource(maxmin, capacity_of(sharing->m->device, shared));
        sharing->resources[i] = (struct resource){ shared, one, other };
    }
    gt_maxmin_add_demand(maxmin, i, 1);
}

static void take_host_link(struct sharing *sharing, enum shared way, gt_gpu_index gpu)
{
    take(sharing, way, gpu, GT_NONE);
    take(sharing, HOST_BOTH_WAYS, gpu, GT_NONE);
}

static void take_link(struct sharing *sharing, enum gt_link_kind kind, gt_gpu_index from, gt_gpu_index to)
{
    bool switched = sharing->m->device->link_switched != 0;
    gt_gpu_index low = from < to ? from : to, high = from < to ? to : from;

    if (kind == GT_LINK_NVLINK) {
        take(sharing, SENT, from, switched ? GT_NONE : to);
        take(sharing, RECEIVED, to, switched ? GT_NONE : from);
        take(sharing, BETWEEN, low, high);
        return;
    }
    take_host_link(sharing, TO_HOST, from);
    take_host_link(sharing, FROM_HOST, to);
    if (kind == GT_LINK_HOST)
        take(sharing, STAGED_BETWEEN, low, high);
}

static const struct gt_op *running_op(const struct gt_machine *m, uint32_t engine)
{
    gt_command_index command = m->gpus[engine / GT_ENGINES].engines[engine % GT_ENGINES].running;

    return command == GT_NONE ? NULL : &m->workload->ops[m->commands[command].index];
}

static void add_consumer(struct sharing *sharing, uint32_t engine, double gbps)
{
    gt_maxmin_add_consumer(&sharing->m->maxmin, gbps, 1);
    sharing->rates[sharing->count++] = (struct gt_link_rate){ .engine = engine, .instance = GT_NONE };
}

/* Staged copies take of the links what they copy, on the mean: hardly anything where their latency is all. */
static double staged_gbps(const struct gt_op *op, const struct gt_link *link)
{
    double gbps = link->cost.gbps, idle_bytes = (double)link->cost.latency_ps / 1000 * gbps;

    return op->bytes == 0 ? gbps : gbps * (double)op->bytes / ((double)op->bytes + idle_bytes);
}

/* Copies between GPUs; does any have a link to the host as copies from and to the host have it? */
static bool add_between(struct sharing *sharing)
{
    const struct gt_machine *m = sharing->m;
    bool over_host = false;

    for (uint32_t engine = 0; engine < m->gpu_count * GT_ENGINES; engine++) {
        const struct gt_op *op = running_op(m, engine);
        gt_gpu_index from, to;
        struct gt_link link;

        if (op == NULL || !gt_link_of_copy(m->workload, m->device, op, &link, &from, &to))
            continue;
        over_host |= link.kind == GT_LINK_PCIE;
        add_consumer(sharing, engine, link.kind == GT_LINK_HOST ? staged_gbps(op, &link) : link.cost.gbps);
        take_link(sharing, link.kind, from, to);
    }
    return over_host;
}

/* GPU of a rank of the instance's group. */
static gt_gpu_index member(const struct gt_machine *m, const struct gt_collective_instance *instance, uint32_t rank)
{
    const struct gt_collectives *c = m->collectives;

    return m->workload->groups[c->parts.parts[c->by_instance[instance->first]].group].members[rank];
}

/* From each rank to the next, as a ring has them; the chain of a broadcast ends before its root, that of a reduce there; a
 * message has one. */
static void take_ring(struct sharing *sharing, const struct gt_collective_instance *instance)
{
    const struct gt_machine *m = sharing->m;
    const struct gt_collective_part *part =
        &m->collectives->parts.parts[m->collectives->by_instance[instance->first]];
    const struct gt_collective *collective = &gt_collective_kernel(m->workload, part->op)->collective;
    uint32_t ranks = m->workload->groups[part->group].size;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t next = part->to != GT_NONE ? part->to : (rank + 1) % ranks;
        gt_gpu_index from = member(m, instance, rank), to = member(m, instance, next);

        if ((part->to != GT_NONE && rank != part->from) ||
            (collective->kind == GT_BROADCAST && next == collective->root) ||
            (collective->kind == GT_REDUCE && rank == collective->root) || from == to)
            continue;
        take_link(sharing, gt_link_between(m->device, m->workload->gpus[from].id, m->workload->gpus[to].id).kind,
                  from, to);
    }
}

static void add_collectives(struct sharing *sharing)
{
    const struct gt_machine *m = sharing->m;
    const struct gt_collectives *c = m->collectives;

    for (uint32_t i = 0; c != NULL && i < c->moving_count; i++) {
        const struct gt_collective_instance *instance = &c->instances[c->moving[i]];
        double weight = instance->link_gbps / m->device->link_gpu_gbps * m->device->link_kernel_pct / 100;

        if (!(instance->link_gbps > 0))
            continue;
        gt_maxmin_add_consumer(&sharing->m->maxmin, instance->link_gbps, weight);
        sharing->rates[sharing->count++] = (struct gt_link_rate){ .engine = GT_NONE, .instance = c->moving[i] };
        take_ring(sharing, instance);
    }
}

static void add_host_copies(struct sharing *sharing)
{
    const struct gt_machine *m = sharing->m;

    for (uint32_t engine = 0; engine < m->gpu_count * GT_ENGINES; engine++) {
        const struct gt_op *op = running_op(m, engine);
        double gbps = m->gpus[engine / GT_ENGINES].engines[engine % GT_ENGINES].demand_gbps;

        if (op == NULL || gbps <= 0 || (op->direction != GT_H2D && op->direction != GT_D2H))
            continue;
        add_consumer(sharing, engine, gbps);
        take_host_link(sharing, op->direction == GT_H2D ? FROM_HOST : TO_HOST, engine / GT_ENGINES);
    }
}

/* Seen on H200s: copies from the host of 1.5 and 2 MB took as long as ever beside staged ones of 1 and 1.9 MB to the same
 * GPU, which lost 13 of 30 and 8 of 40 us. */
static const double beside_rate = 0.7;

/* Is it a staged copy while another one goes from the host to the GPU that gets it? */
static bool beside_host_copy(const struct gt_machine *m, uint32_t engine)
{
    gt_gpu_index from, to;
    struct gt_link link;

    return gt_link_of_copy(m->workload, m->device, running_op(m, engine), &link, &from, &to) &&
           link.kind == GT_LINK_HOST &&
           (m->gpus[to].engines[0].demand_gbps > 0 && m->gpus[to].engines[0].running != GT_NONE);
}

/* Of the accesses that wait for a full link each is served as soon as any other.  Seen on H200s: an SM has so many under way
 * and no more, however many threads are on it. */
static double threads_part(const struct gt_device *device, const struct gt_peer_kernel *kernel)
{
    double sms = fmin((double)kernel->blocks, device->sms);
    double threads = (double)kernel->blocks * kernel->threads / sms;

    return sms / device->sms * fmin(1, threads / device->link_kernel_threads);
}

/* Kernels in other GPUs' memory: all of a GPU's traffic together is no more than one kernel may have. */
static bool add_kernels(struct sharing *sharing)
{
    const struct gt_machine *m = sharing->m;
    bool over_host = false;

    for (struct gt_peer_kernel *kernel = m->peer_kernels; kernel != NULL; kernel = kernel->next) {
        double most_gbps = gt_link_kernel_gbps(m->device, &kernel->link);

        if (kernel->blocks == 0)
            continue;
        over_host |= kernel->link.kind == GT_LINK_PCIE;
        gt_maxmin_add_consumer(&sharing->m->maxmin, fmin(most_gbps, (double)kernel->blocks * kernel->block_gbps),
                               m->device->link_kernel_pct / 100.0 * threads_part(m->device, kernel));
        sharing->rates[sharing->count++] =
            (struct gt_link_rate){ .engine = GT_NONE, .instance = GT_NONE, .peer = kernel };
        take_link(sharing, kernel->link.kind, kernel->from, kernel->to);
        if (kernel->link.kind == GT_LINK_NVLINK)
            take(sharing, KERNELS, kernel->from, m->device->link_switched ? GT_NONE : kernel->to);
    }
    return over_host;
}

static uint32_t peer_kernels(const struct gt_machine *m)
{
    uint32_t count = 0;

    for (const struct gt_peer_kernel *kernel = m->peer_kernels; kernel != NULL; kernel = kernel->next)
        count++;
    return count;
}

uint32_t gt_link_users(const struct gt_machine *m)
{
    return m->gpu_count * GT_ENGINES + (m->collectives != NULL ? m->collectives->moving_count : 0) + peer_kernels(m);
}

/* Of how many resources collectives take: each link of a ring has three, or five. */
static uint64_t taken_by_collectives(const struct gt_machine *m)
{
    const struct gt_collectives *c = m->collectives;
    uint64_t links = 0;

    for (uint32_t i = 0; c != NULL && i < c->moving_count; i++)
        links += m->workload->groups[c->parts.parts[c->by_instance[c->instances[c->moving[i]].first]].group].size;
    return 5 * links;
}

/* Each copy takes of five resources at most. */
uint32_t gt_link_share(struct gt_machine *m, struct gt_link_rate *rates, bool *over_host)
{
    struct sharing sharing = { .m = m, .rates = rates };

    sharing.resources = gt_calloc(5ull * gt_link_users(m) + taken_by_collectives(m), sizeof *sharing.resources);
    gt_maxmin_clear(&m->maxmin);
    *over_host = add_between(&sharing);
    *over_host |= add_kernels(&sharing);
    if (*over_host)
        add_host_copies(&sharing);
    add_collectives(&sharing);
    gt_maxmin_solve(&m->maxmin);
    for (uint32_t i = 0; i < sharing.count; i++) {
        rates[i].gbps = m->maxmin.consumers[i].rate;
        rates[i].rate = m->maxmin.consumers[i].rate / m->maxmin.consumers[i].bound;
        if (rates[i].engine != GT_NONE && beside_host_copy(m, rates[i].engine))
            rates[i].rate *= beside_rate;
    }
    free(sharing.resources);
    return sharing.count;
}

static gt_time_ps least(gt_time_ps time_ps, double other_ps)
{
    return other_ps < (double)time_ps ? (gt_time_ps)other_ps : time_ps;
}

/* Seen on two H200s: 4 KiB take as long as ever, 1 MiB 0.9 us longer, 16 MiB 1 to 2. */
gt_time_ps gt_link_busy_ps(const struct gt_machine *m, const struct gt_op *op)
{
    gt_gpu_index from, to, other_from, other_to;
    struct gt_link link, other_link;

    if (m->device->link_busy_ps == 0 || op->duration_ps != GT_TIME_NONE ||
        !gt_link_of_copy(m->workload, m->device, op, &link, &from, &to) || link.kind != GT_LINK_NVLINK)
        return 0;
    for (uint32_t i = 0; i < GT_ENGINES; i++) {
        const struct gt_op *other = running_op(m, to * GT_ENGINES + i);

        if (other != NULL && gt_link_of_copy(m->workload, m->device, other, &other_link, &other_from, &other_to) &&
            other_from == to && other_to == from && other_link.kind == GT_LINK_NVLINK)
            return least(m->device->link_busy_ps, (double)op->bytes * 1000 / link.cost.gbps);
    }
    return 0;
}
