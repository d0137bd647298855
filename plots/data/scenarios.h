/* scenarios.h - the runs of a store that are changes of one run: how long each takes. */
#ifndef GRIDTIDE_PLOTS_DATA_SCENARIOS_H
#define GRIDTIDE_PLOTS_DATA_SCENARIOS_H

#include <stdint.h>

#include "traces/store/database.h"

struct gt_scenario_row {
    char *change; /* as it was asked for */
    int64_t run_id;
    double time_ps; /* from the first call or operation to the last end */
    double step_ps; /* of a step; NAN where the store does not say */
    char *trust, *bound_by;
    char **assumptions;
    uint32_t assumption_count, assumption_room;
};

struct gt_scenarios {
    struct gt_scenario_row *rows; /* the fastest first; of equal ones the older */
    size_t count, room;
    double before_ps; /* the same time of the run without a change */
};

/* The changes of run `before` that `gridtide whatif -o` kept: none of other runs.  Returns 0 or -1; free in either
 * case. */
int gt_scenarios_load(struct gt_scenarios *scenarios, struct gt_database *database, int64_t before,
                      struct gt_error *error);
void gt_scenarios_free(struct gt_scenarios *scenarios);

/* What `gridtide whatif` was asked for, of a run's options; NULL: another command made the run. */
const char *gt_scenario_change(const char *options);

#endif
