/* stats_ranges.h - a run's steps and operators as tables to print. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_RANGES_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_RANGES_H

#include "sim/cmd/print/table.h"
#include "traces/stats/stats.h"

/* The first `most` steps, in order: all about them, for programs, or in two tables, narrow enough to read. */
enum gt_step_part { GT_STEP_ALL, GT_STEP_HOST, GT_STEP_GPU };
struct gt_table *gt_stats_steps_table(const struct gt_stats *stats, enum gt_step_part part, size_t most);
/* The `most` operators of most GPU time, then host time, of their own. */
struct gt_table *gt_stats_operators_table(const struct gt_stats *stats, size_t most);

#endif
