/* side.h - one of two runs that are held against each other: loaded, with its statistics. */
#ifndef GRIDTIDE_TRACES_DIFF_SIDE_H
#define GRIDTIDE_TRACES_DIFF_SIDE_H

#include "traces/explain/limits.h"

struct gt_diff_side {
    struct gt_loaded_run *run;
    struct gt_stats *stats;
    struct gt_limits limits; /* of simulated runs; nothing of measured ones */
};

/* The newest whole run of that kind ("simulated", "measured").  Returns 0; -1 with the reason, which names the store.
 * Either way gt_diff_side_free() ends what it filled. */
int gt_diff_side_load(struct gt_database *database, const char *kind, struct gt_diff_side *side,
                      struct gt_error *error);
void gt_diff_side_free(struct gt_diff_side *side);

#endif
