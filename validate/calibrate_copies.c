/* calibrate_copies.c - copies and memsets of many sizes: latency + bytes / rate; and how soon they start. */
#include <stdio.h>
#include <string.h>

#include "validate/calibrate_groups.h"

/* Sizes go up by fours from 4 KiB; pageable memory does without the last. */
enum { SIZES = 9, ROUNDS = 9, SUBMIT_ROUNDS = 100, SUBMIT_BYTES = 4096 };
static const double sizes_bytes[SIZES] = {
    4096, 16384, 65536, 1 << 18, 1 << 20, 1 << 22, 1 << 24, GT_BENCH_PAGEABLE_BYTES, GT_BENCH_BUFFER_BYTES,
};
static const double hold_us = 50000, idle_us = 30;

enum place { PINNED, PAGEABLE, HERE, THERE, NOWHERE }; /* THERE: another GPU; from NOWHERE: a memset */

struct transfer {
    const char *latency_key, *rate_key;
    enum place to, from;
};

static const struct transfer transfers[] = {
    {"copy.h2d_pinned_latency_us", "copy.h2d_pinned_gbps", HERE, PINNED},
    {"copy.d2h_pinned_latency_us", "copy.d2h_pinned_gbps", PINNED, HERE},
    {"copy.h2d_pageable_latency_us", "copy.h2d_pageable_gbps", HERE, PAGEABLE},
    {"copy.d2h_pageable_latency_us", "copy.d2h_pageable_gbps", PAGEABLE, HERE},
    {"copy.d2d_latency_us", "copy.d2d_gbps", HERE, HERE},
    {"copy.p2p_latency_us", "copy.p2p_gbps", THERE, HERE},
    {"copy.memset_latency_us", "copy.memset_gbps", HERE, NOWHERE},
};
enum { TRANSFERS = sizeof(transfers) / sizeof(transfers[0]) };

/* The call works on such a copy itself, so nothing may hold it back. */
static bool is_pageable(const struct transfer *transfer)
{
    return transfer->to == PAGEABLE || transfer->from == PAGEABLE;
}

static int queue(struct gt_bench *bench, const struct transfer *transfer, size_t bytes)
{
    void *const to[] = {bench->pinned, bench->pageable, bench->device[0], bench->peer, NULL};
    void *const from[] = {bench->pinned, bench->pageable, bench->device[1], bench->peer, NULL};
    enum cudaMemcpyKind kind = transfer->to == HERE     ? cudaMemcpyHostToDevice
                               : transfer->to == THERE  ? cudaMemcpyDefault
                                                        : cudaMemcpyDeviceToHost;
    if (transfer->to == HERE && transfer->from == HERE)
        kind = cudaMemcpyDeviceToDevice;
    if (transfer->from == NOWHERE)
        GT_TRY(cudaMemsetAsync(to[transfer->to], 0, bytes, bench->streams[0]));
    else
        GT_TRY(cudaMemcpyAsync(to[transfer->to], from[transfer->from], bytes, kind, bench->streams[0]));
    return 0;
}

static int sizes_of(const struct transfer *transfer)
{
    return is_pageable(transfer) ? SIZES - 1 : SIZES;
}

/* Copies within the device and memsets run where kernels do, not on the engines of the host link. */
static bool is_like_kernel(const struct transfer *transfer)
{
    return transfer->to == HERE && (transfer->from == HERE || transfer->from == NOWHERE);
}

/* How far events before and behind an operation lie apart beyond what it takes. For copies over the
 * link as far as two events with nothing between them: then the times are CUPTI's. For what runs like
 * a kernel, as far as those around a kernel beyond its block's time, so that such a copy between two
 * kernels takes a gap, its time, and a gap. */
static int events_us(struct gt_bench *bench, const struct transfer *transfer, double *us)
{
    const struct gt_bench_spin spin = {1, 32, 0, 0, 5, 0, 0};
    cudaEvent_t *events = &bench->events[2 * SIZES];
    if (gt_bench_elapsed_us(bench, events[0], events[1], us) != 0)
        return -1;
    if (!is_like_kernel(transfer))
        return 0;
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    GT_TRY(cudaEventRecord(events[0], bench->streams[0]));
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0)
        return -1;
    GT_TRY(cudaEventRecord(events[1], bench->streams[0]));
    gt_bench_open_gate(bench);
    if (gt_bench_read(bench, 1) != 0 || gt_bench_elapsed_us(bench, events[0], events[1], us) != 0)
        return -1;
    *us -= (double)(bench->blocks[0].end_ns - bench->blocks[0].start_ns) / 1000;
    return 0;
}

/* Times of one transfer of each size: between events before and behind it, less what these take; by
 * CUPTI where that traces. One goes ahead that does not count: the first copy behind a kernel comes
 * later than those behind copies. */
static int time_sizes(struct gt_bench *bench, const struct transfer *transfer, double *us)
{
    cudaStream_t stream = bench->streams[0];
    int sizes = sizes_of(transfer);
    double apart_us;
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (!is_pageable(transfer) && gt_bench_close_gate(bench, stream, hold_us) != 0)
        return -1;
    if (queue(bench, transfer, (size_t)sizes_bytes[0]) != 0)
        return -1;
    for (int i = 0; i < sizes; i++) {
        GT_TRY(cudaEventRecord(bench->events[2 * i], stream));
        if (queue(bench, transfer, (size_t)sizes_bytes[i]) != 0)
            return -1;
        GT_TRY(cudaEventRecord(bench->events[2 * i + 1], stream));
        if (is_pageable(transfer))
            GT_TRY(cudaStreamSynchronize(stream));
    }
    GT_TRY(cudaEventRecord(bench->events[2 * SIZES], stream));
    GT_TRY(cudaEventRecord(bench->events[2 * SIZES + 1], stream));
    gt_bench_open_gate(bench);
    if (gt_bench_take_records(bench) != 0 || events_us(bench, transfer, &apart_us) != 0)
        return -1;
    for (int i = 0; i < sizes; i++) {
        if (gt_bench_elapsed_us(bench, bench->events[2 * i], bench->events[2 * i + 1], &us[i]) != 0)
            return -1;
        us[i] -= apart_us;
        us[i] = us[i] > 0 ? us[i] : 0;
    }
    size_t recorded = bench->record_count;
    for (int i = 0; i < sizes && recorded >= (size_t)sizes; i++) {
        const struct gt_gpu_record *record = &bench->records[recorded - (size_t)(sizes - i)];
        us[i] = gt_bench_us(record->start_ns, record->end_ns);
    }
    return 0;
}

static void state(struct gt_bench *bench, const struct transfer *transfer, double us[SIZES][ROUNDS])
{
    double medians[SIZES], latencies[ROUNDS], rates[ROUNDS];
    char each[GT_CALIBRATION_LINE_BYTES] = "";
    int sizes = sizes_of(transfer);
    for (int r = 0; r < ROUNDS; r++) {
        double one[SIZES];
        for (int s = 0; s < sizes; s++)
            one[s] = us[s][r];
        struct gt_line line = gt_fit_line(sizes_bytes, one, (size_t)sizes, true);
        latencies[r] = line.base;
        rates[r] = 1 / (line.slope * 1000);
    }
    for (int s = 0; s < sizes; s++) {
        medians[s] = gt_summarise(us[s], ROUNDS).median;
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%.*f", s > 0 ? "," : "",
                 medians[s] < 9.995 ? 2 : medians[s] < 99.95 ? 1 : 0, medians[s]);
    }
    struct gt_line line = gt_fit_line(sizes_bytes, medians, (size_t)sizes, true);
    gt_found(bench->found, transfer->latency_key, line.base, gt_summarise(latencies, ROUNDS),
             "fit to medians of 4 KiB to %.0f MiB, off by up to %.0f%%", sizes_bytes[sizes - 1] / 0x1p20,
             line.worst * 100);
    gt_found(bench->found, transfer->rate_key, 1 / (line.slope * 1000), gt_summarise(rates, ROUNDS),
             "same fit; us of 4 KiB, 16 KiB and on by fours: %s", each);
}

/* From the end of a copy's call to its start: CUPTI's, or what is left of the time until the last word
 * has arrived in host memory. */
static int measure_submit(struct gt_bench *bench, double copy_us)
{
    volatile uint32_t *last = (uint32_t *)bench->pinned + SUBMIT_BYTES / sizeof(uint32_t) - 1;
    uint64_t called_ns[SUBMIT_ROUNDS];
    double us[SUBMIT_ROUNDS];
    GT_TRY(cudaMemset(bench->device[0], 1, SUBMIT_BYTES));
    if (gt_bench_take_records(bench) != 0)
        return -1;
    for (int i = 0; i < SUBMIT_ROUNDS; i++) {
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
        gt_bench_idle_us(idle_us);
        *last = 0;
        GT_TRY(cudaMemcpyAsync(bench->pinned, bench->device[0], SUBMIT_BYTES, cudaMemcpyDeviceToHost,
                               bench->streams[0]));
        called_ns[i] = gt_clock_ns();
        while (*last == 0 && gt_clock_ns() - called_ns[i] < 100000000)
            ;
        us[i] = (double)(gt_clock_ns() - called_ns[i]) / 1000 - copy_us;
    }
    if (gt_bench_take_records(bench) != 0)
        return -1;
    bool recorded = bench->record_count == SUBMIT_ROUNDS;
    for (int i = 0; recorded && i < SUBMIT_ROUNDS; i++)
        us[i] = (double)(int64_t)(bench->records[i].start_ns - called_ns[i]) / 1000;
    struct gt_summary summary = gt_summarise(us, SUBMIT_ROUNDS);
    gt_found(bench->found, "latency.copy_submit_us", summary.median > 0 ? summary.median : 0, summary,
             recorded ? "call's end to CUPTI's start, 4 KiB down"
                      : "call's end to arrival of 4 KiB in host memory, less %.2f for the copy", copy_us);
    return 0;
}

static int measure(struct gt_bench *bench, const struct transfer *transfer, double *smallest_us)
{
    double us[SIZES][ROUNDS], one[SIZES];
    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        if (time_sizes(bench, transfer, one) != 0)
            return -1;
        for (int s = 0; s < sizes_of(transfer) && r >= 0; s++)
            us[s][r] = one[s];
    }
    state(bench, transfer, us);
    *smallest_us = gt_summarise(us[0], ROUNDS).median;
    return 0;
}

/* Memory of a second GPU that this one may write to; left NULL where there is none. */
static int find_peer(struct gt_bench *bench)
{
    int gpus, can = 0;
    GT_TRY(cudaGetDeviceCount(&gpus));
    if (gpus > 1)
        GT_TRY(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can)
        return 0;
    GT_TRY(cudaSetDevice(1));
    GT_TRY(cudaMalloc(&bench->peer, GT_BENCH_BUFFER_BYTES));
    GT_TRY(cudaSetDevice(0));
    cudaError_t status = cudaDeviceEnablePeerAccess(1, 0);
    return status == cudaErrorPeerAccessAlreadyEnabled ? 0
        : gt_bench_check(bench, status, "cudaDeviceEnablePeerAccess()");
}

int gt_calibrate_copies(struct gt_bench *bench)
{
    double smallest_us, down_us = 0;
    if (find_peer(bench) != 0)
        return -1;
    for (int t = 0; t < TRANSFERS; t++) {
        if (transfers[t].to == THERE && bench->peer == NULL) {
            gt_not_found(bench->found, transfers[t].latency_key, "no second GPU that this one can write to");
            gt_not_found(bench->found, transfers[t].rate_key, "no second GPU that this one can write to");
            continue;
        }
        if (measure(bench, &transfers[t], &smallest_us) != 0)
            return -1;
        if (transfers[t].to == PINNED)
            down_us = smallest_us;
    }
    return measure_submit(bench, down_us);
}
