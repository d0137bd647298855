/* gaps.c - from one kernel's end to the next one's start: in a stream and through events; and what events
 * themselves resolve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/calibrate/groups.h"

enum { CHAIN = 33, GAPS = CHAIN - 1, ROUNDS = 12, SHAPES = 2, EVENT_PAIRS = 100 };
enum { BUSY_LEAST = 2, BUSY_MOST = 8, BUSY_COUNTS = BUSY_MOST - BUSY_LEAST + 1 };
enum { BUSY_CHAIN = 24, BUSY_ROUNDS = 15, BUSY_KERNEL_US = 20 };
static const double kernel_us = 5, hold_us = 20000;

/* Chains of kernels, all queued before the first may run. */
struct chain {
    const char *key, *how;
    int (*queue)(struct gt_bench *bench, const struct gt_bench_spin *spin);
};

static int in_stream(struct gt_bench *bench, const struct gt_bench_spin *spin)
{
    for (uint32_t i = 0; i < CHAIN; i++)
        if (gt_bench_launch(bench, spin, i * spin->blocks, bench->streams[0]) != 0)
            return -1;
    return 0;
}

static int through_events(struct gt_bench *bench, const struct gt_bench_spin *spin)
{
    for (uint32_t i = 0; i < CHAIN; i++) {
        cudaStream_t stream = bench->streams[i % 2];
        if (i > 0)
            GT_TRY(cudaStreamWaitEvent(stream, bench->marks[i - 1], 0));
        if (gt_bench_launch(bench, spin, i * spin->blocks, stream) != 0)
            return -1;
        GT_TRY(cudaEventRecord(bench->marks[i], stream));
    }
    return 0;
}

static const struct chain chains[] = {
    { "latency.stream_gap_us", "block's end to start, one stream", in_stream },
    { "latency.event_gap_us", "block's end to start, by events on two streams", through_events },
};
enum { CHAINS = sizeof(chains) / sizeof(chains[0]) };

/* Play a chain once; its gaps by the kernels' own logs. */
static int play(struct gt_bench *bench, const struct chain *chain, const struct gt_bench_spin *spin, double *gaps)
{
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0 || chain->queue(bench, spin) != 0)
        return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_read(bench, CHAIN * spin->blocks) != 0)
        return -1;
    struct gt_stay before = gt_bench_span(bench, 0, spin->blocks);
    for (uint32_t i = 0; i < GAPS; i++) {
        struct gt_stay next = gt_bench_span(bench, (i + 1) * spin->blocks, spin->blocks);
        gaps[i] = gt_bench_us(before.end_ns, next.start_ns);
        before = next;
    }
    return 0;
}

static int measure_chain(struct gt_bench *bench, const struct chain *chain)
{
    const uint32_t blocks[SHAPES] = { 1, 2 * (uint32_t)bench->gpu.multiProcessorCount };
    struct gt_bench_summary parts[SHAPES];
    double gaps[ROUNDS * GAPS];
    for (int s = 0; s < SHAPES; s++) {
        const struct gt_bench_spin spin = { blocks[s], 256, 0, 0, kernel_us, 0, 0 };
        for (int r = -1; r < ROUNDS; r++) /* the first is not kept */
            if (play(bench, chain, &spin, &gaps[(r < 0 ? 0 : r) * GAPS]) != 0)
                return -1;
        parts[s] = gt_summarise(gaps, ROUNDS * GAPS);
    }
    struct gt_bench_summary both = gt_bench_mean(parts, SHAPES);
    gt_found(bench->found, chain->key, both.median, both, "%s; %u block %.2f, %u blocks %.2f", chain->how, blocks[0],
             parts[0].median, blocks[1], parts[1].median);
    return 0;
}

/* Median gap in chains of kernels in `streams` streams at once, each stream on a connection of its own. */
static int busy_gap(struct gt_bench *bench, cudaStream_t *streams, uint32_t count, double *us)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, BUSY_KERNEL_US, 0, 0 };
    double gaps[BUSY_MOST * BUSY_CHAIN];
    size_t seen = 0;
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    GT_TRY(cudaEventRecord(bench->marks[0], bench->streams[0]));
    for (uint32_t s = 0; s < count; s++)
        GT_TRY(cudaStreamWaitEvent(streams[s], bench->marks[0], 0));
    for (uint32_t i = 0; i < BUSY_CHAIN * count; i++)
        if (gt_bench_launch(bench, &spin, i, streams[i % count]) != 0)
            return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_read(bench, BUSY_CHAIN * count) != 0)
        return -1;
    /* The first gaps have the beginning in them, at the end some streams have no more work. */
    for (uint32_t i = 2 * count; i < (BUSY_CHAIN - 4) * count; i++)
        gaps[seen++] = gt_bench_us(bench->blocks[i - count].end_ns, bench->blocks[i].start_ns);
    *us = gt_summarise(gaps, seen).median;
    return 0;
}

/* Gaps for BUSY_LEAST to BUSY_MOST streams, made anew: it matters a little which connections they get. */
static int busy_gaps(struct gt_bench *bench, double *us)
{
    cudaStream_t streams[BUSY_MOST];
    for (int i = 0; i < BUSY_MOST; i++)
        GT_TRY(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (uint32_t c = 0; c < BUSY_COUNTS; c++)
        if (busy_gap(bench, streams, BUSY_LEAST + c, &us[c]) != 0)
            return -1;
    for (int i = 0; i < BUSY_MOST; i++)
        GT_TRY(cudaStreamDestroy(streams[i]));
    return 0;
}

/* How much longer gaps are than with two connections in which work waits: from the third on at once, and
 * then with each further one. */
static int measure_busy(struct gt_bench *bench)
{
    double gaps[BUSY_COUNTS][BUSY_ROUNDS], bases[BUSY_ROUNDS], slopes[BUSY_ROUNDS];
    double x[BUSY_COUNTS], y[BUSY_COUNTS];
    char each[GT_FINDING_METHOD_BYTES] = "";
    for (int r = -1; r < BUSY_ROUNDS; r++) { /* the first is not kept */
        int round = r < 0 ? 0 : r;
        if (busy_gaps(bench, y) != 0)
            return -1;
        for (int c = 0; c < BUSY_COUNTS; c++) {
            gaps[c][round] = y[c];
            x[c] = c;
            y[c] -= gaps[0][round];
        }
        struct gt_line line = gt_fit_line(x + 1, y + 1, BUSY_COUNTS - 1, false);
        bases[round] = line.base;
        slopes[round] = fmax(0, line.slope);
    }
    for (int c = 0; c < BUSY_COUNTS; c++)
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%.2f", c > 0 ? ", " : "",
                 gt_summarise(gaps[c], BUSY_ROUNDS).median);
    struct gt_bench_summary crowd = gt_summarise(bases, BUSY_ROUNDS), busy = gt_summarise(slopes, BUSY_ROUNDS);
    gt_found(bench->found, "latency.crowd_us", crowd.median, crowd,
             "gaps in chains in %d to %d streams at once: %s; line from the third on", BUSY_LEAST, BUSY_MOST, each);
    gt_found(bench->found, "latency.busy_connection_us", busy.median, busy, "same line");
    return 0;
}

/* Events with nothing between them, and the smallest difference that shows between two such pairs. */
static int measure_events(struct gt_bench *bench)
{
    double us[EVENT_PAIRS], step = 0;
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (int i = 0; i <= EVENT_PAIRS; i++)
        GT_TRY(cudaEventRecord(bench->events[i], bench->streams[0]));
    gt_bench_open_gate(bench);
    GT_TRY(cudaDeviceSynchronize());
    for (int i = 0; i < EVENT_PAIRS; i++)
        if (gt_bench_elapsed_us(bench, bench->events[i], bench->events[i + 1], &us[i]) != 0)
            return -1;
    struct gt_bench_summary summary = gt_summarise(us, EVENT_PAIRS); /* sorted now */
    for (int i = 1; i < EVENT_PAIRS; i++)
        if (us[i] - us[i - 1] > 0.0005 && (step == 0 || us[i] - us[i - 1] < step))
            step = us[i] - us[i - 1];
    gt_found_note(bench->found, "events in a row: %.3f us apart (quartiles %.3f to %.3f), in steps of %.3f us",
                  summary.median, summary.low, summary.high, step);
    return 0;
}

int gt_calibrate_gaps(struct gt_bench *bench)
{
    for (int i = 0; i < CHAINS; i++)
        if (measure_chain(bench, &chains[i]) != 0)
            return -1;
    return measure_busy(bench) != 0 || measure_events(bench) != 0 ? -1 : 0;
}
