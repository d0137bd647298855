/* between.c - from one engine to another: how long after a kernel a copy in or out starts, and the
 * other way round, in one stream and through an event. */
#include <stdlib.h>

#include "validate/calibrate/groups.h"

enum { TURNS = 24, ROUNDS = 15, SAMPLES = TURNS * ROUNDS };
static const double hold_us = 20000;

/* Each follows each other one once and none follows itself; the whole is played over and over. */
static const char turns[] = "KHKDHD";
enum { PERIOD = sizeof(turns) - 1, COPIES = TURNS / PERIOD * 4 };

/* Kernels by their blocks' logs, copies by CUPTI; both on the host's clock. */
struct timeline {
    bool events; /* turn by turn on another stream, through an event; else in one stream */
    struct gt_clock_tie before, after;
    double start_ns[TURNS], end_ns[TURNS];
    double gaps_us[SAMPLES];
    size_t count;
};

/* Lengths differ, since an engine may look for work at times of its own. */
static int ask(struct gt_bench *bench, uint32_t turn, cudaStream_t stream)
{
    const struct gt_bench_spin spin = {
        (uint32_t)bench->gpu.multiProcessorCount, 256, 0, 0, 20 + rand() % 1000 * 0.01, 0, 0
    };
    size_t bytes = (size_t)(200 + rand() % 100) << 10;
    if (turns[turn % PERIOD] == 'K')
        return gt_bench_launch(bench, &spin, turn * spin.blocks, stream);
    if (turns[turn % PERIOD] == 'H')
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pinned, bytes, cudaMemcpyHostToDevice, stream));
    else
        GT_TRY(cudaMemcpyAsync(bench->pinned, bench->device[0], bytes, cudaMemcpyDeviceToHost, stream));
    return 0;
}

/* All asked for long before the first may start. */
static int play(struct gt_bench *bench, const struct timeline *timeline)
{
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (uint32_t i = 0; i < TURNS; i++) {
        cudaStream_t stream = bench->streams[timeline->events ? i % 2 : 0];
        if (timeline->events && i > 0)
            GT_TRY(cudaStreamWaitEvent(stream, bench->marks[i - 1], 0));
        if (ask(bench, i, stream) != 0)
            return -1;
        if (timeline->events)
            GT_TRY(cudaEventRecord(bench->marks[i], stream));
    }
    gt_bench_open_gate(bench);
    return gt_bench_take_records(bench);
}

/* When each turn ran. */
static int read_times(struct gt_bench *bench, struct timeline *timeline)
{
    uint32_t blocks = (uint32_t)bench->gpu.multiProcessorCount;
    size_t copy = 0;
    if (bench->record_count != COPIES)
        return gt_error_set(bench->error, "CUPTI told of %zu copies, not %d", bench->record_count, COPIES);
    if (gt_bench_read(bench, TURNS * blocks) != 0)
        return -1;
    for (uint32_t i = 0; i < TURNS; i++) {
        if (turns[i % PERIOD] == 'K') {
            struct gt_stay span = gt_bench_span(bench, i * blocks, blocks);
            timeline->start_ns[i] = gt_clock_host_ns(&timeline->before, &timeline->after, span.start_ns);
            timeline->end_ns[i] = gt_clock_host_ns(&timeline->before, &timeline->after, span.end_ns);
        } else {
            timeline->start_ns[i] = (double)bench->records[copy].start_ns;
            timeline->end_ns[i] = (double)bench->records[copy++].end_ns;
        }
    }
    return 0;
}

static int measure(struct gt_bench *bench, const char *key, bool events)
{
    struct timeline timeline = { .events = events };
    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        if (gt_bench_tie(bench, &timeline.before) != 0 || gt_bench_take_records(bench) != 0 ||
            play(bench, &timeline) != 0 || gt_bench_tie(bench, &timeline.after) != 0 ||
            read_times(bench, &timeline) != 0)
            return -1;
        for (int i = 1; r >= 0 && i < TURNS; i++)
            timeline.gaps_us[timeline.count++] = (timeline.start_ns[i] - timeline.end_ns[i - 1]) / 1000;
    }
    struct gt_bench_summary summary = gt_summarise(timeline.gaps_us, timeline.count);
    gt_found(bench->found, key, summary.median > 0 ? summary.median : 0, summary,
             "kernels, copies up and down of 250 KiB in turn %s, all asked for before",
             events ? "on two streams, through events" : "in one stream");
    return 0;
}

int gt_calibrate_between(struct gt_bench *bench)
{
    return measure(bench, "latency.engine_gap_us", false) != 0 ||
                   measure(bench, "latency.engine_event_gap_us", true) != 0
               ? -1
               : 0;
}
