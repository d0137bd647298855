#include "sim/collectives/cost.h"

#include <math.h>
#include <string.h>

#include "sim/collectives/choice.h"
#include "sim/devices/links.h"

/* Curves of the device file: the first of each kind, and whether there is one a protocol. */
static const struct {
    uint32_t first;
    bool by_protocol;
} curves_of[GT_COLLECTIVE_KINDS] = {
    [GT_ALL_REDUCE] = { 0, true },  [GT_REDUCE_SCATTER] = { 3, true }, [GT_ALL_GATHER] = { 6, true },
    [GT_BROADCAST] = { 9, true },   [GT_REDUCE] = { 12, true },        [GT_ALL_TO_ALL] = { 15, false },
    [GT_SEND_RECV] = { 16, false },
};
static const double first_bytes = 16, next_point = 4;
static const double ll_buffer_part = 16; /* src/include/device.h: of the usual buffer */

static const struct gt_collective_curve *curve_of(const struct gt_device *device,
                                                  const struct gt_collective *collective,
                                                  enum gt_collective_protocol protocol)
{
    uint32_t number = curves_of[collective->kind].first;

    if (curves_of[collective->kind].by_protocol)
        number += (uint32_t)protocol - GT_PROTOCOL_LL;
    return &device->collective.curves[number];
}

/* Straight lines between the points; beyond the last as between the last two. */
static double on_curve_ns(const struct gt_collective_curve *curve, double bytes)
{
    double low = first_bytes, high = first_bytes * next_point;
    uint32_t i = 0;

    if (bytes <= low || curve->sizes == 1)
        return curve->ns[0];
    for (; i + 2 < curve->sizes && bytes > high; i++) {
        low = high;
        high *= next_point;
    }
    return fma((bytes - low) / (high - low), (double)curve->ns[i + 1] - (double)curve->ns[i], curve->ns[i]);
}

/* Those of which the curves are, guessed ones too: fewer do nothing together. */
static uint32_t curve_ranks(const struct gt_device *device)
{
    return device->collective.measured_ranks > 2 ? device->collective.measured_ranks : 2;
}

/* What moving the bytes takes with other channels than NCCL's. */
static double with_channels_ns(const struct gt_collective_curve *curve, double data_ns, double bytes, uint32_t usual,
                               uint32_t channels)
{
    double usual_ns = fmin(bytes / (usual * curve->channel_gbps), data_ns);
    double link_ns = sqrt(data_ns * data_ns - usual_ns * usual_ns);

    return usual == channels ? data_ns : hypot(usual_ns * usual / channels, link_ns);
}

static double measured_ns(const struct gt_device *device, const struct gt_collective_curve *curve,
                          const struct gt_collective *collective, uint32_t ranks, uint32_t usual,
                          const struct gt_collective_plan *plan)
{
    struct gt_ring_way here = gt_ring_way(collective->kind, ranks);
    struct gt_ring_way there = gt_ring_way(collective->kind, curve_ranks(device));
    double empty_ns = curve->ns[0], more_ns = (here.steps - there.steps) * gt_nccl_step_us(plan->protocol) * 1000;
    double bytes = (double)collective->bytes * (there.share > 0 ? here.share / there.share : 1);
    double data_ns = fmax(0, on_curve_ns(curve, bytes) - empty_ns);

    return fmax(0, empty_ns + more_ns) + with_channels_ns(curve, data_ns, bytes, usual, plan->channels);
}

static double reckoned_ns(const struct gt_device *device, const struct gt_collective_curve *curve,
                          const struct gt_collective *collective, uint32_t ranks, uint32_t usual,
                          const struct gt_collective_plan *plan)
{
    struct gt_collective empty = *collective;
    double empty_ns, data_ns;

    empty.bytes = 0;
    empty_ns = gt_nccl_reckons_us(device, &empty, ranks, plan->protocol) * 1000;
    data_ns = gt_nccl_reckons_us(device, collective, ranks, plan->protocol) * 1000 - empty_ns;
    return empty_ns + with_channels_ns(curve, data_ns, (double)collective->bytes, usual, plan->channels);
}

/* Two ranks that send to each other at once do an all-to-all, of which each keeps half (seen on 2 H200s: the same times). */
static bool is_exchange(const struct gt_collective *collective)
{
    return collective->kind == GT_SEND_RECV && collective->to != GT_NONE && collective->from != GT_NONE;
}

/* By what the time goes: an exchange by the curve of all-to-alls.  `usual`: NCCL's channels. */
static double time_ns(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks,
                      uint32_t usual, const struct gt_collective_plan *plan)
{
    const struct gt_collective_curve *curve;
    struct gt_collective like = *collective;

    if (is_exchange(collective)) {
        like.kind = GT_ALL_TO_ALL;
        like.bytes *= 2;
        ranks = 2;
    }
    curve = curve_of(device, &like, plan->protocol);
    return curve->sizes > 0 ? measured_ns(device, curve, &like, ranks, usual, plan)
                            : reckoned_ns(device, curve, &like, ranks, usual, plan);
}

/* What the slowest link of a ring over so many GPUs moves, those of the lowest numbers; INFINITY where all are as fast as
 * the NVLink (copy.p2p_*) that NCCL's choice and the curves reckon with. */
static double slower_links_gbps(const struct gt_device *device, uint32_t ranks)
{
    double least_gbps = INFINITY;

    if (strcmp(device->link_pairs, gt_link_kind_names[GT_LINK_NVLINK]) == 0)
        return least_gbps;
    for (uint32_t i = 0; i < ranks; i++) {
        double gbps = gt_link_between(device, i, (i + 1) % ranks).cost.gbps;

        if (gbps < device->p2p.gbps && gbps < least_gbps)
            least_gbps = gbps;
    }
    return least_gbps;
}

/* Links that are slower than those of the curves: the bytes that each has to move, at its own rate. */
static double over_links_ns(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks)
{
    return gt_ring_way(collective->kind, ranks).share * (double)collective->bytes / slower_links_gbps(device, ranks);
}

/* The part of it that its channels' buffers hold; those of LL are a sixteenth as large. */
static double ahead(const struct gt_device *device, const struct gt_collective *collective,
                    const struct gt_collective_plan *plan)
{
    double kib = device->collective.ahead_kib / (plan->protocol == GT_PROTOCOL_LL ? ll_buffer_part : 1);
    double bytes = kib * 1024 * plan->channels;

    return (double)collective->bytes <= bytes ? kib > 0 : bytes / (double)collective->bytes;
}

/* Where one rank only sends: what the curve holds is when that is done.  To fetch what has been sent takes a part of what
 * sending it took, and the last pieces of it are fetched when the sender is done: as much of them as are on their way. */
static void add_getting(const struct gt_device *device, const struct gt_collective *collective, double empty_ns,
                        struct gt_collective_plan *plan)
{
    double all_ps = (double)plan->transfer_ps, empty_ps = fmin(empty_ns * 1000, all_ps);
    double fetch_ps = (all_ps - empty_ps) * device->collective.fetch_pct / 100;
    double most_ps = (double)device->collective.most_lag_ps * (collective->kind == GT_REDUCE ? 2 : 1);
    double least_ps = (double)device->collective.lag_ps;

    plan->fetch_ps = (gt_time_ps)(empty_ps + fetch_ps + 0.5);
    plan->lag_ps = (gt_time_ps)(fmax(least_ps, fmin(least_ps + fetch_ps, most_ps)) + 0.5);
    plan->ahead = ahead(device, collective, plan);
}

struct gt_collective_plan gt_collective_plan(const struct gt_device *device, const struct gt_kernel *kernel,
                                             uint32_t ranks)
{
    const struct gt_collective *collective = &kernel->collective;
    struct gt_collective empty = *collective;
    struct gt_collective_plan plan = { .protocol = gt_nccl_protocol(device, collective, ranks) };
    uint32_t usual = gt_nccl_channels(device, collective, ranks, plan.protocol);
    uint64_t channels = collective->shaped ? gt_kernel_blocks(kernel) : usual;
    uint32_t most = device->collective.most_channels;
    double ns, empty_ns;

    plan.channels = channels > GT_DEVICE_MAX_CHANNELS ? GT_DEVICE_MAX_CHANNELS : (uint32_t)channels;
    if (most > 0 && plan.channels > most)
        plan.channels = most;
    plan.threads = collective->shaped ? (uint32_t)gt_kernel_threads(kernel)
                                      : gt_nccl_threads(collective, ranks, plan.protocol, plan.channels);
    empty.bytes = 0;
    empty_ns = time_ns(device, &empty, ranks, usual, &plan);
    ns = fmax(time_ns(device, collective, ranks, usual, &plan), empty_ns + over_links_ns(device, collective, ranks));
    plan.fetch_ps = plan.transfer_ps =
        ns * 1000 < (double)GT_TIME_LIMIT_PS ? (gt_time_ps)(ns * 1000 + 0.5) : GT_TIME_LIMIT_PS;
    add_getting(device, collective, empty_ns, &plan);
    return plan;
}

struct gt_kernel gt_collective_shape(const struct gt_device *device, const struct gt_kernel *kernel, uint32_t ranks)
{
    struct gt_collective_plan plan = gt_collective_plan(device, kernel, ranks);
    struct gt_kernel shaped = *kernel;

    shaped.grid[0] = plan.channels;
    shaped.grid[1] = shaped.grid[2] = 1;
    if (plan.channels % device->collective.cluster == 0)
        shaped.cluster[0] = device->collective.cluster;
    if (kernel->collective.shaped)
        return shaped;
    shaped.block[0] = plan.threads;
    shaped.block[1] = shaped.block[2] = 1;
    shaped.registers_per_thread = device->collective.registers;
    shaped.static_shared_bytes = device->collective.shared_bytes;
    return shaped;
}

/* Do the curves move more than the links can?  Then they are not of these. */
static bool is_of_other_links(const struct gt_device *device)
{
    const struct gt_collective_curve *curve = &device->collective.curves[curves_of[GT_ALL_REDUCE].first + 2];
    struct gt_collective largest = { .kind = GT_ALL_REDUCE };
    uint32_t ranks = curve_ranks(device);

    if (curve->sizes == 0 || isinf(slower_links_gbps(device, ranks)))
        return !isinf(slower_links_gbps(device, ranks));
    largest.bytes = (uint64_t)(first_bytes * pow(next_point, curve->sizes - 1.0));
    return over_links_ns(device, &largest, ranks) > curve->ns[curve->sizes - 1];
}

bool gt_collective_extrapolated(const struct gt_device *device, uint32_t ranks)
{
    return device->collective.measured_ranks < 2 || ranks > device->collective.measured_ranks ||
           is_of_other_links(device);
}

char *gt_collective_why_extrapolated(const struct gt_device *device)
{
    if (device->collective.measured_ranks < 2)
        return gt_format("collectives were not measured on %.60s: its device file has guesses", device->name);
    if (is_of_other_links(device))
        return gt_format("collectives were measured over faster links than link.pairs = %.60s", device->link_pairs);
    return NULL;
}
