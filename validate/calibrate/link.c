/* link.c - what copies share: the link with both directions busy, the engines, the GPU itself. */
#include <math.h>
#include <stdio.h>

#include "validate/calibrate/groups.h"

enum { PIECES = 16, PIECE_BYTES = 16 << 20, ENGINES_MOST = 3, OVERLAP_TRIES = 3 };
enum { ALONE_TRIES = 5, ALONE_BYTES = 1 << 20 };
enum { DUPLEX_PIECES = 5, DUPLEX_BYTES = 64 << 20, DUPLEX_ROUNDS = 7 };
static const double hold_us = 50000, alone_hold_us = 400;

/* Copies of PIECE_BYTES, one after the other, with events before the first and behind each. */
static int queue_pieces(struct gt_bench *bench, enum cudaMemcpyKind kind, int pieces, int stream, cudaEvent_t *events)
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

/* Rates up and down of pieces with the other way busy all the time: by CUPTI's times, all but the first and
 * the last of each. */
static int duplex_gbps(struct gt_bench *bench, double *up_gbps, double *down_gbps)
{
    double gbps[2][PIECES];
    int count[2] = { 0, 0 };
    if (gt_bench_take_records(bench) != 0 || close_gate(bench) != 0)
        return -1;
    for (int way = 0; way < 2; way++) {
        cudaStream_t stream = bench->streams[way];
        char *host = (char *)bench->pinned + way * GT_BENCH_BUFFER_BYTES / 2;
        GT_TRY(cudaStreamWaitEvent(stream, bench->events[0], 0));
        for (int i = 0; i < DUPLEX_PIECES; i++) /* those down are a page shorter, to be told apart */
            GT_TRY(cudaMemcpyAsync(way == 0 ? bench->device[0] : host, way == 0 ? host : bench->device[1],
                                   DUPLEX_BYTES - (size_t)way * 4096,
                                   way == 0 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    }
    if (open_gate(bench) != 0)
        return -1;
    for (size_t i = 0; i < bench->record_count; i++) {
        const struct gt_gpu_record *record = &bench->records[i];
        int way = record->bytes == DUPLEX_BYTES ? 0 : 1;
        if (count[way] < DUPLEX_PIECES)
            gbps[way][count[way]++] = (double)record->bytes / (double)(record->end_ns - record->start_ns);
    }
    if (count[0] != DUPLEX_PIECES || count[1] != DUPLEX_PIECES)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, 2 * DUPLEX_PIECES);
    *up_gbps = gt_summarise(&gbps[0][1], DUPLEX_PIECES - 2).median;
    *down_gbps = gt_summarise(&gbps[1][1], DUPLEX_PIECES - 2).median;
    return 0;
}

static int measure_duplex(struct gt_bench *bench)
{
    double up[DUPLEX_ROUNDS], down[DUPLEX_ROUNDS], both[DUPLEX_ROUNDS], in_pct[DUPLEX_ROUNDS];
    for (int r = -1; r < DUPLEX_ROUNDS; r++) { /* the first is not kept */
        int round = r < 0 ? 0 : r;
        if (duplex_gbps(bench, &up[round], &down[round]) != 0)
            return -1;
        both[round] = up[round] + down[round];
        in_pct[round] = 100 * up[round] / both[round];
    }
    struct gt_bench_summary sum = gt_summarise(both, DUPLEX_ROUNDS), part = gt_summarise(in_pct, DUPLEX_ROUNDS);
    gt_found(bench->found, "copy.duplex_gbps", sum.median, sum,
             "copies of %d MiB up and down on two streams at once, %.1f up and %.1f down", DUPLEX_BYTES >> 20,
             gt_summarise(up, DUPLEX_ROUNDS).median, gt_summarise(down, DUPLEX_ROUNDS).median);
    gt_found(bench->found, "copy.duplex_in_pct", round(part.median), part, "same copies");
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
        if (gt_bench_elapsed_us(bench, bench->events[0], bench->events[1 + i * (PIECES + 1) + loads[i].pieces],
                                &end_us) != 0)
            return -1;
        *us = fmax(*us, end_us);
    }
    return 0;
}

/* How much of the shorter load's time is saved by giving both at once: 0 one after the other, 1 together. The
 * most of a few tries counts: what can go on together does not always. */
static int overlap(struct gt_bench *bench, struct load first, struct load second, double *share)
{
    const struct load both[2] = { first, second };
    double first_us, second_us, both_us;
    *share = -1;
    for (int i = 0; i < OVERLAP_TRIES; i++) {
        if (load_us(bench, &first, 1, &first_us) != 0 || load_us(bench, &second, 1, &second_us) != 0 ||
            load_us(bench, both, 2, &both_us) != 0)
            return -1;
        *share = fmax(*share, (first_us + second_us - both_us) / fmin(first_us, second_us));
    }
    return 0;
}

static int measure_engines(struct gt_bench *bench)
{
    const struct load up = { cudaMemcpyHostToDevice, 4 }, down = { cudaMemcpyDeviceToHost, 4 },
                      inside = { cudaMemcpyDeviceToDevice, PIECES };
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

/* Whether a copy within the device waits for a kernel of another stream. */
static int measure_within(struct gt_bench *bench)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, alone_hold_us, 0, 0 };
    int waited = 0;
    if (gt_bench_record_kernels(bench, true) != 0) /* or CUPTI makes it wait to time it */
        return -1;
    for (int i = 0; i < ALONE_TRIES; i++) {
        if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0)
            return -1;
        gt_bench_idle_us(alone_hold_us / 10); /* it runs by now */
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->device[1], ALONE_BYTES, cudaMemcpyDeviceToDevice,
                               bench->streams[1]));
        GT_TRY(cudaStreamSynchronize(bench->streams[1]));
        cudaError_t status = cudaStreamQuery(bench->streams[0]);
        waited += status == cudaSuccess;
        if (status != cudaErrorNotReady && gt_bench_check(bench, status, "cudaStreamQuery()") != 0)
            return -1;
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    }
    gt_found_text(bench->found, "copy.within_alone", waited > ALONE_TRIES / 2 ? "1" : "0",
                  "a copy within the device waited for a kernel of another stream %d of %d times", waited,
                  ALONE_TRIES);
    return gt_bench_record_kernels(bench, false);
}

int gt_calibrate_link(struct gt_bench *bench)
{
    return measure_duplex(bench) != 0 || measure_engines(bench) != 0 || measure_within(bench) != 0 ? -1 : 0;
}
