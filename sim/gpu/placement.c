/* Placement: which SM gets the next block. */
#include "sim/gpu/placement.h"

#include <stdlib.h>

/* Gilman et al. 2020, and seen on H200: the SM that could host the most additional blocks of this
 * kernel, ties by the device's order. */
static gt_sm_index most_room(void *state, const struct gt_placement_view *view)
{
    const struct gt_gpu_state *gpu = view->gpu;
    const uint64_t *set = gpu->free_block_sets[gpu->free_blocks_most];

    (void)state;
    if (gpu->free_blocks_most == 0)
        return GT_NONE;
    for (uint32_t word = 0; word * 64 < view->device->sms; word++)
        if (set[word] != 0)
            return gpu->order[word * 64 + (uint32_t)__builtin_ctzll(set[word])];
    return GT_NONE;
}

/* The first SM that has room, from `rank` on; returns its rank, or the number of SMs. */
static gt_sm_rank with_room(const struct gt_placement_view *view, gt_sm_rank rank)
{
    while (rank < view->device->sms && view->gpu->sms[view->gpu->order[rank]].free_blocks == 0)
        rank++;
    return rank;
}

/* The first SM in the device's order that has room: fills one before it turns to the next. */
static gt_sm_index first_fit(void *state, const struct gt_placement_view *view)
{
    gt_sm_rank rank = with_room(view, 0);

    (void)state;
    return rank < view->device->sms ? view->gpu->order[rank] : GT_NONE;
}

/* Round-robin's state: the rank after that of the SM served last. */
static void *new_rank(const struct gt_device *device, const double *parameters)
{
    (void)device;
    (void)parameters;
    return gt_calloc(1, sizeof(gt_sm_rank));
}

static uint64_t rank_position(const void *state)
{
    return *(const gt_sm_rank *)state;
}

/* The next SM after the one served last: what textbooks draw. */
static gt_sm_index round_robin(void *state, const struct gt_placement_view *view)
{
    gt_sm_rank *next = state, rank = with_room(view, *next);

    if (rank == view->device->sms)
        rank = with_room(view, 0);
    if (rank == view->device->sms)
        return GT_NONE;
    *next = (rank + 1) % view->device->sms;
    return view->gpu->order[rank];
}

/* clang-format off */
static const struct gt_placement_policy policies[] = {
    { .named = { .name = "most-room",
                 .help = "the SM with room for the most blocks of the kernel, ties in the device's order" },
      .pick = most_room, .in_rounds = true },
    { .named = { .name = "first-fit", .help = "the first SM in the device's order that has room" },
      .pick = first_fit },
    { .named = { .name = "round-robin", .help = "the next SM after the one served last" },
      .create = new_rank, .free = free, .pick = round_robin, .position = rank_position },
};
/* clang-format on */

const struct gt_placement_policy *gt_placement_find(const char *text, const struct gt_placement_policy *more,
                                                    double *parameters, struct gt_error *error)
{
    static const char key[] = "scheduling.placement";
    const struct gt_placement_policy *found = more;

    if (more == NULL || !gt_named_is(&more->named, text))
        found = gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0], key, text, error);
    if (found == NULL || gt_named_parameters(&found->named, key, text, parameters, error) != 0)
        return NULL;
    return found;
}
