/* stats_tasks.h - a run's tasks as tables to print. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_TASKS_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_TASKS_H

#include "sim/cmd/print/table.h"
#include "traces/stats/stats.h"

/* All tasks in one row; their kinds, most time first. */
struct gt_table *gt_stats_tasks_table(const struct gt_stats *stats);
struct gt_table *gt_stats_task_kinds_table(const struct gt_stats *stats, size_t most);
/* All polls in one row: what their threads did meanwhile. */
struct gt_table *gt_stats_polls_table(const struct gt_stats *stats);

#endif
