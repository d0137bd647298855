/* policies.c - whose block is next, and on which SM: a filling kernel, and one behind it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "validate/calibrate/groups.h"

enum { ROUNDS = 5, WAVES = 4, LEVELS_MOST = 32 };
static const double wave_us = 150;

/* A kernel of some waves that leaves no SM to one like it, and one launched behind it. */
struct pair {
    struct gt_bench_spin filling, behind;
    cudaStream_t filling_stream, behind_stream;
};

static int play(struct gt_bench *bench, const struct pair *pair)
{
    if (gt_bench_launch(bench, &pair->filling, 0, pair->filling_stream) != 0)
        return -1;
    gt_bench_idle_us(20);
    if (gt_bench_launch(bench, &pair->behind, pair->filling.blocks, pair->behind_stream) != 0)
        return -1;
    return gt_bench_read(bench, pair->filling.blocks + pair->behind.blocks);
}

/* When the last of the filling kernel's blocks started. */
static uint64_t last_start_ns(const struct gt_bench *bench, uint32_t blocks)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < blocks; i++)
        if (bench->blocks[i].start_ns > last)
            last = bench->blocks[i].start_ns;
    return last;
}

/* Whether the kernel behind got its first block while the filling one still had blocks to hand out. */
static bool passed(const struct gt_bench *bench, const struct pair *pair)
{
    struct gt_stay behind = gt_bench_span(bench, pair->filling.blocks, pair->behind.blocks);
    return behind.start_ns + (uint64_t)(wave_us * 500) < last_start_ns(bench, pair->filling.blocks);
}

static int measure_arbitration(struct gt_bench *bench)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    const struct pair pair = {
        { sms * WAVES, 32, gt_bench_one_block_bytes(bench), 0, wave_us, 0, 0 },
        { sms, 32, 0, 0, 20, 0, 0 },
        bench->streams[0],
        bench->streams[1],
    };
    int early = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (play(bench, &pair) != 0)
            return -1;
        early += passed(bench, &pair);
    }
    if (early == 0 || early == ROUNDS)
        gt_found_text(bench->found, "scheduling.arbitration", early == 0 ? "leftover" : "backfill",
                      "blocks that had room began %s a kernel of %d waves had handed out its last, %d of %d",
                      early == 0 ? "only after" : "before", WAVES, ROUNDS, ROUNDS);
    else
        gt_not_found(bench->found, "scheduling.arbitration", "a later kernel passed in %d of %d rounds", early,
                     ROUNDS);
    return 0;
}

/* Half of the SMs are filled in part; most-room gives the next kernel's blocks to the other half. */
static int measure_placement(struct gt_bench *bench)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount, half = sms / 2, on_free = 0, all = 0;
    bool *taken = gt_calloc(GT_DEVICE_MAX_SMS, sizeof(*taken));
    const struct pair pair = {
        { half, (uint32_t)bench->gpu.maxThreadsPerBlock, 0, 0, wave_us, 0, 0 },
        { sms - half, 64, 0, 0, wave_us, 0, 0 },
        bench->streams[0],
        bench->streams[1],
    };
    int status = 0;
    for (int round = 0; status == 0 && round < ROUNDS; round++) {
        status = play(bench, &pair);
        for (uint32_t sm = 0; sm < GT_DEVICE_MAX_SMS; sm++)
            taken[sm] = false;
        for (uint32_t i = 0; status == 0 && i < half; i++)
            taken[bench->blocks[i].sm % GT_DEVICE_MAX_SMS] = true;
        for (uint32_t i = half; status == 0 && i < sms; i++, all++)
            on_free += !taken[bench->blocks[i].sm % GT_DEVICE_MAX_SMS];
    }
    free(taken);
    if (status != 0)
        return -1;
    if (on_free >= all - all / 20)
        gt_found_text(bench->found, "scheduling.placement", "most-room",
                      "half of the SMs partly taken, %u of the next kernel's %u blocks went to the others", on_free,
                      all);
    else
        gt_not_found(bench->found, "scheduling.placement", "only %u of %u blocks went to the SMs with more room",
                     on_free, all);
    return 0;
}

/* Whether a kernel of priority `upper` passes one of priority `lower` that was there first. */
static int differs(struct gt_bench *bench, int lower, int upper, bool *differ)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    struct pair pair = {
        { sms * WAVES, 32, gt_bench_one_block_bytes(bench), 0, wave_us, 0, 0 },
        { sms, 32, gt_bench_one_block_bytes(bench), 0, 20, 0, 0 },
        NULL,
        NULL,
    };
    int early = 0, status = 0;
    GT_TRY(cudaStreamCreateWithPriority(&pair.filling_stream, cudaStreamNonBlocking, lower));
    GT_TRY(cudaStreamCreateWithPriority(&pair.behind_stream, cudaStreamNonBlocking, upper));
    for (int round = 0; status == 0 && round < ROUNDS; round++) {
        status = play(bench, &pair);
        early += status == 0 && passed(bench, &pair);
    }
    GT_TRY(cudaStreamDestroy(pair.filling_stream));
    GT_TRY(cudaStreamDestroy(pair.behind_stream));
    *differ = early > ROUNDS / 2;
    return status;
}

static int measure_priorities(struct gt_bench *bench)
{
    int least, greatest, distinct = 1;
    bool differ;
    GT_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    for (int level = least; level > greatest && level > least - LEVELS_MOST; level--) {
        if (differs(bench, level, level - 1, &differ) != 0)
            return -1;
        distinct += differ;
    }
    if (differs(bench, least, least, &differ) != 0)
        return -1;
    char text[16];
    snprintf(text, sizeof(text), "%d", greatest);
    gt_found_text(bench->found, "scheduling.priority_high", text,
                  "range %d to %d, %d levels that pass the one below in %d rounds each%s", least, greatest, distinct,
                  ROUNDS, differ ? "; yet equal levels passed too" : "");
    return 0;
}

int gt_calibrate_policies(struct gt_bench *bench)
{
    return measure_arbitration(bench) != 0 || measure_placement(bench) != 0 || measure_priorities(bench) != 0 ? -1
                                                                                                              : 0;
}
