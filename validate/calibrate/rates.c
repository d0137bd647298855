/* rates.c - what memory moves: an SM's port, L2, DRAM; atomics on one word. */
#include <math.h>

#include "kernels/calibrate/memory.h"
#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    THREADS = 1024,
    ROUNDS = 5,
    ATOMIC_ROUNDS = 512,
    LINE_BYTES = 128,
    PAIR_BYTES = 64,
    PORT_BYTES = 2 << 20,
    L2_READS = 128 /* times that part of L2 is read */
};
/* Of DRAM: many times what L2 holds, so that little of it is there the next time. */
#define DRAM_BYTES (UINT64_C(2) << 30)

/* A stream of gt_calibrate_read and its like. */
struct stream {
    const void *kernel;
    uint32_t blocks;
    void *from, *to;
    uint64_t bytes;
    uint32_t rounds;
};

/* How long the grid took, from its first block's start to its last one's end. */
struct taken {
    struct gt_bench_summary cycles, us;
};

static int measure(struct gt_bench *bench, const struct stream *stream, struct taken *taken)
{
    double cycles[ROUNDS], us[ROUNDS];
    struct stream s = *stream;
    struct gt_block_log *log = bench->log;
    void *arguments[] = { &log, &s.from, &s.to, &s.bytes, &s.rounds };
    for (int round = -1; round < ROUNDS; round++) { /* the first fills the caches and is not kept */
        if (gt_bench_run(bench, s.kernel, s.blocks, THREADS, arguments) != 0 || gt_bench_read(bench, s.blocks) != 0)
            return -1;
        if (round < 0)
            continue;
        const struct gt_block_log *block = &bench->blocks[0];
        struct gt_stay span = gt_bench_span(bench, 0, s.blocks);
        double mhz =
            (double)(block->end_cycles - block->start_cycles) * 1000 / (double)(block->end_ns - block->start_ns);
        us[round] = gt_bench_us(span.start_ns, span.end_ns);
        cycles[round] = us[round] * mhz;
    }
    *taken = (struct taken){ gt_summarise(cycles, ROUNDS), gt_summarise(us, ROUNDS) };
    return 0;
}

static int measure_l2(struct gt_bench *bench)
{
    void *at = bench->device[0], *rest = bench->device[1];
    uint32_t blocks = 2 * (uint32_t)bench->gpu.multiProcessorCount;
    /* It is in both halves of L2 then, with room left. */
    uint64_t bytes = (uint64_t)bench->gpu.l2CacheSize / 4 >> 20 << 20;
    const struct {
        const char *key, *method;
        struct stream stream;
        double unit;
    } rows[] = {
        { "memory.sm_bytes_per_cycle",
          "one block of 1024 threads reads 2 MiB that L2 has",
          { (const void *)gt_calibrate_read, 1, at, rest, PORT_BYTES, 8 },
          1 },
        { "memory.sm_write_bytes_per_cycle",
          "one block of 1024 threads copies 2 MiB within L2",
          { (const void *)gt_calibrate_copy, 1, at, (char *)at + PORT_BYTES, PORT_BYTES, 8 },
          1 },
        { "memory.l2_read_bytes_per_cycle",
          "all SMs read a quarter of what L2 holds",
          { (const void *)gt_calibrate_read, blocks, at, rest, bytes, L2_READS },
          1 },
        { "memory.l2_write_bytes_per_cycle",
          "all SMs write a quarter of what L2 holds",
          { (const void *)gt_calibrate_write, blocks, at, rest, bytes, L2_READS },
          1 },
        { "memory.l2_requests_per_cycle",
          "all SMs read a sector of each line of a quarter of what L2 holds",
          { (const void *)gt_calibrate_sectors, blocks, at, rest, bytes, L2_READS },
          LINE_BYTES },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct taken taken;
        if (measure(bench, &rows[i].stream, &taken) != 0)
            return -1;
        double amount = (double)rows[i].stream.bytes * rows[i].stream.rounds / rows[i].unit;
        struct gt_bench_summary rate = gt_summary_rate(amount, taken.cycles);
        gt_found(bench->found, rows[i].key, rate.median, rate, "%s", rows[i].method);
    }
    return 0;
}

/* GB/s of DRAM at its pins, as device properties say; 0: they do not. */
static int peak_gbps(struct gt_bench *bench, double *gbps)
{
    int khz = 0, bits = 0;
    GT_TRY(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0));
    GT_TRY(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    *gbps = 2.0 * khz * bits / 8 * 1e-6; /* both edges of the clock */
    return 0;
}

static int measure_dram(struct gt_bench *bench, char *at)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    void *half = at + DRAM_BYTES / 2, *rest = bench->device[1];
    const struct {
        const char *key, *method;
        struct stream stream;
        double part; /* bytes that DRAM moves, by byte of the stream's */
    } rows[] = {
        { "memory.dram_efficiency",
          "reads of 2 GiB",
          { (const void *)gt_calibrate_read, 2 * sms, at, rest, DRAM_BYTES, 1 },
          1 },
        { "memory.dram_mixed_efficiency",
          "copies of 1 GiB",
          { (const void *)gt_calibrate_copy, 2 * sms, at, half, DRAM_BYTES / 2, 1 },
          2 },
        { "memory.dram_scattered_efficiency",
          "reads of a sector of each line of 2 GiB in no order; 64 bytes move for each",
          { (const void *)gt_calibrate_scattered, 2 * sms, at, rest, DRAM_BYTES, 1 },
          (double)PAIR_BYTES / LINE_BYTES },
    };
    double peak;
    if (peak_gbps(bench, &peak) != 0)
        return -1;
    if (peak <= 0)
        return 0;
    gt_found(bench->found, "memory.dram_gbps", peak, (struct gt_bench_summary){ 0, 0, 0, 0 },
             "device properties: memory clock and width of the bus");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct taken taken;
        if (measure(bench, &rows[i].stream, &taken) != 0)
            return -1;
        struct gt_bench_summary part =
            gt_summary_rate((double)rows[i].stream.bytes * rows[i].part / (peak * 1e3), taken.us);
        gt_found(bench->found, rows[i].key, fmin(1, part.median), part, "%s: %.0f GB/s", rows[i].method,
                 part.median * peak);
    }
    return 0;
}

/* One lane of each warp adds to the same word: nothing but that word's slice of L2 is busy. */
static int measure_atomics(struct gt_bench *bench)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    const struct stream stream = {
        (const void *)gt_calibrate_hot, sms, bench->device[0], bench->device[0], sizeof(uint32_t), ATOMIC_ROUNDS
    };
    double atomics = (double)sms * THREADS / 32 * ATOMIC_ROUNDS;
    struct taken taken;
    if (measure(bench, &stream, &taken) != 0)
        return -1;
    struct gt_bench_summary each = { taken.cycles.median / atomics, taken.cycles.low / atomics,
                                     taken.cycles.high / atomics, taken.cycles.count };
    gt_found(bench->found, "memory.atomic_cycles", each.median, each, "a lane of every warp adds to one word");
    return 0;
}

int gt_calibrate_rates(struct gt_bench *bench)
{
    char *large = NULL;
    if (measure_l2(bench) != 0 || measure_atomics(bench) != 0)
        return -1;
    if (cudaMalloc((void **)&large, DRAM_BYTES) != cudaSuccess) {
        cudaGetLastError(); /* as if nobody had asked */
        gt_not_found(bench->found, "memory.dram_efficiency", "no room for 2 GiB");
        return 0;
    }
    int status = measure_dram(bench, large);
    cudaFree(large);
    return status;
}
