/* hopper.c - Hopper's own instructions: bulk copies into shared memory, matrix products of warp
 * groups. */
#include "kernels/calibrate/bulk.h"

#include <math.h>
#include <stdlib.h>

#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    BLOCKS = 4,
    ROUNDS = 32,
    SETTLE = 8,
    APART = 65536,
    THREADS = 32,
    GROUP_THREADS = 128,
    COPY_BYTES = 128,
    WGMMA_ROUNDS = 16,
    SAMPLES = BLOCKS * (ROUNDS - SETTLE),
    SUB_PRODUCTS = 16 * 128 * 16 /* multiply-adds of m64n128k16 in one sub-partition */
};

/* Cycles of a copy, from its issue until it has arrived; none where the GPU has no such. */
static int copy_cycles(struct gt_bench *bench, uint32_t bytes, struct gt_bench_summary *summary)
{
    const void *from = bench->device[1];
    uint64_t apart = APART;
    uint32_t rounds = ROUNDS, *cycles = (uint32_t *)bench->log, taken[BLOCKS * ROUNDS];
    void *arguments[] = { &from, &apart, &bytes, &rounds, &cycles };
    double samples[SAMPLES];
    size_t count = 0;
    GT_TRY(cudaMemset(cycles, 0, sizeof(taken)));
    if (gt_bench_run(bench, (const void *)gt_calibrate_bulk, BLOCKS, THREADS, arguments) != 0 ||
        gt_bench_bring(bench, taken, cycles, sizeof(taken)) != 0)
        return -1;
    for (int i = 0; i < BLOCKS * ROUNDS; i++)
        if (i % ROUNDS >= SETTLE && taken[i] != 0)
            samples[count++] = taken[i];
    *summary = gt_summarise(samples, count);
    return 0;
}

static int product_cycles(struct gt_bench *bench, uint32_t many, struct gt_bench_summary *summary)
{
    uint64_t *cycles = (uint64_t *)bench->log, taken[BLOCKS];
    uint32_t rounds = WGMMA_ROUNDS;
    void *arguments[] = { &many, &rounds, &cycles };
    double samples[BLOCKS];
    size_t count = 0;
    for (int round = 0; round < 2; round++) { /* the first one's code is in no cache */
        GT_TRY(cudaMemset(cycles, 0, sizeof(taken)));
        if (gt_bench_run(bench, (const void *)gt_calibrate_wgmma, BLOCKS, GROUP_THREADS, arguments) != 0 ||
            gt_bench_bring(bench, taken, cycles, sizeof(taken)) != 0)
            return -1;
    }
    for (int i = 0; i < BLOCKS; i++)
        if (taken[i] != 0)
            samples[count++] = (double)taken[i] / WGMMA_ROUNDS;
    *summary = gt_summarise(samples, count);
    return 0;
}

/* A small copy takes so much longer than a load that hits L2, half of them the nearer half. */
static int measure_copies(struct gt_bench *bench)
{
    struct gt_bench_summary copy;
    if (copy_cycles(bench, COPY_BYTES, &copy) != 0)
        return -1;
    double load = (gt_bench_known(bench, "memory.l2_near_latency_cycles") +
                   gt_bench_known(bench, "memory.l2_far_latency_cycles")) /
                  2;
    if (copy.count == 0 || load <= 0) {
        gt_not_found(bench->found, "memory.bulk_latency_cycles",
                     copy.count == 0 ? "there are no bulk copies" : "latency of L2 not measured with it");
        return 0;
    }
    struct gt_bench_summary more = gt_summary_less(copy, load);
    gt_found(bench->found, "memory.bulk_latency_cycles", fmax(0, more.median), more,
             "bulk copy of %d bytes in L2, %.0f cycles until it is seen, less a load's %.0f", COPY_BYTES, copy.median,
             load);
    return 0;
}

/* What each product more takes is the tensor core's time; what is left of a lone one is the way there and
 * back. */
static int measure_products(struct gt_bench *bench)
{
    struct gt_bench_summary lone, many, twice;
    if (product_cycles(bench, 0, &lone) != 0 || product_cycles(bench, 1, &many) != 0 ||
        product_cycles(bench, 2, &twice) != 0)
        return -1;
    if (lone.count == 0) {
        gt_not_found(bench->found, "pipe.gmma_per_cycle", "there are no products of warp groups");
        return 0;
    }
    double each = (twice.median - many.median) / GT_WGMMA_MANY;
    struct gt_bench_summary rate =
        gt_summary_rate(SUB_PRODUCTS * (double)GT_WGMMA_MANY, gt_summary_less(twice, many.median));
    gt_found(bench->found, "pipe.gmma_per_cycle", rate.median, rate,
             "wgmma.m64n128k16 in FP16, operands in shared memory, many in a row: %.1f cycles each", each);
    lone = gt_summary_less(lone, each);
    gt_found(bench->found, "pipe.gmma_latency_cycles", lone.median, lone,
             "a lone one with fence, commit and wait, beyond those cycles");
    return 0;
}

int gt_calibrate_hopper(struct gt_bench *bench)
{
    return measure_copies(bench) != 0 || measure_products(bench) != 0 ? -1 : 0;
}
