#include "sim/gpu/clusters.h"

#include <string.h>

/* Room on the GPCs, by how many more blocks of the kernel its places have room for: SMs, or TPCs of two. */
struct room {
    const struct gt_placement_view *view;
    bool pairs;
    uint16_t places[GT_DEVICE_MAX_GPCS][GT_DEVICE_MAX_BLOCKS_PER_SM + 1];
};

/* The place that begins at this SM: how many blocks fit each of its SMs; 0: there is none. */
static uint32_t level_of(const struct room *room, gt_sm_index sm)
{
    const struct gt_gpu_state *gpu = room->view->gpu;
    uint32_t here = gpu->sms[sm].free_blocks, there;

    if (!room->pairs)
        return here;
    if (sm % 2 != 0 || sm + 1 >= room->view->device->sms || gpu->gpc[sm] != gpu->gpc[sm + 1])
        return 0;
    there = gpu->sms[sm + 1].free_blocks;
    return here < there ? here : there;
}

/* Places that a cluster takes. */
static uint32_t places_of(const struct room *room)
{
    uint32_t blocks = room->view->grid->occupancy.cluster_blocks;

    return room->pairs ? (blocks + 1) / 2 : blocks;
}

/* How much room the last of the best places for a cluster has; 0 where there are too few places. */
static uint32_t room_on(const struct room *room, uint32_t gpc)
{
    uint32_t left = places_of(room);

    for (uint32_t level = GT_DEVICE_MAX_BLOCKS_PER_SM; level > 0; level--) {
        if (room->places[gpc][level] >= left)
            return level;
        left -= room->places[gpc][level];
    }
    return 0;
}

static uint32_t choose_gpc(const struct room *room, uint32_t last, uint32_t *most)
{
    uint32_t gpcs = room->view->device->gpcs > 0 ? room->view->device->gpcs : 1, found = GT_NONE;

    *most = 0;
    for (uint32_t i = 1; i <= gpcs; i++) {
        uint32_t gpc = (last + i) % gpcs, level = room_on(room, gpc);

        if (level > *most) {
            *most = level;
            found = gpc;
        }
    }
    return found;
}

/* The GPC's places with the most room, by number; `least` is that of the last of them. */
static void take_sms(const struct room *room, uint32_t gpc, uint32_t least, gt_sm_index *sms)
{
    uint32_t blocks = room->view->grid->occupancy.cluster_blocks, taken = 0, better = 0, equal;

    for (uint32_t level = least + 1; level <= GT_DEVICE_MAX_BLOCKS_PER_SM; level++)
        better += room->places[gpc][level];
    equal = places_of(room) - better;
    for (gt_sm_index sm = 0; sm < room->view->device->sms && taken < blocks; sm++) {
        uint32_t level = room->view->gpu->gpc[sm] == gpc ? level_of(room, sm) : 0;

        if (level < least || level == 0 || (level == least && equal == 0))
            continue;
        equal -= level == least;
        sms[taken++] = sm;
        if (room->pairs && taken < blocks)
            sms[taken++] = sm + 1;
    }
}

uint32_t gt_cluster_place(const struct gt_placement_view *view, uint32_t last, gt_sm_index *sms)
{
    struct room room = { .view = view, .pairs = view->grid->occupancy.blocks_per_sm > 1 };
    uint32_t gpc, least;

    for (gt_sm_index sm = 0; sm < view->device->sms; sm++)
        room.places[view->gpu->gpc[sm]][level_of(&room, sm)]++;
    gpc = choose_gpc(&room, last, &least);
    if (gpc != GT_NONE)
        take_sms(&room, gpc, least, sms);
    return gpc;
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
