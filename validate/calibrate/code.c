/* code.c - code and constants that are not in a cache: at the first launch of a process code is in
 * none; of 16 KiB of constants the first cache holds few. */
#include "kernels/calibrate/code.h"

#include <math.h>

#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum {
    WARP_THREADS = 32,
    PASSES = 2,
    CONSTANT_READINGS = GT_CODE_CONSTANTS + 1,
    FEW_CONSTANTS = 4,
    MOST_SMS = GT_DEVICE_MAX_SMS,
    JUMP_ALL = 15
};

/* The clock between the first and the last reading of a pass. */
static double span(const uint32_t *clocks, int readings, int pass)
{
    return (double)(clocks[(pass + 1) * readings - 1] - clocks[pass * readings]);
}

/* Straight code, a line after the other: what an SM takes for a line when it runs it for the first time. */
static int measure_lines(struct gt_bench *bench)
{
    static uint32_t clocks[MOST_SMS * PASSES * GT_CODE_LINES];
    uint32_t *to = (uint32_t *)bench->log, sms = (uint32_t)bench->gpu.multiProcessorCount;
    float seed = 1.5f;
    void *arguments[] = { &to, &seed };
    double samples[MOST_SMS], again[MOST_SMS];
    if (gt_bench_run(bench, (const void *)gt_calibrate_lines, sms, WARP_THREADS, arguments) != 0 ||
        gt_bench_bring(bench, clocks, to, sms * PASSES * GT_CODE_LINES * sizeof(*clocks)) != 0)
        return -1;
    for (uint32_t i = 0; i < sms; i++) {
        const uint32_t *seen = clocks + i * PASSES * GT_CODE_LINES;
        samples[i] = span(seen, GT_CODE_LINES, 0) / (GT_CODE_LINES - 1);
        again[i] = span(seen, GT_CODE_LINES, 1) / (GT_CODE_LINES - 1);
    }
    struct gt_bench_summary cold = gt_summarise(samples, sms), warm = gt_summarise(again, sms);
    gt_found(bench->found, "warp.fetch_next_cycles", cold.median, cold,
             "a line of straight code, first launch of a process, all SMs; %.1f when it runs again", warm.median);
    return 0;
}

/* Branches over so much code that nobody has fetched what they lead to: what the first pass takes more. */
static int measure_far(struct gt_bench *bench)
{
    uint64_t *cycles = (uint64_t *)bench->log, seen[MOST_SMS * PASSES];
    uint32_t masks = JUMP_ALL, sms = (uint32_t)bench->gpu.multiProcessorCount;
    void *arguments[] = { &masks, &cycles };
    double samples[MOST_SMS];
    if (gt_bench_run(bench, (const void *)gt_calibrate_far, sms, 1, arguments) != 0 ||
        gt_bench_bring(bench, seen, cycles, sms * PASSES * sizeof(*seen)) != 0)
        return -1;
    for (uint32_t i = 0; i < sms; i++)
        samples[i] = fmax(0, (double)seen[i * PASSES] - (double)seen[i * PASSES + 1]) / GT_CODE_FAR_JUMPS;
    struct gt_bench_summary summary = gt_summarise(samples, sms);
    gt_found(bench->found, "warp.fetch_cycles", summary.median, summary,
             "branches over %d instructions, first launch of a process, all SMs, beyond the second pass",
             GT_CODE_FAR_SKIPPED);
    return 0;
}

/* Cycles from one constant to the next, in a second pass over `constants` of them. */
static int constant_cycles(struct gt_bench *bench, uint32_t constants, struct gt_bench_summary *summary)
{
    enum { BLOCKS = 4, ROUNDS = 2, READINGS = BLOCKS * PASSES * CONSTANT_READINGS };
    uint32_t *to = (uint32_t *)bench->log, clocks[READINGS], mask = constants * GT_CODE_CONSTANT_WORDS - 1;
    void *arguments[] = { &to, &mask };
    double samples[BLOCKS * ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        if (gt_bench_run(bench, (const void *)gt_calibrate_constants, BLOCKS, WARP_THREADS, arguments) != 0 ||
            gt_bench_bring(bench, clocks, to, sizeof(clocks)) != 0)
            return -1;
        for (int i = 0; i < BLOCKS; i++)
            samples[round * BLOCKS + i] =
                span(clocks + i * PASSES * CONSTANT_READINGS, CONSTANT_READINGS, 1) / GT_CODE_CONSTANTS;
    }
    *summary = gt_summarise(samples, BLOCKS * ROUNDS);
    return 0;
}

/* More constants than the first cache holds: each waits for the next cache. */
static int measure_constants(struct gt_bench *bench)
{
    struct gt_bench_summary few, many;
    GT_TRY(gt_calibrate_fill_constants());
    if (constant_cycles(bench, FEW_CONSTANTS, &few) != 0 || constant_cycles(bench, GT_CODE_CONSTANTS, &many) != 0)
        return -1;
    struct gt_bench_summary more = gt_summary_less(many, few.median);
    gt_found(bench->found, "warp.constant_miss_cycles", more.median, more,
             "constants of 16 KiB that wait for each other, %.0f cycles each, less %.0f of 1 KiB", many.median,
             few.median);
    return 0;
}

int gt_calibrate_code(struct gt_bench *bench)
{
    return measure_lines(bench) != 0 || measure_far(bench) != 0 || measure_constants(bench) != 0 ? -1 : 0;
}
