/* Arbitration: whose block is next. Grids stand in lists by priority level, in order of arrival. */
#include "sim/gpu/arbitration.h"

/* The head of the most urgent level from `level` on. */
static gt_grid_index first_from(const struct gt_gpu_state *gpu, uint32_t level)
{
    uint64_t levels = level < GT_LEVELS ? gpu->levels_used & ~UINT64_C(0) << level : 0;

    return levels == 0 ? GT_NONE : gpu->level_head[__builtin_ctzll(levels)];
}

/* The next grid of the level that is not of clusters. */
static gt_grid_index past_clusters(const struct gt_arbitration_view *view, gt_grid_index grid)
{
    do
        grid = view->grids[grid].next;
    while (grid != GT_NONE && view->grids[grid].occupancy.cluster_blocks > 1);
    return grid;
}

static gt_grid_index following(const struct gt_arbitration_view *view, gt_grid_index grid)
{
    const struct gt_grid *g = &view->grids[grid];

    return g->next != GT_NONE ? g->next : first_from(view->gpu, g->level + 1);
}

/* Seen on H200: processes that are limited to part of the SMs do not hold each other back.  The next grid that is the first of
 * its partition: the first one of each partition before it had no room. */
static gt_grid_index past_partitions(const struct gt_arbitration_view *view, gt_grid_index tried)
{
    gt_grid_index grid = following(view, tried), before = GT_NONE;

    for (; grid != GT_NONE; grid = following(view, grid)) {
        before = first_from(view->gpu, 0);
        while (before != grid &&
               view->grids[before].occupancy.need.partition != view->grids[grid].occupancy.need.partition)
            before = following(view, before);
        if (before == grid)
            break;
    }
    return grid;
}

/* Rules X1 and A2 of Amert et al., RTSS'17, and seen on H200: only the head grid of the most urgent
 * level hands out blocks; one that does not fit holds back all behind it.  Also seen on H200: clusters that wait for a
 * GPC let single blocks pass, to GPCs that are too small for them (sim/gpu/clusters.h). */
static gt_grid_index leftover(void *state, const struct gt_arbitration_view *view, gt_grid_index tried)
{
    (void)state;
    if (tried == GT_NONE)
        return first_from(view->gpu, 0);
    if (view->partitions)
        return past_partitions(view, tried);
    return view->grids[tried].occupancy.cluster_blocks > 1 ? past_clusters(view, tried) : GT_NONE;
}

/* What-if: later grids may fill the room that the ones before them cannot use. */
static gt_grid_index backfill(void *state, const struct gt_arbitration_view *view, gt_grid_index tried)
{
    (void)state;
    if (tried == GT_NONE)
        return first_from(view->gpu, 0);
    if (view->grids[tried].next != GT_NONE)
        return view->grids[tried].next;
    return first_from(view->gpu, view->grids[tried].level + 1);
}

static const struct gt_arbitration_policy policies[] = {
    { .named = { .name = "leftover", .help = "all blocks of the head grid leave before a later grid's may" },
      .next = leftover },
    { .named = { .name = "backfill", .help = "later grids fill room that the grids before them cannot use" },
      .next = backfill },
};

const struct gt_arbitration_policy *gt_arbitration_find(const char *text, const struct gt_arbitration_policy *more,
                                                        double *parameters, struct gt_error *error)
{
    static const char key[] = "scheduling.arbitration";
    const struct gt_arbitration_policy *found = more;

    if (more == NULL || !gt_named_is(&more->named, text))
        found = gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0], key, text, error);
    if (found == NULL || gt_named_parameters(&found->named, key, text, parameters, error) != 0)
        return NULL;
    return found;
}
