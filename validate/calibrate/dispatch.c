/* dispatch.c - how fast blocks leave the distributor, how soon a freed slot is filled, how
 * fast blocks leave an SM. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "validate/calibrate/groups.h"

enum { ROUNDS = 15, SHAPES = 4, REFILL_WAVES = 8, TOGETHER_NS = 1 << 17, TOGETHER_MOST_NS = 2000 };

/* From the first block's start to the last one's, in one wave of `blocks` an SM. */
static int first_wave_ns(struct gt_bench *bench, uint32_t blocks_per_sm, double *ns)
{
    uint32_t blocks = blocks_per_sm * (uint32_t)bench->gpu.multiProcessorCount;
    const struct gt_bench_spin spin = { blocks, 32, 0, 0, 30, 0, 0 };
    uint64_t first = UINT64_MAX, last = 0;
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, blocks) != 0)
        return -1;
    for (uint32_t i = 0; i < blocks; i++) {
        uint64_t start_ns = bench->blocks[i].start_ns;
        first = start_ns < first ? start_ns : first;
        last = start_ns > last ? start_ns : last;
    }
    *ns = (double)(last - first);
    return 0;
}

static int measure_dispatch(struct gt_bench *bench)
{
    double blocks[SHAPES], ns[SHAPES][ROUNDS], medians[SHAPES], slopes[ROUNDS];
    uint32_t most = (uint32_t)bench->gpu.maxBlocksPerMultiProcessor;
    const uint32_t per_sm[SHAPES] = { 1, most / 8, most / 4,
                                      most / 2 }; /* more would keep each other from starting */
    for (int s = 0; s < SHAPES; s++) {
        blocks[s] = (double)per_sm[s] * bench->gpu.multiProcessorCount;
        for (int r = -1; r < ROUNDS; r++) /* the first loads the code and is not kept */
            if (first_wave_ns(bench, per_sm[s], &ns[s][r < 0 ? 0 : r]) != 0)
                return -1;
    }
    for (int r = 0; r < ROUNDS; r++) {
        double y[SHAPES];
        for (int s = 0; s < SHAPES; s++)
            y[s] = ns[s][r];
        slopes[r] = gt_fit_line(blocks, y, SHAPES, false).slope;
    }
    for (int s = 0; s < SHAPES; s++)
        medians[s] = gt_summarise(ns[s], ROUNDS).median;
    struct gt_line line = gt_fit_line(blocks, medians, SHAPES, false);
    gt_found(bench->found, "scheduling.dispatch_ns", line.slope, gt_summarise(slopes, ROUNDS),
             "slope of the first wave's spread of starts; %.0f blocks in %.0f ns, %.0f in %.0f", blocks[0],
             medians[0], blocks[SHAPES - 1], medians[SHAPES - 1]);
    return 0;
}

/* Blocks of one wave begin one after the other on each SM: from one to the next the cycles beyond those in
 * which the distributor gives every SM a block. */
static int measure_block_start(struct gt_bench *bench)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    uint32_t per_sm = (uint32_t)bench->gpu.maxBlocksPerMultiProcessor / 2, blocks = per_sm * sms;
    const struct gt_bench_spin spin = { blocks, 32, 0, 0, 30, 0, 0 };
    const char *dispatch_ns = gt_finding_of(bench->found, "scheduling.dispatch_ns")->value;
    double turn = dispatch_ns != NULL ? strtod(dispatch_ns, NULL) * 1e-3 * bench->mhz * sms : 0;
    double *starts = gt_calloc(blocks, sizeof(*starts)), *samples = gt_calloc(sms, sizeof(*samples));
    size_t seen = 0;
    int status = gt_bench_launch(bench, &spin, 0, bench->streams[0]);
    if (status == 0)
        status = gt_bench_read(bench, blocks);
    for (uint32_t sm = 0; status == 0 && sm < sms; sm++) {
        size_t count = 0;
        for (uint32_t i = 0; i < blocks; i++)
            if (bench->blocks[i].sm == sm)
                starts[count++] = (double)bench->blocks[i].start_cycles;
        qsort(starts, count, sizeof(*starts), gt_by_double);
        if (count > 1)
            samples[seen++] = fmax(0, (starts[count - 1] - starts[0]) / (double)(count - 1) - turn);
    }
    if (status == 0) {
        struct gt_bench_summary summary = gt_summarise(samples, seen);
        gt_found(bench->found, "warp.block_start_cycles", summary.median, summary,
                 "from one of %u blocks of a wave to the next on an SM, less %.1f in which every SM gets one", per_sm,
                 turn);
    }
    free(samples);
    free(starts);
    return status;
}

/* Several waves of blocks of different lengths, so that slots come free one at a time. */
static int refill_ns(struct gt_bench *bench, uint32_t threads, double *gaps, size_t *count)
{
    uint32_t per_sm = (uint32_t)bench->gpu.maxThreadsPerMultiProcessor / threads;
    uint32_t blocks = per_sm * (uint32_t)bench->gpu.multiProcessorCount * REFILL_WAVES;
    const struct gt_bench_spin spin = { blocks, threads, 0, 0, 20, 0.37, 97 };
    if (blocks > GT_BENCH_BLOCKS)
        blocks = GT_BENCH_BLOCKS;
    struct gt_stay *stays = gt_calloc(blocks, sizeof(*stays));
    int status = gt_bench_launch(bench, &spin, 0, bench->streams[0]);
    if (status == 0)
        status = gt_bench_read(bench, blocks);
    for (uint32_t i = 0; status == 0 && i < blocks; i++)
        stays[i] = gt_bench_span(bench, i, 1);
    if (status == 0)
        *count = gt_refill_gaps(stays, blocks, gaps);
    free(stays);
    return status;
}

static int measure_refill(struct gt_bench *bench)
{
    static const uint32_t threads[2] = { 1024, 256 };
    double *gaps = gt_calloc(GT_BENCH_BLOCKS, sizeof(*gaps));
    struct gt_bench_summary parts[2];
    int status = 0;
    for (int i = 0; status == 0 && i < 2; i++) {
        size_t count = 0;
        status = refill_ns(bench, threads[i], gaps, &count);
        parts[i] = gt_summarise(gaps, count);
    }
    if (status == 0) {
        struct gt_bench_summary both = gt_bench_mean(parts, 2);
        gt_found(bench->found, "scheduling.refill_ns", both.median, both,
                 "a block's end to the next one's start in its slot; %u threads %.0f, %u threads %.0f", threads[0],
                 parts[0].median, threads[1], parts[1].median);
    }
    free(gaps);
    return status;
}

/* From the common end of `per_sm` blocks on each SM, the median of their ends, to the start of a kernel
 * behind them; 0 where they did not end together. */
static int gap_behind(struct gt_bench *bench, uint32_t per_sm, double *ns)
{
    uint32_t blocks = per_sm * (uint32_t)bench->gpu.multiProcessorCount;
    const struct gt_bench_spin next = { 1, 32, 0, 0, 5, 0, 0 };
    struct gt_block_log *log = bench->log;
    uint64_t period_ns = TOGETHER_NS, cycles = (uint64_t)(bench->mhz * 1.024 + 0.5);
    void *arguments[] = { &log, &period_ns, &cycles };
    double *ends_ns = gt_calloc(blocks, sizeof(*ends_ns));
    int status = gt_bench_check(bench,
                                cudaLaunchKernel((const void *)gt_calibrate_together, (dim3){ blocks, 1, 1 },
                                                 (dim3){ 32, 1, 1 }, arguments, 0, bench->streams[0]),
                                "cudaLaunchKernel()");
    if (status == 0)
        status = gt_bench_launch(bench, &next, blocks, bench->streams[0]);
    if (status == 0)
        status = gt_bench_read(bench, blocks + 1);
    uint64_t next_ns = bench->blocks[blocks].start_ns;
    for (uint32_t i = 0; status == 0 && i < blocks; i++)
        ends_ns[i] = (double)(int64_t)(next_ns - bench->blocks[i].end_ns);
    struct gt_bench_summary ends = gt_summarise(ends_ns, blocks);
    *ns = ends_ns[blocks - 1] - ends_ns[0] < TOGETHER_MOST_NS ? ends.median : 0;
    free(ends_ns);
    return status;
}

static int measure_retire(struct gt_bench *bench)
{
    uint32_t most = (uint32_t)bench->gpu.maxBlocksPerMultiProcessor;
    const uint32_t per_sm[SHAPES] = { 1, most / 4, most / 2, most };
    double x[SHAPES], slopes[ROUNDS], y[SHAPES];
    size_t count = 0;
    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        bool good = r >= 0;
        for (int s = 0; s < SHAPES; s++) {
            x[s] = per_sm[s];
            if (gap_behind(bench, per_sm[s], &y[s]) != 0)
                return -1;
            good = good && y[s] > 0;
        }
        if (good)
            slopes[count++] = gt_fit_line(x, y, SHAPES, false).slope;
    }
    if (count < 3) {
        gt_not_found(bench->found, "scheduling.retire_ns", "blocks did not end together");
        return 0;
    }
    struct gt_bench_summary summary = gt_summarise(slopes, count);
    gt_found(bench->found, "scheduling.retire_ns", fmax(0, summary.median), summary,
             "1 to %u blocks an SM that end together: how much later a kernel behind starts, a block", most);
    return 0;
}

int gt_calibrate_dispatch(struct gt_bench *bench)
{
    return measure_dispatch(bench) != 0 || measure_block_start(bench) != 0 || measure_refill(bench) != 0 ||
                   measure_retire(bench) != 0
               ? -1
               : 0;
}
