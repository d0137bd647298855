/* calibrate_link.c - what copies share, the link with both directions busy and the engines; and when a
 * copy of pageable memory waits for the GPU. */
#include <math.h>
#include <stdio.h>

#include "validate/calibrate_groups.h"

enum { PIECES = 16, PIECE_BYTES = 16 << 20, DUPLEX_ROUNDS = 7, STAGE_TRIES = 3, ENGINES_MOST = 3 };
static const double hold_us = 50000, stage_hold_us = 400;

/* Copies of PIECE_BYTES, one after the other, with events before the first and behind each. */
static int queue_pieces(struct gt_bench *bench, enum cudaMemcpyKind kind, int pieces, int stream,
                        cudaEvent_t *events)
{
    char *host = (char *)bench->pinned + (kind == cudaMemcpyDeviceToHost ? GT_BENCH_BUFFER_BYTES / 2 : 0);
    void *to = kind == cudaMemcpyDeviceToHost ? host : bench->device[0];
    void *from = kind == cudaMemcpyHostToDevice ? host : bench->device[1];
    GT_TRY(cudaStreamWaitEvent(bench->streams[stream], bench->events[0], 0));
    GT_TRY(cudaEventRecord(events[0], bench->streams[stream]));
    for (int i = 0; i < pieces; i++) {
        GT_TRY(cudaMemcpyAsync(to, from, PIECE_BYTES, kind, bench->streams[stream]));
        GT_TRY(cudaEventRecord(events[i + 1], bench->streams[stream]));
    }
    return 0;
}

/* All that is queued behind events[0] begins at one time. */
static int close_gate(struct gt_bench *bench)
{
    if (gt_bench_close_gate(bench, bench->streams[3], hold_us) != 0)
        return -1;
    GT_TRY(cudaEventRecord(bench->events[0], bench->streams[3]));
    return 0;
}

static int open_gate(struct gt_bench *bench)
{
    gt_bench_open_gate(bench);
    return gt_bench_take_records(bench);
}

/* Bytes copied by `us` after events[0], the last piece by its share. */
static int bytes_by(struct gt_bench *bench, cudaEvent_t *events, double us, double *bytes)
{
    double before_us = 0, end_us = 0;
    *bytes = 0;
    for (int i = 1; i <= PIECES; i++, before_us = end_us) {
        if (gt_bench_elapsed_us(bench, events[0], events[i], &end_us) != 0)
            return -1;
        *bytes += PIECE_BYTES * fmin(1, fmax(0, (us - before_us) / (end_us - before_us)));
    }
    return 0;
}

static int duplex_gbps(struct gt_bench *bench, double *gbps)
{
    cudaEvent_t *up = &bench->events[1], *down = &bench->events[1 + PIECES + 1];
    double up_us, down_us, up_bytes, down_bytes;
    if (close_gate(bench) != 0 || queue_pieces(bench, cudaMemcpyHostToDevice, PIECES, 0, up) != 0 ||
        queue_pieces(bench, cudaMemcpyDeviceToHost, PIECES, 1, down) != 0 || open_gate(bench) != 0)
        return -1;
    if (gt_bench_elapsed_us(bench, up[0], up[PIECES], &up_us) != 0 ||
        gt_bench_elapsed_us(bench, down[0], down[PIECES], &down_us) != 0)
        return -1;
    double both_us = fmin(up_us, down_us); /* both began within a microsecond or two */
    if (bytes_by(bench, up, both_us, &up_bytes) != 0 || bytes_by(bench, down, both_us, &down_bytes) != 0)
        return -1;
    *gbps = (up_bytes + down_bytes) / both_us / 1000;
    return 0;
}

static int measure_duplex(struct gt_bench *bench)
{
    double gbps[DUPLEX_ROUNDS], unused;
    if (duplex_gbps(bench, &unused) != 0)
        return -1;
    for (int i = 0; i < DUPLEX_ROUNDS; i++)
        if (duplex_gbps(bench, &gbps[i]) != 0)
            return -1;
    struct gt_summary summary = gt_summarise(gbps, DUPLEX_ROUNDS);
    gt_found(bench->found, "copy.duplex_gbps", summary.median, summary,
             "%d copies of %d MiB up and as many down on two streams, while both ran", PIECES,
                 PIECE_BYTES >> 20);
    return 0;
}

/* Copies of one or two kinds, each on a stream of its own, begun together. */
struct load {
    enum cudaMemcpyKind kind;
    int pieces;
};

/* From the beginning to the end of the last of them. */
static int load_us(struct gt_bench *bench, const struct load *loads, int count, double *us)
{
    double end_us;
    if (close_gate(bench) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (queue_pieces(bench, loads[i].kind, loads[i].pieces, i, &bench->events[1 + i * (PIECES + 1)]) != 0)
            return -1;
    if (open_gate(bench) != 0)
        return -1;
    *us = 0;
    for (int i = 0; i < count; i++) {
        if (gt_bench_elapsed_us(bench, bench->events[0],
                                bench->events[1 + i * (PIECES + 1) + loads[i].pieces],
                                &end_us) != 0)
            return -1;
        *us = fmax(*us, end_us);
    }
    return 0;
}

/* How much of the shorter load's time is saved by giving both at once: 0 one after the other, 1 together. */
static int overlap(struct gt_bench *bench, struct load first, struct load second, double *share)
{
    const struct load both[2] = {first, second};
    double first_us, second_us, both_us;
    if (load_us(bench, &first, 1, &first_us) != 0 || load_us(bench, &second, 1, &second_us) != 0 ||
        load_us(bench, both, 2, &both_us) != 0)
        return -1;
    *share = (first_us + second_us - both_us) / fmin(first_us, second_us);
    return 0;
}

static int measure_engines(struct gt_bench *bench)
{
    const struct load up = {cudaMemcpyHostToDevice, 4}, down = {cudaMemcpyDeviceToHost, 4},
                      inside = {cudaMemcpyDeviceToDevice, PIECES};
    double same, opposite, within;
    int count = bench->gpu.asyncEngineCount;
    char text[16];
    if (overlap(bench, up, up, &same) != 0 || overlap(bench, up, down, &opposite) != 0 ||
        overlap(bench, up, inside, &within) != 0)
        return -1;
    snprintf(text, sizeof(text), "%d", count < 1 ? 1 : count > ENGINES_MOST ? ENGINES_MOST : count);
    gt_found_text(bench->found, "copy.engines", text,
                  "asyncEngineCount %d; time saved by overlap: up and up %.2f, up and down %.2f, "
                  "up and within %.2f",
                  count, same, opposite, within);
    return 0;
}

/* Whether a copy of `bytes` of pageable memory returns while a kernel before it in the stream runs. */
static int returns_early(struct gt_bench *bench, size_t bytes, bool *early)
{
    const struct gt_bench_spin spin = {1, 32, 0, 0, stage_hold_us, 0, 0};
    int times = 0;
    for (int i = 0; i < STAGE_TRIES; i++) {
        if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0)
            return -1;
        GT_TRY(cudaEventRecord(bench->events[0], bench->streams[0]));
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pageable, bytes, cudaMemcpyHostToDevice,
                               bench->streams[0]));
        cudaError_t status = cudaEventQuery(bench->events[0]);
        times += status == cudaErrorNotReady;
        if (status != cudaErrorNotReady && gt_bench_check(bench, status, "cudaEventQuery()") != 0)
            return -1;
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    }
    *early = times > STAGE_TRIES / 2;
    return 0;
}

static int measure_staging(struct gt_bench *bench)
{
    size_t low = 1, high = GT_BENCH_PAGEABLE_BYTES; /* returns at `low`, waits at `high` */
    bool early;
    if (returns_early(bench, low, &early) != 0)
        return -1;
    if (!early) {
        gt_found_text(bench->found, "copy.pageable_stage_bytes", "0",
                      "a copy of one byte waited for the kernel before it");
        return 0;
    }
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (returns_early(bench, middle, &early) != 0)
            return -1;
        *(early ? &low : &high) = middle;
    }
    char text[32];
    snprintf(text, sizeof(text), "%zu", low);
    gt_found_text(bench->found, "copy.pageable_stage_bytes", text,
                  "the largest copy up that returned before the kernel before it had ended");
    return 0;
}

int gt_calibrate_link(struct gt_bench *bench)
{
    return measure_duplex(bench) != 0 || measure_engines(bench) != 0 || measure_staging(bench) != 0 ? -1 : 0;
}
