/* Thread block clusters: room on GPCs that is kept from cluster to cluster is what is there, and waves of clusters that
 * are passed over at once give what they give one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim/gpu/clusters.h"
#include "tests/unit/both_ways.h"

static uint64_t seed = 471106;

/* 0 .. below - 1 */
static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

/* GPCs of pairs of SMs, the last of an odd number at times; one at least has room for any cluster. */
static void draw_gpcs(struct gt_device *device)
{
    uint32_t gpcs = 1 + draw(7), at_most = 9;
    char text[200] = "", sms[20];
    struct gt_error error = { "" };
    uint32_t sum = 0;

    for (uint32_t i = 0; i < gpcs; i++) {
        uint32_t of_gpc = 2 * (i == 0 ? 8 + draw(3) : 1 + draw(at_most)) + (i + 1 == gpcs && draw(4) == 0);

        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i > 0 ? "," : "", of_gpc);
        sum += of_gpc;
    }
    snprintf(sms, sizeof sms, "%u", sum);
    if (gt_device_set(device, "chip.sms", sms, &error) != 0 ||
        gt_device_set(device, "chip.gpc_sms", text, &error) != 0)
        fail_msg("%s", error.text);
}

/* What clusters.h says, worked out from the SMs alone: how many blocks fit each SM of the place that begins here. */
static uint32_t room_at(const struct gt_device *device, const struct gt_gpu_state *gpu, bool pairs, gt_sm_index sm)
{
    uint32_t here = gpu->sms[sm].free_blocks;

    if (!pairs)
        return here;
    if (sm % 2 != 0 || sm + 1 == device->sms || gpu->gpc[sm] != gpu->gpc[sm + 1])
        return 0;
    return gpu->sms[sm + 1].free_blocks < here ? gpu->sms[sm + 1].free_blocks : here;
}

/* The SMs of the GPC with most room, by number, for a cluster; how much room the last one has, 0 where it does not fit. */
static uint32_t best_of(const struct gt_device *device, const struct gt_gpu_state *gpu,
                        const struct gt_occupancy *occupancy, uint32_t gpc, gt_sm_index *sms)
{
    bool pairs = occupancy->blocks_per_sm > 1;
    uint32_t needed = pairs ? (occupancy->cluster_blocks + 1) / 2 : occupancy->cluster_blocks, least = 0, taken = 0;
    bool chosen[GT_DEVICE_MAX_SMS] = { false };

    for (uint32_t i = 0; i < needed; i++) {
        gt_sm_index best = GT_NONE;

        for (gt_sm_index sm = 0; sm < device->sms; sm++)
            if (gpu->gpc[sm] == gpc && !chosen[sm] &&
                room_at(device, gpu, pairs, sm) > (best == GT_NONE ? 0 : room_at(device, gpu, pairs, best)))
                best = sm;
        if (best == GT_NONE)
            return 0;
        chosen[best] = true;
        least = room_at(device, gpu, pairs, best);
    }
    for (gt_sm_index sm = 0; sm < device->sms; sm++) {
        for (uint32_t i = 0; i < (pairs ? 2 : 1) && chosen[sm] && taken < occupancy->cluster_blocks; i++)
            sms[taken++] = sm + i;
    }
    return least;
}

static uint32_t place_slowly(const struct gt_device *device, const struct gt_gpu_state *gpu,
                             const struct gt_occupancy *occupancy, gt_sm_index *sms)
{
    uint32_t gpcs = device->gpcs, found = GT_NONE, most = 0;

    for (uint32_t i = 1; i <= gpcs; i++) {
        gt_sm_index here[GT_MOST_CLUSTER_BLOCKS];
        uint32_t gpc = (gpu->cluster_gpc + i) % gpcs, room = best_of(device, gpu, occupancy, gpc, here);

        if (room > most) {
            most = room;
            found = gpc;
            memcpy(sms, here, sizeof here);
        }
    }
    return found;
}

/* Blocks come and go, other shapes ask between: what gt_sm_... do to the sets. */
static void change_room(const struct gt_device *device, struct gt_gpu_state *gpu, uint32_t most)
{
    uint32_t changes = draw(6);

    gpu->room_unknown |= draw(20) == 0;
    for (uint32_t i = 0; i < (gpu->room_unknown ? device->sms : changes); i++) {
        gt_sm_index sm = gpu->room_unknown ? i : draw(device->sms);

        gpu->sms[sm].free_blocks = draw(most + 1);
        gpu->room_changed[sm / 64] |= gpu->room_unknown ? 0 : UINT64_C(1) << sm % 64;
    }
    gpu->free_blocks_most = most;
}

static void try_room(struct gt_device *device, struct gt_gpu_state *gpu)
{
    struct gt_occupancy occupancy = { .cluster_blocks = 2, .blocks_per_sm = 1 };

    for (int i = 0; i < 400; i++) {
        gt_sm_index sms[GT_MOST_CLUSTER_BLOCKS] = { 0 };
        uint32_t gpc;

        if (draw(10) == 0) {
            occupancy.cluster_blocks = 2 + draw(GT_MOST_CLUSTER_BLOCKS - 1);
            occupancy.blocks_per_sm = 1 + draw(4) * draw(4);
            gpu->room_unknown = true;
        }
        change_room(device, gpu, occupancy.blocks_per_sm);
        gpc = place_slowly(device, gpu, &occupancy, sms);
        assert_int_equal(gt_cluster_place(device, gpu, &occupancy), gpc != GT_NONE);
        if (gpc == GT_NONE)
            continue;
        assert_int_equal(gpu->cluster_gpc, gpc);
        assert_memory_equal(gpu->cluster_sms, sms, occupancy.cluster_blocks * sizeof *sms);
    }
}

static void room_kept_is_room_there(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct gt_gpu_state gpu = { .cluster_gpc = 0 };
        struct gt_device device;

        gt_device_init(&device);
        draw_gpcs(&device);
        gpu.sms = gt_calloc(device.sms, sizeof *gpu.sms);
        gpu.gpc = gt_calloc(device.sms, sizeof *gpu.gpc);
        gt_device_assign_gpcs(&device, gpu.gpc);
        try_room(&device, &gpu);
        free(gpu.cluster_room);
        free(gpu.gpc);
        free(gpu.sms);
    }
}

/* A device of the case: an H200, or one with other GPCs whose blocks start and leave as they like. */
static void draw_device(struct gt_device *device)
{
    static const char *const placements[] = { "most-room", "round-robin", "first-fit" };
    struct gt_error error = { "" };
    char ns[20];

    if (gt_device_load(draw(2) == 0 ? "h200" : "toy", device, &error) != 0)
        fail_msg("%s", error.text);
    if (device->gpcs == 0 || draw(3) == 0)
        draw_gpcs(device);
    snprintf(ns, sizeof ns, "%u", draw(3) * 35);
    if ((draw(2) == 0 && gt_device_set(device, "scheduling.retire_ns", ns, &error) != 0) ||
        (draw(4) == 0 && gt_device_set(device, "scheduling.arbitration", "backfill", &error) != 0) ||
        (draw(3) == 0 && gt_device_set(device, "scheduling.placement", placements[draw(3)], &error) != 0))
        fail_msg("%s", error.text);
}

static void append_kernels(char *text, size_t bytes, int kernels)
{
    static const char *const costs[] = { "\"block_us\":5", "\"block_us\":0.3", "\"block_us\":7.123",
                                         "\"duration_us\":2345.678", "\"block_us\":[0.5,4]" };
    static const uint32_t clusters[] = { 1, 60, 700, 7000 };

    for (int i = 0; i < kernels; i++) {
        uint32_t cluster = draw(4) == 0 ? 1 : 1 + draw(GT_MOST_CLUSTER_BLOCKS);
        uint32_t most = clusters[draw(4)];

        snprintf(text + strlen(text), bytes - strlen(text),
                 "{\"stream\":\"s%d\",\"priority\":-%u}\n"
                 "{\"kernel\":\"k%d\",\"grid\":%u,\"block\":%u,\"cluster\":%u,%s}\n",
                 i, draw(3), i, cluster * (1 + 2 * draw(most)), 32U << draw(6), cluster, costs[draw(draw(3) + 3)]);
    }
}

static void append_calls(char *text, size_t bytes, int kernels)
{
    for (int i = 0; i < 2 * kernels; i++) {
        snprintf(text + strlen(text), bytes - strlen(text),
                 "{\"call\":\"launch\",\"kernel\":\"k%u\",\"stream\":\"s%u\"}\n", draw((uint32_t)kernels),
                 draw((uint32_t)kernels));
        if (draw(3) == 0)
            snprintf(text + strlen(text), bytes - strlen(text), "{\"call\":\"host_work\",\"duration_us\":%u}\n",
                     1U << draw(10));
    }
}

/* One to four kernels beside each other and behind, most of them with clusters. CLUSTERS_SEED and CLUSTERS_CASES draw
 * others, and more. */
static void waves_of_clusters_are_the_same(void **state)
{
    const char *other = getenv("CLUSTERS_SEED"), *many = getenv("CLUSTERS_CASES");
    int cases = many != NULL ? atoi(many) : 150, passed_over = 0;

    (void)state;
    seed = other != NULL ? strtoull(other, NULL, 10) : seed;
    for (int i = 0; i < cases; i++) {
        char text[4000] = "{\"gridtide\":1}\n";
        int kernels = 1 + (int)draw(4);
        struct gt_device device;

        draw_device(&device);
        append_kernels(text, sizeof text, kernels);
        append_calls(text, sizeof text, kernels);
        passed_over += compare_on(text, &device) > 0;
    }
    print_message("# %d of %d with waves passed over\n", passed_over, cases);
    assert_true(passed_over > cases / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_kept_is_room_there),
        cmocka_unit_test(waves_of_clusters_are_the_same),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
