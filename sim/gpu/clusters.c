#include "sim/gpu/clusters.h"

#include <string.h>

/* Room on the GPCs, by how many more blocks of the kernel its places have room for: SMs, or TPCs of two.  It is kept
 * from one cluster to the next, between which few SMs change. */
struct gt_cluster_room {
    bool pairs;
    uint32_t needed; /* places that a cluster takes */
    uint32_t gpcs;
    uint64_t sms[GT_DEVICE_MAX_GPCS][GT_FREE_BLOCK_WORDS]; /* of each GPC, by number */
    uint8_t levels[GT_DEVICE_MAX_SMS]; /* of the place that begins at an SM: how many blocks fit each of its SMs */
    uint16_t places[GT_DEVICE_MAX_GPCS][GT_DEVICE_MAX_BLOCKS_PER_SM + 1];
    uint32_t least[GT_DEVICE_MAX_GPCS]; /* of the places that a cluster would take; 0 where there are too few */
};

static struct gt_cluster_room *new_room(const struct gt_device *device, const struct gt_gpu_state *gpu)
{
    struct gt_cluster_room *room = gt_calloc(1, sizeof *room);

    room->gpcs = device->gpcs > 0 ? device->gpcs : 1;
    for (gt_sm_index sm = 0; sm < device->sms; sm++)
        room->sms[gpu->gpc[sm]][sm / 64] |= UINT64_C(1) << sm % 64;
    return room;
}

/* 0 where no place begins, or has room. */
static uint32_t level_of(const struct gt_cluster_room *room, const struct gt_device *device,
                         const struct gt_gpu_state *gpu, gt_sm_index sm)
{
    uint32_t here = gpu->sms[sm].free_blocks, there;

    if (!room->pairs)
        return here;
    if (sm % 2 != 0 || sm + 1 >= device->sms || gpu->gpc[sm] != gpu->gpc[sm + 1])
        return 0;
    there = gpu->sms[sm + 1].free_blocks;
    return here < there ? here : there;
}

/* How much room the last of the best places for a cluster has; 0 where there are too few places. */
static uint32_t least_of(const struct gt_cluster_room *room, const struct gt_gpu_state *gpu, uint32_t gpc)
{
    uint32_t left = room->needed;

    for (uint32_t level = gpu->free_blocks_most; level > 0; level--) {
        if (room->places[gpc][level] >= left)
            return level;
        left -= room->places[gpc][level];
    }
    return 0;
}

/* All anew, for clusters that take so many places. */
static void find_room(struct gt_cluster_room *room, const struct gt_device *device, struct gt_gpu_state *gpu,
                      bool pairs, uint32_t needed)
{
    room->pairs = pairs;
    room->needed = needed;
    memset(room->places, 0, sizeof room->places);
    for (gt_sm_index sm = 0; sm < device->sms; sm++) {
        room->levels[sm] = (uint8_t)level_of(room, device, gpu, sm);
        room->places[gpu->gpc[sm]][room->levels[sm]]++;
    }
    for (uint32_t gpc = 0; gpc < room->gpcs; gpc++)
        room->least[gpc] = least_of(room, gpu, gpc);
    memset(gpu->room_changed, 0, sizeof gpu->room_changed);
    gpu->room_unknown = false;
}

/* Where SMs have more or less room than last time; returns the GPCs of those, by bit. */
static uint32_t renew_places(struct gt_cluster_room *room, const struct gt_device *device, struct gt_gpu_state *gpu)
{
    uint32_t gpcs = 0;

    for (uint32_t word = 0; word * 64 < device->sms; word++) {
        for (; gpu->room_changed[word] != 0; gpu->room_changed[word] &= gpu->room_changed[word] - 1) {
            gt_sm_index sm = word * 64 + (uint32_t)__builtin_ctzll(gpu->room_changed[word]);
            gt_sm_index place = room->pairs ? sm & ~1U : sm;
            uint32_t level = level_of(room, device, gpu, place), gpc = gpu->gpc[place];

            room->places[gpc][room->levels[place]]--;
            room->places[gpc][level]++;
            room->levels[place] = (uint8_t)level;
            gpcs |= UINT32_C(1) << gpc;
        }
    }
    return gpcs;
}

static void renew_room(struct gt_cluster_room *room, const struct gt_device *device, struct gt_gpu_state *gpu,
                       const struct gt_occupancy *occupancy)
{
    bool pairs = occupancy->blocks_per_sm > 1;
    uint32_t needed = pairs ? (occupancy->cluster_blocks + 1) / 2 : occupancy->cluster_blocks;

    if (gpu->room_unknown || room->pairs != pairs || room->needed != needed) {
        find_room(room, device, gpu, pairs, needed);
        return;
    }
    for (uint32_t gpcs = renew_places(room, device, gpu); gpcs != 0; gpcs &= gpcs - 1) {
        uint32_t gpc = (uint32_t)__builtin_ctz(gpcs);

        room->least[gpc] = least_of(room, gpu, gpc);
    }
}

/* The next one in turn behind the last of those with the most room. */
static uint32_t choose_gpc(const struct gt_cluster_room *room, uint32_t last)
{
    uint32_t found = GT_NONE, most = 0;

    for (uint32_t i = 1; i <= room->gpcs; i++) {
        uint32_t gpc = last + i < room->gpcs ? last + i : last + i - room->gpcs;

        if (room->least[gpc] > most) {
            most = room->least[gpc];
            found = gpc;
        }
    }
    return found;
}

/* The GPC's places with the most room, by number. */
static void take_sms(const struct gt_cluster_room *room, uint32_t gpc, uint32_t blocks, gt_sm_index *sms)
{
    uint32_t least = room->least[gpc], taken = 0, equal = room->needed;

    for (uint32_t level = least + 1; level <= GT_DEVICE_MAX_BLOCKS_PER_SM; level++)
        equal -= room->places[gpc][level];
    for (uint32_t word = 0; taken < blocks; word++) {
        for (uint64_t left = room->sms[gpc][word]; left != 0 && taken < blocks; left &= left - 1) {
            gt_sm_index sm = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint32_t level = room->levels[sm];

            if (level < least || (level == least && equal == 0))
                continue;
            equal -= level == least;
            sms[taken++] = sm;
            if (room->pairs && taken < blocks)
                sms[taken++] = sm + 1;
        }
    }
}

bool gt_cluster_place(const struct gt_device *device, struct gt_gpu_state *gpu, const struct gt_occupancy *occupancy)
{
    uint32_t gpc;

    if (gpu->cluster_room == NULL) {
        gpu->cluster_room = new_room(device, gpu);
        gpu->room_unknown = true;
    }
    renew_room(gpu->cluster_room, device, gpu, occupancy);
    gpc = choose_gpc(gpu->cluster_room, gpu->cluster_gpc);
    if (gpc == GT_NONE)
        return false;
    take_sms(gpu->cluster_room, gpc, occupancy->cluster_blocks, gpu->cluster_sms);
    gpu->cluster_gpc = gpc;
    return true;
}

gt_sm_index gt_cluster_pass(const struct gt_placement_view *view, uint32_t blocks)
{
    const struct gt_gpu_state *gpu = view->gpu;
    gt_sm_index found = GT_NONE;

    for (gt_sm_rank rank = 0; rank < view->device->sms && view->device->gpcs > 0; rank++) {
        gt_sm_index sm = gpu->order[rank];
        uint32_t room = gpu->sms[sm].free_blocks;

        if (view->device->gpc_sms[gpu->gpc[sm]] < blocks &&
            room > (found == GT_NONE ? 0 : gpu->sms[found].free_blocks))
            found = sm;
    }
    return found;
}
