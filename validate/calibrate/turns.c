/* turns.c - whose copy is next at a busy engine, and how soon. */
#include <stdio.h>

#include "validate/calibrate/groups.h"

enum { STREAMS = 24, EACH = 3, COPIES = STREAMS * EACH, ROUNDS = 9, COPY_BYTES = 1 << 20, STEP_BYTES = 512 };
enum { CHAIN_BYTES = 256 << 10, FIRST_BYTES = 64 << 20 };
static const double hold_us = 20000;

/* Copies of all streams, stream by stream and EACH times, while a long one runs. A copy's size says which
 * one it is. */
static int ask(struct gt_bench *bench, cudaStream_t *streams)
{
    GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pinned, FIRST_BYTES, cudaMemcpyHostToDevice, streams[0]));
    for (size_t i = 0; i < COPIES; i++)
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pinned, COPY_BYTES + i * STEP_BYTES, cudaMemcpyHostToDevice,
                               streams[i % STREAMS]));
    return 0;
}

/* The streams of the copies in the order in which they ran; and the gaps before all but the first. */
static int play(struct gt_bench *bench, uint32_t *order, double *gaps_us)
{
    cudaStream_t streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        GT_TRY(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    if (gt_bench_take_records(bench) != 0 || ask(bench, streams) != 0 || gt_bench_take_records(bench) != 0)
        return -1;
    for (int i = 0; i < STREAMS; i++)
        GT_TRY(cudaStreamDestroy(streams[i]));
    if (bench->record_count != COPIES + 1)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, COPIES + 1);
    for (size_t i = 1; i <= COPIES; i++) {
        const struct gt_gpu_record *record = &bench->records[i];
        order[i - 1] = (uint32_t)((record->bytes - COPY_BYTES) / STEP_BYTES % STREAMS);
        gaps_us[i - 1] = gt_bench_us(record[-1].end_ns, record->start_ns);
    }
    return 0;
}

/* The most queues that streams can be dealt out to in turn so that each is emptied before the next. */
static uint32_t queues_of(const uint32_t *order)
{
    uint32_t found = 1;
    for (uint32_t queues = 2; queues <= STREAMS / 2; queues++) {
        uint32_t changes = 0;
        for (int i = 1; i < COPIES; i++)
            changes += order[i] % queues != order[i - 1] % queues;
        if (changes == queues - 1)
            found = queues;
    }
    return found;
}

/* Copies one way in a row in one stream, all asked for before the first may start. */
static int chain_gaps(struct gt_bench *bench, enum cudaMemcpyKind kind, struct gt_bench_summary *summary)
{
    void *to = kind == cudaMemcpyHostToDevice ? bench->device[0] : bench->pinned;
    void *from = kind == cudaMemcpyHostToDevice ? bench->pinned : bench->device[0];
    double gaps_us[COPIES];
    if (gt_bench_take_records(bench) != 0 || gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (int i = 0; i <= COPIES; i++)
        GT_TRY(cudaMemcpyAsync(to, from, CHAIN_BYTES, kind, bench->streams[0]));
    gt_bench_open_gate(bench);
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (bench->record_count != COPIES + 1)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, COPIES + 1);
    for (size_t i = 1; i <= COPIES; i++)
        gaps_us[i - 1] = gt_bench_us(bench->records[i - 1].end_ns, bench->records[i].start_ns);
    *summary = gt_summarise(gaps_us, COPIES);
    return 0;
}

int gt_calibrate_turns(struct gt_bench *bench)
{
    uint32_t order[COPIES];
    double gaps_us[ROUNDS * COPIES], queues[ROUNDS];
    struct gt_bench_summary parts[3];
    for (int r = 0; r < ROUNDS; r++) {
        if (play(bench, order, &gaps_us[r * COPIES]) != 0)
            return -1;
        queues[r] = queues_of(order);
    }
    struct gt_bench_summary summary = gt_summarise(queues, ROUNDS);
    gt_found(bench->found, "copy.queues", summary.median, summary,
             "%d copies up on each of %d streams behind a long one: every so many streams came out together", EACH,
             STREAMS);
    parts[0] = gt_summarise(gaps_us, ROUNDS * COPIES);
    if (chain_gaps(bench, cudaMemcpyHostToDevice, &parts[1]) != 0 ||
        chain_gaps(bench, cudaMemcpyDeviceToHost, &parts[2]) != 0)
        return -1;
    struct gt_bench_summary all = gt_bench_mean(parts, 3);
    gt_found(bench->found, "copy.gap_us", all.median, all,
             "mean of those copies %.2f, and of copies in a row in one stream, up %.2f, down %.2f", parts[0].median,
             parts[1].median, parts[2].median);
    return 0;
}
