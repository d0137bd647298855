#include "traces/diff/side.h"

static int load(struct gt_database *database, int64_t run_id, struct gt_diff_side *side, struct gt_error *error)
{
    side->stats = gt_stats_compute(database, run_id, NULL, error);
    if (side->stats == NULL)
        return -1;
    side->run = gt_loaded_run_load(database, run_id, error);
    if (side->run == NULL)
        return -1;
    return side->run->simulated ? gt_limits_of(side->run, side->stats, side->stats, &side->limits, error) : 0;
}

int gt_diff_side_load(struct gt_database *database, const char *kind, struct gt_diff_side *side,
                      struct gt_error *error)
{
    int64_t run_id;

    *side = (struct gt_diff_side){ .run = NULL };
    run_id = gt_stats_find_run(database, kind, error);
    if (run_id < 0)
        return -1;
    return load(database, run_id, side, error) == 0 ? 0 : gt_database_name_error(database, error);
}

void gt_diff_side_free(struct gt_diff_side *side)
{
    gt_loaded_run_free(side->run);
    gt_stats_free(side->stats);
    gt_limits_free(&side->limits);
}
