/* stats_workers.h - workers of a persistent kernel, simulated and recorded side by side. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_WORKERS_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_WORKERS_H

#include "sim/cmd/print/table.h"
#include "traces/store/database.h"

/* A table of the workers of the run's first kernel with tasks beside those of the recording at `path`
 * (traces/tasks/slices.h), by number; the caller frees it.  NULL with the reason. */
struct gt_table *gt_stats_workers_table(struct gt_database *database, int64_t run_id, const char *path,
                                        struct gt_error *error);

#endif
