/* device.c - what the GPU's properties say, and its clock. */
#include <math.h>
#include <stdio.h>

#include "validate/calibrate/groups.h"

enum { CLOCK_ROUNDS = 5, CLOCK_SAMPLES = CLOCK_ROUNDS * GT_DEVICE_MAX_SMS, TICKS = 256, UNIT_BLOCKS = 32 };

struct property {
    const char *key;
    uint64_t value;
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The most shared memory a block may ask for while `blocks` of them fit on an SM. */
static int most_shared_bytes(struct gt_bench *bench, int blocks, uint64_t *bytes)
{
    uint64_t low = 0, high = bench->gpu.sharedMemPerBlockOptin;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        int fit = 0;
        GT_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, (const void *)gt_calibrate_spin,
                                                             bench->gpu.warpSize, (size_t)middle));
        if (fit >= blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *bytes = low;
    return 0;
}

/* With the driver's part, the most that n blocks may ask for is a multiple of the unit, for every n. */
static int measure_shared_unit(struct gt_bench *bench)
{
    uint64_t unit = 0;
    int sizes = 0;
    for (int blocks = 2; blocks <= UNIT_BLOCKS && blocks <= bench->gpu.maxBlocksPerMultiProcessor; blocks++) {
        uint64_t bytes;
        if (most_shared_bytes(bench, blocks, &bytes) != 0)
            return -1;
        if (bytes == bench->gpu.sharedMemPerBlockOptin)
            continue;
        unit = common_divisor(unit, bytes + bench->gpu.reservedSharedMemPerBlock);
        sizes++;
    }
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)unit);
    if (sizes < 4)
        gt_not_found(bench->found, "sm.shared_unit_bytes", "too few block sizes to tell");
    else
        gt_found_text(bench->found, "sm.shared_unit_bytes", text,
                      "steps of the driver's occupancy over %d counts of blocks", sizes);
    return 0;
}

/* What the programming guide's table of compute capabilities says of dividing an SM's memory. */
static void state_carveouts(struct gt_bench *bench)
{
    /* clang-format off */
    static const struct { int major, minor; const char *kib; } known[] = {
        {7, 0, "8,16,32,64,96"},
        {7, 5, "32,64"},
        {8, 0, "8,16,32,64,100,132,164"},
        {8, 6, "8,16,32,64,100"},
        {8, 7, "8,16,32,64,100,132,164"},
        {8, 9, "8,16,32,64,100"},
        {9, 0, "8,16,32,64,100,132,164,196,228"},
        {10, 0, "8,16,32,64,100,132,164,196,228"},
        {12, 0, "8,16,32,64,100"},
    };
    /* clang-format on */
    char text[96];
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].major == bench->gpu.major && known[i].minor == bench->gpu.minor) {
            snprintf(text, sizeof(text), "vendor document: CUDA programming guide, compute capability %d.%d",
                     known[i].major, known[i].minor);
            gt_found_known(bench->found, "sm.shared_carveouts_kib", known[i].kib, text);
        }
}

int gt_calibrate_limits(struct gt_bench *bench)
{
    const struct cudaDeviceProp *gpu = &bench->gpu;
    const struct property properties[] = {
        { "chip.sms", (uint64_t)gpu->multiProcessorCount },
        { "chip.compute_major", (uint64_t)gpu->major },
        { "chip.compute_minor", (uint64_t)gpu->minor },
        { "sm.threads", (uint64_t)gpu->maxThreadsPerMultiProcessor },
        { "sm.warps", (uint64_t)(gpu->maxThreadsPerMultiProcessor / gpu->warpSize) },
        { "sm.blocks", (uint64_t)gpu->maxBlocksPerMultiProcessor },
        { "sm.warp_threads", (uint64_t)gpu->warpSize },
        { "sm.registers", (uint64_t)gpu->regsPerMultiprocessor },
        { "sm.shared_bytes", gpu->sharedMemPerMultiprocessor },
        { "sm.shared_reserved_bytes", gpu->reservedSharedMemPerBlock },
        { "memory.l2_bytes", (uint64_t)gpu->l2CacheSize },
        { "device_memory.bytes", (uint64_t)gpu->totalGlobalMem },
        { "block.threads", (uint64_t)gpu->maxThreadsPerBlock },
        { "block.shared_bytes", gpu->sharedMemPerBlockOptin },
    };
    char text[32];
    gt_found_text(bench->found, "chip.name", gpu->name, "device properties");
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)properties[i].value);
        gt_found_text(bench->found, properties[i].key, text, "device properties");
    }
    if (gpu->major >= 5) {
        gt_found_known(bench->found, "sm.register_unit_per_warp", "256",
                       "vendor document: CUDA occupancy calculator, compute capability 5.0 and later");
        gt_found_known(bench->found, "block.registers_per_thread", "255",
                       "vendor document: CUDA programming guide, compute capability 5.0 and later");
    }
    gt_found_note(bench->found, "L2 cache %d bytes, %d copy engines, device memory %.1f GiB", gpu->l2CacheSize,
                  gpu->asyncEngineCount, (double)gpu->totalGlobalMem / 0x1p30);
    state_carveouts(bench);
    return measure_shared_unit(bench);
}

/* The global timer's step. */
static int measure_ticks(struct gt_bench *bench)
{
    uint64_t *ticks = bench->device[0], seen[TICKS];
    uint32_t count = TICKS;
    double steps[TICKS];
    void *arguments[] = { &ticks, &count };
    GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_ticks, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
                            bench->streams[0]));
    GT_TRY(cudaDeviceSynchronize());
    GT_TRY(cudaMemcpy(seen, ticks, sizeof(seen), cudaMemcpyDeviceToHost));
    for (int i = 1; i < TICKS; i++)
        steps[i - 1] = (double)(seen[i] - seen[i - 1]);
    struct gt_bench_summary summary = gt_summarise(steps, TICKS - 1);
    gt_found_note(bench->found, "global timer: steps of %.0f ns (quartiles %.0f to %.0f)", summary.median,
                  summary.low, summary.high);
    return 0;
}

/* Cycles over time on every SM, all of them busy. */
int gt_calibrate_clock(struct gt_bench *bench)
{
    static double mhz[CLOCK_SAMPLES];
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    const struct gt_bench_spin spin = { sms, 256, gt_bench_one_block_bytes(bench), 0, 5000, 0, 0 };
    size_t count = 0;
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, sms) != 0)
            return -1;
        for (uint32_t i = 0; i < sms && count < CLOCK_SAMPLES; i++) {
            const struct gt_block_log *block = &bench->blocks[i];
            mhz[count++] = (double)(block->end_cycles - block->start_cycles) * 1000.0 /
                           (double)(block->end_ns - block->start_ns);
        }
    }
    struct gt_bench_summary summary = gt_summarise(mhz, count);
    gt_found(bench->found, "chip.clock_mhz", round(summary.median), summary,
             "clock64 against the global timer, 5 ms spins on all SMs (heavy load may lower it)");
    return measure_ticks(bench);
}
