/* place.c - the order in which SMs are given blocks, and the GPCs they belong to. */
#include <stdio.h>
#include <stdlib.h>

#include "validate/calibrate/groups.h"

enum { REPEATS = 5, CLUSTER_ROUNDS = 4 };

/* Numbers joined by commas, as a device file has them. */
static char *list_text(const uint32_t *numbers, size_t count)
{
    char *text = gt_calloc(count + 1, 12), *at = text;
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s%u", i > 0 ? "," : "", numbers[i]);
    return text;
}

static void state_order(struct gt_bench *bench, const uint32_t *seen, size_t sms)
{
    uint32_t *order = gt_calloc(sms, sizeof(*order));
    size_t alike;
    if (gt_find_order(seen, REPEATS, sms, order, &alike) != 0) {
        gt_not_found(bench->found, "chip.sm_order", "blocks that leave no room did not go to an SM each");
    } else {
        char *text = list_text(order, sms);
        gt_found_text(bench->found, "chip.sm_order", text,
                      "grids of 1 to %zu blocks, one an SM: %zu of %zu launches took the first of these", sms, alike,
                      REPEATS * sms);
        free(text);
    }
    free(order);
}

/* Grids of 1, 2, ... blocks on an idle GPU, each block on an SM of its own: which SMs they take. */
static int measure_order(struct gt_bench *bench)
{
    size_t sms = (size_t)bench->gpu.multiProcessorCount, count = 0;
    uint32_t *seen = gt_calloc(REPEATS * sms * (sms + 1) / 2, sizeof(*seen));
    struct gt_bench_spin spin = { 0, 32, gt_bench_one_block_bytes(bench), 0, 10, 0, 0 };
    int status = 0;
    for (spin.blocks = 1; spin.blocks <= sms; spin.blocks++)
        for (int r = 0; status == 0 && r < REPEATS; r++) {
            status = gt_bench_launch(bench, &spin, 0, bench->streams[0]);
            if (status == 0)
                status = gt_bench_read(bench, spin.blocks);
            for (uint32_t i = 0; status == 0 && i < spin.blocks; i++)
                seen[count++] = bench->blocks[i].sm;
        }
    if (status == 0)
        state_order(bench, seen, sms);
    free(seen);
    return status;
}

/* Pairs of SMs that held blocks of one cluster. */
struct pairs {
    uint32_t (*of)[2];
    size_t count;
};

static int add_clusters(struct gt_bench *bench, uint32_t size, struct pairs *pairs)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount, blocks = sms / size * size;
    const struct gt_bench_spin spin = { blocks, 32, gt_bench_one_block_bytes(bench), size, 20, 0, 0 };
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, blocks) != 0)
        return -1;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t leader = bench->blocks[i / size * size].sm, sm = bench->blocks[i].sm;
        if (sm == leader || sm >= sms || leader >= sms)
            continue;
        pairs->of[pairs->count][0] = leader;
        pairs->of[pairs->count++][1] = sm;
    }
    return 0;
}

static void state_gpcs(struct gt_bench *bench, const struct pairs *pairs)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    uint32_t *sizes = gt_calloc(sms, sizeof(*sizes));
    size_t alone, sets = gt_find_sets(pairs->of, pairs->count, sms, sizes, &alone);
    if (alone > 0 || sets == 0 || sets > 32) {
        gt_not_found(bench->found, "chip.gpc_sms", "%zu sets of SMs share clusters, %zu SMs share none", sets, alone);
    } else {
        char *text = list_text(sizes, sets);
        gt_found_text(bench->found, "chip.gpc_sms", text, "SMs that held blocks of one cluster are of one GPC");
        free(text);
    }
    free(sizes);
}

static int measure_gpcs(struct gt_bench *bench)
{
    /* Of many sizes, so that their clusters overlap; up to 8 are allowed on any GPU that has clusters. */
    enum { SIZES = 7 };
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount;
    struct pairs pairs = { gt_calloc((size_t)SIZES * CLUSTER_ROUNDS * sms, sizeof(*pairs.of)), 0 };
    int status = 0;
    if (bench->gpu.major < 9) {
        gt_not_found(bench->found, "chip.gpc_sms", "compute capability below 9.0 has no clusters to tell it by");
    } else {
        for (int i = 0; status == 0 && i < SIZES * CLUSTER_ROUNDS; i++)
            status = add_clusters(bench, 2 + (uint32_t)i % SIZES, &pairs);
        if (status == 0)
            state_gpcs(bench, &pairs);
    }
    free(pairs.of);
    return status;
}

int gt_calibrate_structure(struct gt_bench *bench)
{
    return measure_order(bench) != 0 || measure_gpcs(bench) != 0 ? -1 : 0;
}
