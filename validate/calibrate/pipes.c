/* pipes.c - the pipes of a sub-partition: loops over one instruction.  In one warp and one chain
 * a link takes as long as the result needs; in several chains of several warps as long as the pipe is
 * taken. */
#include "kernels/calibrate/pipes.h"

#include <math.h>
#include <string.h>

#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    SUBS = 4,
    BLOCKS = 4,
    ROUNDS = 4,
    TRIPS = 64,
    WARPS = 8,
    WARP_THREADS = 32,
    SPANS = SUBS * WARPS * BLOCKS,
    SAMPLES = BLOCKS * ROUNDS
};

/* The clock tells no more than hundredths of a cycle. */
#define ROUNDED 100

/* How a loop is run. */
struct load {
    int chains;     /* 0: one; 1: as many as do not wait for each other */
    uint32_t warps; /* of a sub-partition */
    bool one_sub;   /* the other three sub-partitions have none */
};

static const struct gt_pipe_kernel *find(const char *name)
{
    for (size_t i = 0; i < gt_pipe_kernel_count; i++)
        if (strcmp(gt_pipe_kernels[i].name, name) == 0)
            return &gt_pipe_kernels[i];
    gt_bug("no loop over %s", name);
}

/* Cycles of one body's loop on each of BLOCKS SMs, from the first warp's start to the last one's end; those
 * of an empty loop where the GPU has no such instruction. */
static int loop_cycles(struct gt_bench *bench, const void *kernel, const struct load *load, double *cycles)
{
    uint32_t warps = load->warps * SUBS, every = load->one_sub ? SUBS : 1, b = 3, c = 5, d = 0;
    struct gt_pipe_run run = { bench->device[1], TRIPS, every, 0x9e3779b9 };
    struct gt_warp_span spans[SPANS];
    void *arguments[] = { &run, &b, &c, &d };
    if (gt_bench_run(bench, kernel, BLOCKS, warps * WARP_THREADS, arguments) != 0 ||
        gt_bench_bring(bench, spans, run.spans, BLOCKS * warps * sizeof(*spans)) != 0)
        return -1;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t warp = 0; warp < warps; warp += every) {
            const struct gt_warp_span *span = &spans[block * warps + warp];
            first = span->start_cycles < first ? span->start_cycles : first;
            last = span->end_cycles > last ? span->end_cycles : last;
        }
        cycles[block] = (double)(last - first);
    }
    return 0;
}

/* Cycles of a sub-partition for an instruction: what the longer body takes more, by the instructions it has
 * more. */
static int measure(struct gt_bench *bench, const struct gt_pipe_kernel *pipe, const struct load *load,
                   struct gt_bench_summary *found)
{
    double samples[SAMPLES], cycles[2][BLOCKS];
    double more = (double)(pipe->longer - pipe->shorter) * TRIPS * load->warps;
    for (int round = -1; round < ROUNDS; round++) { /* the first one's code is in no cache */
        for (int body = 0; body < 2; body++)
            if (loop_cycles(bench, pipe->entries[load->chains][body], load, cycles[body]) != 0)
                return -1;
        for (int block = 0; round >= 0 && block < BLOCKS; block++)
            samples[round * BLOCKS + block] = (cycles[1][block] - cycles[0][block]) / more;
    }
    *found = gt_summarise(samples, SAMPLES);
    found->median = round(found->median * ROUNDED) / ROUNDED;
    return 0;
}

/* No instruction takes less of a sub-partition. */
#define LEAST_CYCLES 0.1

static const struct load in_turn = { 0, 1, false }, filled = { 1, WARPS, false }, filled_sub = { 1, WARPS, true };

/* The loops that say by themselves what a key means. */
static const struct row {
    const char *instruction, *latency, *interval; /* NULL: not from this one */
    bool one_sub; /* what all four sub-partitions have in common is not to be the limit */
} rows[] = {
    { "lop3.b32", "pipe.alu_latency_cycles", "pipe.alu_interval_cycles", false },
    { "fma.f32", "pipe.fma_latency_cycles", "pipe.fma_interval_cycles", false },
    { "mad.lo.s32", "pipe.fmaheavy_latency_cycles", "pipe.fmaheavy_interval_cycles", false },
    { "fma.f16x2 by halves", "pipe.fp16_latency_cycles", "pipe.fp16_interval_cycles", false },
    { "fma.f64", "pipe.fp64_latency_cycles", NULL, false },
    { "ex2.approx.f32", "pipe.xu_latency_cycles", "pipe.xu_interval_cycles", false },
    { "shf.l.b32, uniform", "pipe.uniform_latency_cycles", "pipe.uniform_interval_cycles", false },
    { "shfl.sync.bfly", "pipe.shuffle_latency_cycles", NULL, false },
    { "ld.shared.u32", "memory.shared_latency_cycles", "pipe.lsu_interval_cycles", true },
    { "mma.m16n8k16.f32.f16", "pipe.tensor_latency_cycles", NULL, false },
};

static int measure_row(struct gt_bench *bench, const struct row *row)
{
    const struct gt_pipe_kernel *pipe = find(row->instruction);
    struct gt_bench_summary summary;
    if (row->latency != NULL) {
        if (measure(bench, pipe, &in_turn, &summary) != 0)
            return -1;
        gt_found(bench->found, row->latency, summary.median, summary, "%s, each waits for the one before",
                 row->instruction);
    }
    if (row->interval != NULL) {
        if (measure(bench, pipe, row->one_sub ? &filled_sub : &filled, &summary) != 0)
            return -1;
        gt_found(bench->found, row->interval, summary.median, summary, "%s in %d warps of %s", row->instruction,
                 WARPS, row->one_sub ? "one sub-partition" : "each sub-partition");
    }
    return 0;
}

/* A warp's matrix product is 16 x 8 x 16 multiply-adds, or half as deep: what the deeper one takes more is of
 * those, the rest of any. */
static int measure_matrix(struct gt_bench *bench)
{
    const double products = 16 * 8 * 16;
    struct gt_bench_summary deep, half;
    if (measure(bench, find("mma.m16n8k16.f32.f16"), &filled, &deep) != 0 ||
        measure(bench, find("mma.m16n8k8.f32.f16"), &filled, &half) != 0)
        return -1;
    struct gt_bench_summary rate = gt_summary_rate(products / 2, gt_summary_less(deep, half.median));
    struct gt_bench_summary start = gt_summary_less(deep, products / rate.median);
    gt_found(bench->found, "pipe.mma_per_cycle", rate.median, rate,
             "mma.m16n8k16.f32.f16, %.2f cycles, less m16n8k8, %.2f; %d warps of each sub-partition", deep.median,
             half.median, WARPS);
    gt_found(bench->found, "pipe.mma_start_cycles", fmax(0, start.median), start,
             "mma.m16n8k16.f32.f16, %.2f cycles, less its products at that rate", deep.median);
    return 0;
}

/* Atomics on words that no other lane has: all sub-partitions take turns. */
static int measure_atomics(struct gt_bench *bench)
{
    struct gt_bench_summary summary;
    if (measure(bench, find("atom.shared.add.u32"), &filled, &summary) != 0)
        return -1;
    struct gt_bench_summary each = gt_summary_times(summary, 1.0 / SUBS);
    gt_found(bench->found, "memory.shared_atomic_cycles", each.median, each,
             "atom.shared.add.u32 without conflicts in %d warps of each sub-partition", WARPS);
    return 0;
}

/* The port of the registers holds up doubles that read three: the warp tier counts them (sim/warp/register_banks.c). */
static int measure_doubles(struct gt_bench *bench)
{
    struct gt_bench_summary parts[2];
    if (measure(bench, find("fma.f64 of two"), &filled, &parts[0]) != 0 ||
        measure(bench, find("fma.f64"), &filled, &parts[1]) != 0)
        return -1;
    gt_found(bench->found, "pipe.fp64_interval_cycles", parts[0].median, parts[0],
             "fma.f64 that reads two registers; of three %.1f; %d warps of each sub-partition", parts[1].median,
             WARPS);
    return 0;
}

/* The place of each constant is made by a shift, which is none of the load's time. All sub-partitions share
 * what loads them, and so does what serves barriers. */
static int measure_constants(struct gt_bench *bench)
{
    const struct gt_pipe_kernel *loop = find("shl.b32, ld.const.u32");
    struct gt_bench_summary shift, load;
    if (measure(bench, find("lop3.b32"), &in_turn, &shift) != 0 || measure(bench, loop, &in_turn, &load) != 0)
        return -1;
    load = gt_summary_less(load, shift.median);
    gt_found(bench->found, "memory.constant_latency_cycles", load.median, load,
             "ld.const.u32, each waits for the one before, less %.1f for the shift between", shift.median);
    if (measure(bench, loop, &filled, &load) != 0)
        return -1;
    load = gt_summary_times(load, 1.0 / SUBS);
    gt_found(bench->found, "pipe.adu_interval_cycles", load.median, load,
             "ld.const.u32 in %d warps of each sub-partition, of which one after the other is served", WARPS);
    return 0;
}

/* What no key holds. */
static int measure_others(struct gt_bench *bench)
{
    static const char *const names[] = {
        "fma.f16x2",           "ldmatrix.x4",   "mma.m16n8k16.f16.f16", "mma.m16n8k8.f32.tf32",
        "mma.m16n8k32.s32.s8", "mma.m8n8k4.f64"
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct gt_bench_summary latency, interval;
        if (measure(bench, find(names[i]), &in_turn, &latency) != 0 ||
            measure(bench, find(names[i]), &filled, &interval) != 0)
            return -1;
        if (interval.median > LEAST_CYCLES) /* the GPU has it */
            gt_found_note(bench->found,
                          "%s: %.1f cycles where each waits for the one before, %.2f in %d warps of each "
                          "sub-partition",
                          names[i], latency.median, interval.median, WARPS);
    }
    return 0;
}

int gt_calibrate_pipes(struct gt_bench *bench)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (measure_row(bench, &rows[i]) != 0)
            return -1;
    if (measure_matrix(bench) != 0 || measure_doubles(bench) != 0 || measure_atomics(bench) != 0)
        return -1;
    return measure_constants(bench) != 0 ? -1 : measure_others(bench);
}
