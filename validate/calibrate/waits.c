/* waits.c - instructions that wait rather than compute: barriers, fences, jumps, special registers,
 * loops that look at the clock. */
#include <math.h>
#include <stdlib.h>

#include "kernels/calibrate/code.h"
#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    BLOCKS = 4,
    ROUNDS = 4,
    TRIPS = 32,
    WARP_THREADS = 32,
    SUBS = 4,
    WIDTHS = 5,
    SAMPLES = BLOCKS * ROUNDS,
    WAIT_CYCLES = 100000,
    SPECIAL_READS = 256,
    CLUSTER = 2,
    FENCE_INSTRUCTIONS = 4 /* that __threadfence is on Hopper: MEMBAR, ERRBAR, CGAERRBAR, CCTL */
};

/* Run a kernel that leaves `words` numbers a block at `to`, ROUNDS times and one before:
 * samples[round][block][word]. */
static int sample(struct gt_bench *bench, const void *kernel, uint32_t threads, void **arguments, uint32_t words,
                  uint64_t *samples)
{
    for (int round = -1; round < ROUNDS; round++) {
        size_t bytes = BLOCKS * words * sizeof(*samples);
        if (gt_bench_run(bench, kernel, BLOCKS, threads, arguments) != 0 ||
            gt_bench_bring(bench, samples + (round > 0 ? round : 0) * BLOCKS * words, bench->log, bytes) != 0)
            return -1;
    }
    return 0;
}

/* Cycles of one of a kind of waiting, in blocks of `warps`. */
static int sync_cycles(struct gt_bench *bench, uint32_t kind, uint32_t warps, struct gt_bench_summary *summary)
{
    uint64_t *cycles = (uint64_t *)bench->log, taken[SAMPLES];
    uint32_t trips = TRIPS;
    void *arguments[] = { &kind, &trips, &cycles };
    double samples[SAMPLES];
    if (sample(bench, (const void *)gt_calibrate_sync, warps * WARP_THREADS, arguments, 1, taken) != 0)
        return -1;
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (double)taken[i] / (TRIPS * GT_CODE_BODY);
    *summary = gt_summarise(samples, SAMPLES);
    return 0;
}

/* The SM takes in the warps of a block one after the other. */
static int measure_barrier(struct gt_bench *bench)
{
    static const uint32_t widths[WIDTHS] = { 1, 4, 8, 16, 32 }; /* warps of a block */
    double warps[WIDTHS], cycles[WIDTHS], bases[WIDTHS], slopes[WIDTHS];
    struct gt_bench_summary summary;
    for (int i = 0; i < WIDTHS; i++) {
        if (sync_cycles(bench, GT_SYNC_BARRIER, widths[i], &summary) != 0)
            return -1;
        warps[i] = widths[i];
        cycles[i] = summary.median;
    }
    struct gt_line line = gt_fit_line(warps, cycles, WIDTHS, false);
    for (int i = 0; i < WIDTHS; i++) {
        bases[i] = cycles[i] - line.slope * warps[i];
        slopes[i] = (cycles[i] - line.base) / warps[i];
    }
    gt_found(bench->found, "warp.barrier_cycles", line.base, gt_summarise(bases, WIDTHS),
             "__syncthreads() in a row; %.1f cycles with one warp, %.1f with 4, %.1f with 8, %.1f with 16, "
             "%.1f with 32",
             cycles[0], cycles[1], cycles[2], cycles[3], cycles[4]);
    gt_found(bench->found, "warp.barrier_warp_cycles", line.slope, gt_summarise(slopes, WIDTHS),
             "the same barriers, for each warp");
    return 0;
}

static int measure_fence(struct gt_bench *bench)
{
    struct gt_bench_summary summary;
    if (sync_cycles(bench, GT_SYNC_FENCE, 1, &summary) != 0)
        return -1;
    summary = gt_summary_times(summary, 1.0 / FENCE_INSTRUCTIONS);
    gt_found(bench->found, "warp.fence_cycles", summary.median, summary,
             "__threadfence() in a row, %d instructions each", FENCE_INSTRUCTIONS);
    return 0;
}

/* Cycles from one branch to the next, of gt_calibrate_jump: what a loop with twice as many takes more. */
static int jump_cycles(struct gt_bench *bench, bool taken, bool straight, struct gt_bench_summary *summary)
{
    uint64_t seen[2][SAMPLES];
    double samples[SAMPLES];
    for (uint32_t longer = 0; longer < 2; longer++) {
        uint64_t *cycles = (uint64_t *)bench->log;
        uint32_t masks = taken ? 15 : 0, trips = TRIPS, without = straight;
        void *arguments[] = { &masks, &trips, &without, &longer, &cycles };
        if (sample(bench, (const void *)gt_calibrate_jump, 1, arguments, 1, seen[longer]) != 0)
            return -1;
    }
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = ((double)seen[1][i] - (double)seen[0][i]) / (TRIPS * GT_CODE_JUMPS);
    *summary = gt_summarise(samples, SAMPLES);
    return 0;
}

/* A branch that is taken, but for the cycles of one that is not. */
static int measure_jump(struct gt_bench *bench)
{
    struct gt_bench_summary taken, passed, straight;
    if (jump_cycles(bench, true, false, &taken) != 0 || jump_cycles(bench, false, false, &passed) != 0 ||
        jump_cycles(bench, false, true, &straight) != 0)
        return -1;
    double less = passed.median - straight.median;
    struct gt_bench_summary more = gt_summary_less(taken, less);
    gt_found(bench->found, "warp.branch_cycles", more.median, more,
             "branches over %d instructions, %.1f cycles, less %.1f where they are not taken", GT_CODE_SKIPPED,
             taken.median, less);
    return 0;
}

/* All blocks of a cluster meet; what a barrier of the block takes is counted apart. */
static int measure_cluster(struct gt_bench *bench)
{
    uint64_t *cycles = (uint64_t *)bench->log, taken[BLOCKS];
    uint32_t kind = GT_SYNC_CLUSTER, trips = TRIPS;
    void *arguments[] = { &kind, &trips, &cycles };
    double samples[SAMPLES];
    double barrier =
        gt_bench_known(bench, "warp.barrier_cycles") + SUBS * gt_bench_known(bench, "warp.barrier_warp_cycles");
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeClusterDimension };
    attribute.val.clusterDim.x = CLUSTER;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    const cudaLaunchConfig_t config = { .gridDim = { BLOCKS, 1, 1 },
                                        .blockDim = { SUBS * WARP_THREADS, 1, 1 },
                                        .stream = bench->streams[0],
                                        .attrs = &attribute,
                                        .numAttrs = 1 };
    if (bench->gpu.major < 9) {
        gt_not_found(bench->found, "warp.cluster_barrier_cycles", "there are no clusters");
        return 0;
    }
    for (int round = -1; round < ROUNDS; round++) {
        GT_TRY(cudaLaunchKernelExC(&config, (const void *)gt_calibrate_sync, arguments));
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
        if (gt_bench_bring(bench, taken, cycles, sizeof(taken)) != 0)
            return -1;
        for (int i = 0; round >= 0 && i < BLOCKS; i++)
            samples[round * BLOCKS + i] = fmax(0, (double)taken[i] / (TRIPS * GT_CODE_BODY) - barrier);
    }
    struct gt_bench_summary summary = gt_summarise(samples, SAMPLES);
    gt_found(bench->found, "warp.cluster_barrier_cycles", summary.median, summary,
             "barriers of clusters of %d blocks in a row, relaxed, beyond a barrier of a block", CLUSTER);
    return 0;
}

static int measure_special(struct gt_bench *bench)
{
    uint64_t *cycles = (uint64_t *)bench->log, taken[2 * SAMPLES];
    uint32_t trips = SPECIAL_READS;
    void *arguments[] = { &trips, &cycles };
    double samples[SAMPLES];
    if (sample(bench, (const void *)gt_calibrate_special, WARP_THREADS, arguments, 2, taken) != 0)
        return -1;
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = ((double)taken[2 * i] - (double)taken[2 * i + 1]) / SPECIAL_READS;
    struct gt_bench_summary summary = gt_summarise(samples, SAMPLES);
    gt_found(bench->found, "pipe.special_latency_cycles", summary.median, summary,
             "%%smid read and used, beyond a value used that is there");
    return 0;
}

static int measure_waiting(struct gt_bench *bench)
{
    uint64_t *cycles = (uint64_t *)bench->log, *trips = cycles + BLOCKS, wanted = WAIT_CYCLES, taken[2 * SAMPLES];
    void *arguments[] = { &wanted, &cycles, &trips };
    double samples[SAMPLES];
    if (sample(bench, (const void *)gt_calibrate_wait, 1, arguments, 2, taken) != 0)
        return -1;
    for (int i = 0; i < SAMPLES; i++) {
        const uint64_t *round = taken + i / BLOCKS * 2 * BLOCKS;
        samples[i] = (double)round[i % BLOCKS] / (double)round[BLOCKS + i % BLOCKS] / GT_CODE_WAIT_INSTRUCTIONS;
    }
    struct gt_bench_summary summary = gt_summarise(samples, SAMPLES);
    gt_found(bench->found, "warp.waiting_cycles", summary.median, summary,
             "a loop of %d instructions that reads the clock", GT_CODE_WAIT_INSTRUCTIONS);
    return 0;
}

int gt_calibrate_waits(struct gt_bench *bench)
{
    return measure_barrier(bench) != 0 || measure_cluster(bench) != 0 || measure_fence(bench) != 0 ||
                   measure_jump(bench) != 0 || measure_special(bench) != 0 || measure_waiting(bench) != 0
               ? -1
               : 0;
}
