/* copies.c - copies and memsets of many sizes: latency + bytes / rate; and how soon they start.
 * All by CUPTI's times, as traces are validated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/calibrate/groups.h"

/* Sizes go up by fours from 4 KiB, below which copies go another way, to GT_BENCH_BUFFER_BYTES. */
enum { SIZES = 9, LEAST_BYTES = 4096, ROUNDS = 9, SUBMIT_ROUNDS = 60, SUBMIT_BYTES = 4096 };
static const double hold_us = 50000, idle_us = 30;

enum place { PINNED, HERE, THERE, NOWHERE }; /* THERE: another GPU; from NOWHERE: a memset */

struct transfer {
    const char *latency_key, *rate_key;
    enum place to, from;
};

static const struct transfer transfers[] = {
    { "copy.h2d_pinned_latency_us", "copy.h2d_pinned_gbps", HERE, PINNED },
    { "copy.d2h_pinned_latency_us", "copy.d2h_pinned_gbps", PINNED, HERE },
    { "copy.d2d_latency_us", "copy.d2d_gbps", HERE, HERE },
    { "copy.p2p_latency_us", "copy.p2p_gbps", THERE, HERE },
    { "copy.memset_latency_us", "copy.memset_gbps", HERE, NOWHERE },
};
enum { TRANSFERS = sizeof(transfers) / sizeof(transfers[0]) };

static int queue(struct gt_bench *bench, const struct transfer *transfer, size_t bytes)
{
    void *const to[] = { bench->pinned, bench->device[0], bench->peer, NULL };
    void *const from[] = { bench->pinned, bench->device[1], bench->peer, NULL };
    enum cudaMemcpyKind kind = transfer->to == HERE    ? cudaMemcpyHostToDevice
                               : transfer->to == THERE ? cudaMemcpyDefault
                                                       : cudaMemcpyDeviceToHost;
    if (transfer->to == HERE && transfer->from == HERE)
        kind = cudaMemcpyDeviceToDevice;
    if (transfer->from == NOWHERE)
        GT_TRY(cudaMemsetAsync(to[transfer->to], 0, bytes, bench->streams[0]));
    else
        GT_TRY(cudaMemcpyAsync(to[transfer->to], from[transfer->from], bytes, kind, bench->streams[0]));
    return 0;
}

/* Times of one transfer of each size, in a row and all asked for before the first may start. One goes
 * ahead that does not count: the first copy behind a kernel takes longer than those behind copies. The
 * largest comes first, so that none finds what it copies in the GPU's cache. */
static int time_sizes(struct gt_bench *bench, const struct transfer *transfer, double *us)
{
    if (gt_bench_take_records(bench) != 0 || gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0 ||
        queue(bench, transfer, LEAST_BYTES) != 0)
        return -1;
    for (int i = SIZES - 1; i >= 0; i--)
        if (queue(bench, transfer, (size_t)LEAST_BYTES << 2 * i) != 0)
            return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (bench->record_count < SIZES)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, SIZES);
    const struct gt_gpu_record *record = &bench->records[bench->record_count];
    for (int i = 0; i < SIZES; i++, record--)
        us[i] = gt_bench_us(record[-1].start_ns, record[-1].end_ns);
    return 0;
}

static void state(struct gt_bench *bench, const struct transfer *transfer, double us[SIZES][ROUNDS])
{
    double bytes[SIZES], medians[SIZES], latencies[ROUNDS], rates[ROUNDS];
    char each[GT_CALIBRATION_LINE_BYTES] = "";
    for (int s = 0; s < SIZES; s++) {
        bytes[s] = (double)((size_t)LEAST_BYTES << 2 * s);
        medians[s] = gt_summarise(us[s], ROUNDS).median;
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%.*f", s > 0 ? "," : "",
                 medians[s] < 9.995   ? 2
                 : medians[s] < 99.95 ? 1
                                      : 0,
                 medians[s]);
    }
    for (int r = 0; r < ROUNDS; r++) {
        double one[SIZES];
        for (int s = 0; s < SIZES; s++)
            one[s] = us[s][r];
        struct gt_line line = gt_fit_line(bytes, one, SIZES, true);
        latencies[r] = line.base;
        rates[r] = 1 / (line.slope * 1000);
    }
    struct gt_line line = gt_fit_line(bytes, medians, SIZES, true);
    gt_found(bench->found, transfer->latency_key, line.base, gt_summarise(latencies, ROUNDS),
             "fit to medians of 4 KiB to %.0f MiB, off by up to %.0f%%", bytes[SIZES - 1] / 0x1p20, line.worst * 100);
    gt_found(bench->found, transfer->rate_key, 1 / (line.slope * 1000), gt_summarise(rates, ROUNDS),
             "same fit; us of 4 KiB, 16 KiB and on by fours: %s", each);
}

static int measure(struct gt_bench *bench, const struct transfer *transfer)
{
    double us[SIZES][ROUNDS], one[SIZES];
    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        if (time_sizes(bench, transfer, one) != 0)
            return -1;
        for (int s = 0; s < SIZES && r >= 0; s++)
            us[s][r] = one[s];
    }
    state(bench, transfer, us);
    return 0;
}

/* From the end of a copy's call to its start, on an idle GPU. */
static int submit_us(struct gt_bench *bench, const struct transfer *transfer, double *us)
{
    uint64_t called_ns[SUBMIT_ROUNDS];
    if (gt_bench_take_records(bench) != 0)
        return -1;
    for (int i = 0; i < SUBMIT_ROUNDS; i++) {
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
        gt_bench_idle_us(idle_us);
        if (queue(bench, transfer, SUBMIT_BYTES) != 0)
            return -1;
        called_ns[i] = gt_clock_ns();
    }
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (bench->record_count != SUBMIT_ROUNDS)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, SUBMIT_ROUNDS);
    for (int i = 0; i < SUBMIT_ROUNDS; i++)
        us[i] = gt_bench_us(called_ns[i], bench->records[i].start_ns);
    return 0;
}

static int measure_submit(struct gt_bench *bench)
{
    double us[SUBMIT_ROUNDS];
    struct gt_bench_summary parts[2];
    for (int way = 0; way < 2; way++) {
        if (submit_us(bench, &transfers[way], us) != 0)
            return -1;
        parts[way] = gt_summarise(us, SUBMIT_ROUNDS);
    }
    struct gt_bench_summary both = gt_bench_mean(parts, 2);
    gt_found(bench->found, "latency.copy_submit_us", fmax(0, both.median), both,
             "call's end to CUPTI's start, 4 KiB, idle GPU; up %.2f, down %.2f", parts[0].median, parts[1].median);
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
    return status == cudaErrorPeerAccessAlreadyEnabled
               ? 0
               : gt_bench_check(bench, status, "cudaDeviceEnablePeerAccess()");
}

int gt_calibrate_copies(struct gt_bench *bench)
{
    if (find_peer(bench) != 0)
        return -1;
    for (int t = 0; t < TRANSFERS; t++) {
        if (transfers[t].to == THERE && bench->peer == NULL) {
            gt_not_found(bench->found, transfers[t].latency_key, "no second GPU that this one can write to");
            gt_not_found(bench->found, transfers[t].rate_key, "no second GPU that this one can write to");
            continue;
        }
        bool kernels = transfers[t].to == HERE && transfers[t].from != PINNED; /* the driver's own */
        if (kernels && gt_bench_record_kernels(bench, true) != 0)
            return -1;
        if (measure(bench, &transfers[t]) != 0 || (kernels && gt_bench_record_kernels(bench, false) != 0))
            return -1;
    }
    return measure_submit(bench);
}
