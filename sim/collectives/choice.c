#include "sim/collectives/choice.h"

#include <math.h>

/* src/graph/tuning.cc: time of an empty ring, and of a step over NVLink, in us; what LL moves at most on Hopper; what part
 * of the link's rate LL and LL128 leave to data; and LL128 by channel. */
static const struct {
    double base_us, step_us, part, most_gbps, channel_gbps;
} protocols[GT_PROTOCOLS] = {
    [GT_PROTOCOL_LL] = { 6.6, 0.6, 0.5, 141, INFINITY },
    [GT_PROTOCOL_LL128] = { 14.0, 1.9, 0.92, INFINITY, 36.7 },
    [GT_PROTOCOL_SIMPLE] = { 8.4, 3.4, 1, INFINITY, INFINITY },
};
/* src/enqueue.cc: a channel for so many bytes; fewer threads where each would have less than so many bytes. */
enum { LL_THREAD_BYTES = 8, LL128_THREAD_BYTES = 16, SIMPLE_THREAD_BYTES = 64, MESSAGE_CHANNEL_BYTES = 8192 };
enum { LEAST_THREADS = 128, MOST_THREADS = 512, MOST_LL128_THREADS = 640, MESSAGE_THREADS = 640, SYNC_THREADS = 32 };
/* Seen on 2 H200s: a message has half of its channels below this. */
static const uint64_t all_pair_channels_bytes = UINT64_C(1) << 29;

struct gt_ring_way gt_ring_way(enum gt_collective_kind kind, uint32_t ranks)
{
    double others = ranks - 1.0, part = others / ranks;

    switch (kind) {
    case GT_ALL_REDUCE: return (struct gt_ring_way){ 2 * others, 2 * part };
    case GT_REDUCE_SCATTER:
    case GT_ALL_GATHER: return (struct gt_ring_way){ others, part };
    case GT_BROADCAST:
    case GT_REDUCE: return (struct gt_ring_way){ others, 1 };
    case GT_ALL_TO_ALL: return (struct gt_ring_way){ 1, part };
    default: return (struct gt_ring_way){ 1, 1 };
    }
}

static bool is_pairwise(const struct gt_collective *collective)
{
    return collective->kind == GT_ALL_TO_ALL || collective->kind == GT_SEND_RECV;
}

double gt_nccl_step_us(enum gt_collective_protocol protocol)
{
    return protocols[protocol].step_us;
}

double gt_nccl_reckons_us(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks,
                          enum gt_collective_protocol protocol)
{
    struct gt_ring_way way = gt_ring_way(collective->kind, ranks);
    double rate_gbps = fmin(device->collective.ring_gbps * protocols[protocol].part, protocols[protocol].most_gbps);

    rate_gbps = fmin(rate_gbps, device->collective.channels * protocols[protocol].channel_gbps);
    return protocols[protocol].base_us + way.steps * protocols[protocol].step_us +
           way.share * (double)collective->bytes / (rate_gbps * 1000);
}

enum gt_collective_protocol gt_nccl_protocol(const struct gt_device *device, const struct gt_collective *collective,
                                             uint32_t ranks)
{
    enum gt_collective_protocol best = GT_PROTOCOL_SIMPLE;
    double best_us = gt_nccl_reckons_us(device, collective, ranks, best);

    if (collective->protocol != GT_PROTOCOL_ANY)
        return collective->protocol;
    for (int protocol = GT_PROTOCOL_LL; protocol < GT_PROTOCOL_SIMPLE && !is_pairwise(collective); protocol++) {
        double us = gt_nccl_reckons_us(device, collective, ranks, protocol);

        if (us < best_us) {
            best = protocol;
            best_us = us;
        }
    }
    return best;
}

/* Bytes for which a thread is worth its while. */
static uint64_t thread_bytes(enum gt_collective_protocol protocol, uint32_t ranks)
{
    const uint64_t bytes[GT_PROTOCOLS] = { 1, (uint64_t)LL_THREAD_BYTES * ranks, LL128_THREAD_BYTES,
                                           SIMPLE_THREAD_BYTES };

    return bytes[protocol];
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

uint32_t gt_nccl_channels(const struct gt_device *device, const struct gt_collective *collective, uint32_t ranks,
                          enum gt_collective_protocol protocol)
{
    uint32_t pair = device->collective.pair_channels, half = pair > 1 ? pair / 2 : 1;
    uint64_t wanted = collective->bytes / MESSAGE_CHANNEL_BYTES;

    if (collective->kind == GT_ALL_TO_ALL)
        return (uint32_t)clamp(wanted / ranks + 1, ranks < pair ? ranks : pair, pair);
    if (collective->kind == GT_SEND_RECV)
        return (uint32_t)clamp(wanted, 1, collective->bytes < all_pair_channels_bytes ? half : pair);
    return (uint32_t)clamp(collective->bytes / (MOST_THREADS * thread_bytes(protocol, ranks)), 1,
                           device->collective.channels);
}

uint32_t gt_nccl_threads(const struct gt_collective *collective, uint32_t ranks, enum gt_collective_protocol protocol,
                         uint32_t channels)
{
    uint32_t threads = MOST_THREADS;

    if (is_pairwise(collective))
        return MESSAGE_THREADS;
    if (protocol == GT_PROTOCOL_LL128)
        return MOST_LL128_THREADS;
    while (threads > LEAST_THREADS && collective->bytes / channels < threads * thread_bytes(protocol, ranks))
        threads /= 2;
    return protocol == GT_PROTOCOL_SIMPLE ? threads + SYNC_THREADS : threads;
}
