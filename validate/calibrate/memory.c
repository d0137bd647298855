/* memory.c - how long loads take that each wait for the one before: from L1, L2, DRAM. */
#include "kernels/calibrate/memory.h"

#include <math.h>

#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    ROUNDS = 4,
    RING_THREADS = 256,
    RING_BLOCKS = 256,
    L1_STRIDE = 128,
    L1_NODES = 64,
    L2_STRIDE = 512,
    L2_NODES = 1024,
    L2_SMS = 16,
    DRAM_STRIDE = 4096,
    DRAM_NODES = GT_BENCH_BUFFER_BYTES / DRAM_STRIDE,
    DRAM_STEPS = 4096,
    LINES_OF_NODE = 32,
    LINE = 128,
    LEAST_APART = 1 /* cycles that are told from none */
};

/* What the model adds of its own to a load that it serves at once: a pass of the load/store unit, and, in
 * L2, 32 bytes through the SM's port. */
static const double pass_cycles = 1, port_cycles = 0.5;

/* Makes an order of nodes that looks like none. */
static const uint64_t scattered = 2654435761;

struct ring {
    uint64_t stride_bytes, nodes, factor; /* of gt_calibrate_ring */
    uint32_t shuffle, warm, steps;        /* steps before those that count, and those */
    bool pass_l1;
};

static int make_ring(struct gt_bench *bench, const struct ring *ring)
{
    void *at = bench->device[1];
    uint64_t stride = ring->stride_bytes, nodes = ring->nodes, factor = ring->factor;
    uint32_t shuffle = ring->shuffle;
    void *arguments[] = { &at, &stride, &nodes, &factor, &shuffle };
    return gt_bench_run(bench, (const void *)gt_calibrate_ring, RING_BLOCKS, RING_THREADS, arguments);
}

/* Cycles of a step on each of `blocks` SMs; and of each step, where `each` is not NULL: [block][step]. */
static int walk(struct gt_bench *bench, const struct ring *ring, uint32_t blocks, uint32_t *each, double *mean)
{
    void *at = bench->device[1];
    uint64_t *cycles = (uint64_t *)bench->log, taken[L2_SMS];
    uint32_t warm = ring->warm, steps = ring->steps, l2 = ring->pass_l1;
    uint32_t *log = (uint32_t *)(cycles + L2_SMS), *latencies = each != NULL ? log : NULL;
    void *arguments[] = { &at, &warm, &steps, &l2, &latencies, &cycles };
    if (gt_bench_run(bench, (const void *)gt_calibrate_walk, blocks, 1, arguments) != 0 ||
        gt_bench_bring(bench, taken, cycles, blocks * sizeof(*taken)) != 0)
        return -1;
    for (uint32_t i = 0; i < blocks; i++)
        mean[i] = (double)taken[i] / steps;
    return each == NULL ? 0 : gt_bench_bring(bench, each, log, (size_t)blocks * steps * sizeof(*each));
}

static int measure_l1(struct gt_bench *bench)
{
    const struct ring ring = { L1_STRIDE, L1_NODES, scattered, 0, L1_NODES, 16 * L1_NODES, false };
    double samples[ROUNDS * L2_SMS];
    if (make_ring(bench, &ring) != 0)
        return -1;
    for (int round = 0; round < ROUNDS; round++)
        if (walk(bench, &ring, L2_SMS, NULL, samples + round * L2_SMS) != 0)
            return -1;
    struct gt_bench_summary summary = gt_summarise(samples, ROUNDS * L2_SMS);
    gt_found(bench->found, "memory.l1_latency_cycles", summary.median - pass_cycles, summary,
             "loads of 8 KiB in L1 that each wait for the one before, less the pass of the load/store unit");
    return 0;
}

/* Every line from several SMs: an SM's nearer half of them, and its farther one. */
static int measure_l2(struct gt_bench *bench)
{
    static uint32_t each[L2_SMS * L2_NODES];
    const struct ring ring = { L2_STRIDE, L2_NODES, scattered, 0, L2_NODES, L2_NODES, true };
    double chain[L2_SMS], timed[L2_SMS];
    struct gt_bench_summary halves[2][L2_SMS];
    if (make_ring(bench, &ring) != 0 || walk(bench, &ring, L2_SMS, NULL, chain) != 0 ||
        walk(bench, &ring, L2_SMS, each, timed) != 0)
        return -1;
    for (int sm = 0; sm < L2_SMS; sm++) {
        double samples[L2_NODES], mean = 0;
        struct gt_bench_summary both[2];
        for (int i = 0; i < L2_NODES; i++) {
            samples[i] = each[sm * L2_NODES + i];
            mean += samples[i] / L2_NODES;
        }
        gt_summarise_halves(samples, L2_NODES, both);
        /* Less what reading the clock adds, and the model. */
        for (int half = 0; half < 2; half++)
            halves[half][sm] = gt_summary_less(both[half], mean - chain[sm] + pass_cycles + port_cycles);
    }
    for (int half = 0; half < 2; half++) {
        struct gt_bench_summary summary = gt_bench_mean(halves[half], L2_SMS);
        gt_found(bench->found, half == 0 ? "memory.l2_near_latency_cycles" : "memory.l2_far_latency_cycles",
                 summary.median, summary,
                 "mean of the %s half of an SM's loads of %d lines, %d SMs, less what the model adds itself",
                 half == 0 ? "nearer" : "farther", L2_NODES, L2_SMS);
    }
    return 0;
}

/* Cycles of a step that no cache has, on one SM; and of each. */
static int walk_dram(struct gt_bench *bench, const struct ring *ring, uint32_t *each, double *mean)
{
    if (make_ring(bench, ring) != 0 || gt_bench_flush_l2(bench) != 0)
        return -1;
    return walk(bench, ring, 1, each, mean);
}

/* DRAM answers after a time that is fixed and one that is distributed exponentially: of the latter the lowest
 * and the highest tenth lie ln 9 of its mean apart. */
static int measure_dram(struct gt_bench *bench)
{
    const struct ring row = { LINE, GT_BENCH_BUFFER_BYTES / LINE, 1, 0, 0, DRAM_STEPS, true },
                      apart = { DRAM_STRIDE, DRAM_NODES, scattered, LINES_OF_NODE, 0, DRAM_STEPS, true };
    double least[ROUNDS], spread[ROUNDS], more[ROUNDS], rows[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        static uint32_t each[DRAM_STEPS];
        static double samples[DRAM_STEPS];
        double timed, elsewhere;
        if (walk_dram(bench, &row, NULL, &rows[round]) != 0 || walk_dram(bench, &row, each, &timed) != 0 ||
            walk_dram(bench, &apart, NULL, &elsewhere) != 0)
            return -1;
        for (int i = 0; i < DRAM_STEPS; i++)
            samples[i] = each[i];
        gt_summarise(samples, DRAM_STEPS);
        spread[round] = (samples[DRAM_STEPS * 9 / 10] - samples[DRAM_STEPS / 10]) / log(9);
        least[round] = rows[round] - pass_cycles - spread[round];
        more[round] = fmax(0, elsewhere - rows[round]);
    }
    struct gt_bench_summary summary = gt_summarise(least, ROUNDS), mean = gt_summarise(rows, ROUNDS);
    gt_found(bench->found, "memory.dram_latency_cycles", summary.median, summary,
             "lines in a row that each wait for the one before, %.0f cycles, less dram_spread_cycles", mean.median);
    summary = gt_summarise(spread, ROUNDS);
    gt_found(bench->found, "memory.dram_spread_cycles", summary.median, summary,
             "from the lowest tenth of these to the highest, by ln 9");
    summary = gt_summarise(more, ROUNDS);
    if (summary.median < LEAST_APART)
        gt_not_found(bench->found, "memory.dram_apart_cycles", "lines 4 KiB apart in no order took no longer");
    else
        gt_found(bench->found, "memory.dram_apart_cycles", summary.median, summary,
                 "what lines 4 KiB apart in no order take more than those in a row");
    return 0;
}

int gt_calibrate_memory(struct gt_bench *bench)
{
    return measure_l1(bench) != 0 || measure_l2(bench) != 0 || measure_dram(bench) != 0 ? -1 : 0;
}
