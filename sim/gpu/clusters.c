#include "sim/gpu/clusters.h"

uint32_t gt_cluster_gpc(const struct gt_placement_view *view)
{
    const struct gt_gpu_state *gpu = view->gpu;
    uint32_t room[GT_DEVICE_MAX_GPCS] = { 0 }, most = 0, found = GT_NONE;

    for (gt_sm_index sm = 0; sm < view->device->sms; sm++)
        room[gpu->gpc[sm]] += gpu->sms[sm].free_blocks;
    for (gt_sm_rank rank = 0; rank < view->device->sms; rank++) {
        uint32_t gpc = gpu->gpc[gpu->order[rank]];

        if (room[gpc] > most && room[gpc] >= view->grid->occupancy.cluster_blocks) {
            most = room[gpc];
            found = gpc;
        }
    }
    return found;
}

gt_sm_index gt_cluster_sm(const struct gt_placement_view *view, uint32_t gpc)
{
    const struct gt_gpu_state *gpu = view->gpu;
    gt_sm_index found = GT_NONE;

    for (gt_sm_rank rank = 0; rank < view->device->sms; rank++) {
        gt_sm_index sm = gpu->order[rank];

        if (gpu->gpc[sm] == gpc && gpu->sms[sm].free_blocks > 0 &&
            (found == GT_NONE || gpu->sms[sm].free_blocks > gpu->sms[found].free_blocks))
            found = sm;
    }
    return found;
}
