/* calibrate_gaps.c - from one kernel's end to the next one's start: in a stream, through events, in a
 * graph; and what events themselves resolve. */
#include <stdio.h>
#include <stdlib.h>

#include "validate/calibrate_groups.h"

enum { CHAIN = 33, GAPS = CHAIN - 1, ROUNDS = 12, SHAPES = 2, EVENT_PAIRS = 100 };
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
            GT_TRY(cudaStreamWaitEvent(stream, bench->events[i - 1], 0));
        if (gt_bench_launch(bench, spin, i * spin->blocks, stream) != 0)
            return -1;
        GT_TRY(cudaEventRecord(bench->events[i], stream));
    }
    return 0;
}

static int in_graph(struct gt_bench *bench, const struct gt_bench_spin *spin)
{
    cudaGraph_t graph;
    if (bench->graph != NULL) /* of the time before, which has run */
        GT_TRY(cudaGraphExecDestroy(bench->graph));
    bench->graph = NULL;
    GT_TRY(cudaStreamBeginCapture(bench->streams[2], cudaStreamCaptureModeThreadLocal));
    for (uint32_t i = 0; i < CHAIN; i++)
        if (gt_bench_launch(bench, spin, i * spin->blocks, bench->streams[2]) != 0)
            return -1;
    GT_TRY(cudaStreamEndCapture(bench->streams[2], &graph));
    GT_TRY(cudaGraphInstantiate(&bench->graph, graph, 0));
    GT_TRY(cudaGraphLaunch(bench->graph, bench->streams[0]));
    GT_TRY(cudaGraphDestroy(graph));
    return 0;
}

static const struct chain chains[] = {
    {"latency.stream_gap_us", "end to start, both queued in one stream", in_stream},
    {"latency.event_gap_us", "end to start, through cudaStreamWaitEvent on another stream", through_events},
    {"latency.graph_gap_us", "end to start in a graph of kernels in a row", in_graph},
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
        gaps[i] = (double)(int64_t)(next.start_ns - before.end_ns) / 1000;
        before = next;
    }
    return 0;
}

/* The same gaps as CUPTI saw them: behind the gate, the chain is what ran last. */
static size_t recorded_gaps(const struct gt_bench *bench, double *gaps)
{
    const struct gt_gpu_record *records = bench->records + bench->record_count;
    if (bench->record_count < CHAIN)
        return 0;
    for (int i = 0; i < GAPS; i++)
        gaps[i] = (double)(int64_t)(records[i + 1 - CHAIN].start_ns - records[i - CHAIN].end_ns) / 1000;
    return GAPS;
}

static int measure_chain(struct gt_bench *bench, const struct chain *chain)
{
    const uint32_t blocks[SHAPES] = {1, 2 * (uint32_t)bench->gpu.multiProcessorCount};
    struct gt_summary parts[SHAPES];
    double gaps[ROUNDS * GAPS], recorded[SHAPES * GAPS];
    size_t seen = 0;
    for (int s = 0; s < SHAPES; s++) {
        const struct gt_bench_spin spin = {blocks[s], 256, 0, 0, kernel_us, 0, 0};
        for (int r = -1; r < ROUNDS; r++) /* the first is not kept */
            if (play(bench, chain, &spin, &gaps[(r < 0 ? 0 : r) * GAPS]) != 0)
                return -1;
        parts[s] = gt_summarise(gaps, ROUNDS * GAPS);
        /* The log is read by a copy, so the last round is played again for CUPTI, with nothing after it. */
        if (gt_bench_take_records(bench) != 0)
            return -1;
        if (bench->traced) {
            if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0 || chain->queue(bench, &spin) != 0)
                return -1;
            gt_bench_open_gate(bench);
            if (gt_bench_take_records(bench) != 0)
                return -1;
            seen += recorded_gaps(bench, recorded + seen);
        }
    }
    struct gt_summary both = gt_bench_mean(parts, SHAPES);
    gt_found(bench->found, chain->key, both.median, both, "%s, by the blocks' times; %u block %.2f, %u blocks %.2f",
             chain->how, blocks[0], parts[0].median, blocks[1], parts[1].median);
    struct gt_summary records = gt_summarise(recorded, seen);
    if (seen > 0)
        gt_found_note(bench->found, "%s by CUPTI's times: median %.2f, quartiles %.2f to %.2f", chain->key,
                      records.median, records.low, records.high);
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
    struct gt_summary summary = gt_summarise(us, EVENT_PAIRS); /* sorted now */
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
    return measure_events(bench);
}
