/* stats_tables.h - a run's statistics as tables to print. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_TABLES_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_TABLES_H

#include "sim/cmd/print/table.h"
#include "traces/explain/loaded_run.h"
#include "traces/stats/stats.h"

enum { GT_STATS_TABLES_MAX = 24 };

/* `run`: the same run, or the same part of it.  Fill `tables` (room for GT_STATS_TABLES_MAX; the caller frees each) in the order they are
 * shown. People get the longest and the least of what is many, programs everything but the
 * path's shortest segments. Returns how many; -1 where the path cannot be read back. */
int gt_stats_tables(struct gt_stats *stats, const struct gt_loaded_run *run, enum gt_format format,
                    struct gt_table **tables, struct gt_error *error);

#endif
